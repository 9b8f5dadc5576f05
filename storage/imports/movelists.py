"""Games as lists of moves, in CSV: for games that were noted down elsewhere.

The first line names the columns: `moves`, and of `x`, `o`, `opener`, `seed`, `outcome` and `id`
what there is. Squares count from 0, row by row from the top left, and stand as digits with anything
between that is no digit: `4 0 8`, `4-0-8`, `408`.

A player is somebody by a name; such games are shown, and are in no rate. An engine's spec as a name
needs the game's seed, since its moves are drawn anew.

Equal lines without an id are games of their own, and in a later import each is known by which of
them it is. Two engines play the same game again from the same seed: of such lines one counts.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from arena.board import Mark, play_out
from arena.errors import RulesError, SpecError
from arena.opponents import parse
from arena.players import Kind
from storage.datasets.facts import time
from storage.datasets.record import SCHEMA as GAMES
from storage.imports.check import Incoming, read_line
from storage.imports.troubles import LineError, Trouble
from storage.tables import Source

COLUMNS = ("moves", "x", "o", "opener", "seed", "outcome", "id")
_ENGINES = ("minimax", "random")
_UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""A list says nothing of when."""


class MoveListReader:
    """Reads the lines of one file; the first names the columns."""

    def __init__(self) -> None:
        self._columns: list[str] | None = None
        self._unknown: tuple[str, ...] = ()
        self._seen: Counter[str] = Counter()

    def __call__(self, line: bytes) -> list[Incoming]:
        """The game in a line; none in the first.

        Raises:
            LineError: there is none that may be believed.
        """
        fields = _fields(line)
        if self._columns is None:
            columns = [field.strip().lower() for field in fields]
            if "moves" not in columns:
                known = f"known are {', '.join(COLUMNS)}, with commas between them"
                raise LineError(Trouble.FOREIGN, f"the first line names no column moves: {known}")
            if len(set(columns)) < len(columns):
                raise LineError(Trouble.FORM, "the first line names a column twice")
            self._columns = columns
            self._unknown = tuple(name for name in columns if name not in COLUMNS)
            return []
        if len(fields) != len(self._columns):
            why = f"{len(fields)} fields, and the first line names {len(self._columns)}"
            raise LineError(Trouble.FORM, why)
        return [self._game(dict(zip(self._columns, map(str.strip, fields), strict=True)))]

    def _game(self, row: dict[str, str]) -> Incoming:
        moves = _moves(row["moves"])
        opener = _opener(row.get("opener") or "X")
        seed = _seed(row.get("seed", ""))
        players = {seat: _player(row.get(seat, ""), seed) for seat in ("x", "o")}
        try:
            board = [*play_out(moves, opener)][-1]
        except RulesError as error:
            raise LineError(Trouble.ILLEGAL, str(error)) from None
        if board.outcome is None:
            raise LineError(Trouble.CONTRADICTION, "the moves end before the game does")
        said = row.get("outcome", "").lower()
        if said and said != board.outcome:
            why = f"it claims {said!r:.20}, and the moves come to {board.outcome}"
            raise LineError(Trouble.CONTRADICTION, why)
        person = any(player["kind"] == Kind.HUMAN for player in players.values())
        own = row.get("id", "")
        known = json.dumps([own, players, opener, seed, moves], sort_keys=True)
        if not own:
            self._seen[known] += 1
            if (place := self._seen[known]) > 1:
                known = json.dumps([known, place])
        at = time(_UNDATED)
        game: dict[str, object] = {
            "schema": GAMES,
            "game": "csv-" + hashlib.sha256(known.encode()).hexdigest()[:32],
            **players,
            "opener": opener,
            "outcome": board.outcome,
            "termination": "line" if board.line else "full_board",
            "moves": moves,
            "seed": seed or 0,
            "rollout": 0,
            "source": Source.PLAY if person else Source.STORE,
            "created_at": at,
            "updated_at": at,
            "finished_at": at,
            "turns": [
                {
                    "mark": opener if ply % 2 == 0 else opener.other,
                    "square": square,
                    "at": None,
                    "attempts": [],
                }
                for ply, square in enumerate(moves)
            ],
            "unanswered": [],
            "failed": [],
        }
        return replace(read_line(json.dumps(game).encode()), unknown=self._unknown)


def _fields(line: bytes) -> list[str]:
    try:
        return next(csv.reader([line.decode("utf-8-sig").rstrip("\r\n")], strict=True))
    except UnicodeDecodeError as error:
        raise LineError(Trouble.FORM, f"no UTF-8 at byte {error.start}") from None
    except (csv.Error, StopIteration) as error:
        raise LineError(Trouble.FORM, f"no line of CSV: {error}") from None


def _moves(text: str) -> list[int]:
    if not text.isascii() or any(c.isalpha() for c in text):
        raise LineError(Trouble.FORM, f"moves: {text!r:.40} is no list of squares 0 to 8")
    digits = [int(c) for c in text if c.isdigit()]
    if not digits or len(digits) > 9 or 9 in digits:
        raise LineError(Trouble.FORM, f"moves: {text!r:.40} is no list of squares 0 to 8")
    return digits


def _opener(text: str) -> Mark:
    try:
        return Mark(text.upper())
    except ValueError:
        raise LineError(Trouble.FORM, f"opener: {text!r:.20} is neither X nor O") from None


def _seed(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise LineError(Trouble.FORM, f"seed: {text!r:.30} is no whole number from 0")
    return int(text)


def _player(name: str, seed: int | None) -> dict[str, object]:
    is_engine = name.partition(":")[0] in _ENGINES
    deterministic = False
    if is_engine:
        if seed is None:
            why = f"{name} is an engine, whose moves are believed only with the game's seed"
            raise LineError(Trouble.FORM, why)
        try:
            engine = parse(name)
        except SpecError as error:
            raise LineError(Trouble.FORM, str(error)) from None
        name, deterministic = str(engine), engine.deterministic
    return {
        "kind": Kind.ENGINE if is_engine else Kind.HUMAN,
        "name": name or "somebody",
        "family": None,
        "step": None,
        "prompt_format": None,
        "prompt_hash": None,
        "settings": "{}",
        "deterministic": deterministic,
    }
