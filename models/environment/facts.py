"""A game's facts: what a trace keeps of it, enough to replay it, to score it and to import it.

They stand under `trace.info["game"]`. The prompts and replies themselves are the trace's nodes; an
attempt here says which sampled reply of the trace, in order, it is the verdict on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from arena.board import Mark
from arena.errors import RulesError
from arena.game import Attempt, Game, Termination, Turn, Verdict
from arena.players import Identity
from models.formats import PromptFormat

SCHEMA = "tictactoe-arena/trace/1"
KEY = "game"
"""Under which a trace's info holds the facts."""

UNPLAYED: Mapping[str, Any] = {"opener": "X", "seed": 0, "mark": "X", "squares": [], "attempts": []}
"""The facts of a task that nobody has played."""


def facts_of(
    game: Game,
    mark: Mark,
    players: Mapping[Mark, Identity],
    form: PromptFormat,
    why_void: str | None = None,
) -> dict[str, Any]:
    """What a trace keeps, as JSON.

    Args:
        game: finished, or as far as it came.
        mark: the seat whose trace it is.
        players: who sat where.
        form: how that seat was asked.
        why_void: in words, where the game counts for nobody.
    """
    return {
        "schema": SCHEMA,
        "opener": game.opener.value,
        "seed": game.seed,
        "rollout": game.rollout,
        "mark": mark.value,
        "opponent": players[mark.other].name,
        "players": {seat.value: asdict(players[seat]) for seat in Mark},
        "prompt": {"name": form.name, "hash": form.hash, "base": form.answer.base},
        "squares": list(game.moves),
        "attempts": [
            {
                "ply": ply,
                "verdict": attempt.verdict.value,
                "square": attempt.square,
                "contains": attempt.contains,
                "exact": attempt.exact,
                "finish_reason": attempt.finish_reason,
                "seed": attempt.seed,
                "adaptations": list(attempt.adaptations),
            }
            for ply, attempt in _attempts(game, mark)
        ],
        "outcome": None if game.outcome is None else game.outcome.value,
        "termination": None if game.termination is None else game.termination.value,
        "why_void": why_void,
    }


def game_of(facts: Mapping[str, Any]) -> Game:
    """The game again, replayed through the rules; of its attempts, all but prompts and replies.

    Raises:
        RulesError: the facts are of no game that the rules allow.
    """
    try:
        mark = Mark(facts["mark"])
        attempts: dict[int, list[Attempt]] = {}
        for each in facts["attempts"]:
            attempts.setdefault(each["ply"], []).append(_attempt(each))
        game = Game(Mark(facts["opener"]), facts["seed"], rollout=facts.get("rollout", 0))
        for ply, square in enumerate(facts["squares"]):
            own = attempts.pop(ply, []) if game.to_move is mark else []
            game.add(Turn(game.to_move, square, tuple(own)))
        left = tuple(attempts.pop(len(facts["squares"]), []))
        if attempts or (left and game.to_move is not mark):
            raise RulesError("there are replies that belong to no turn")
        if game.outcome is None and facts.get("termination"):
            termination = Termination(facts["termination"])
            game.end(termination, _loser(termination, facts), attempts=left)
        elif left and game.outcome is not None:
            raise RulesError("there are replies after the end")
        else:
            game.unanswered = left
    except (KeyError, TypeError, AttributeError) as error:
        raise RulesError(f"these are no facts of a game: {error!r}") from None
    except ValueError as error:
        raise RulesError(str(error)) from None
    if game.outcome != facts.get("outcome"):
        raise RulesError(f"the moves make it {game.outcome}, the facts say {facts.get('outcome')}")
    return game


def _attempts(game: Game, mark: Mark) -> list[tuple[int, Attempt]]:
    """A seat's attempts, each with the number of moves that had been made."""
    made = [
        (ply, attempt)
        for ply, turn in enumerate(game.turns)
        if turn.mark is mark
        for attempt in turn.attempts
    ]
    left = game.unanswered if game.to_move is mark else ()
    return made + [(game.board.ply, attempt) for attempt in left]


def _attempt(facts: Mapping[str, Any]) -> Attempt:
    return Attempt(
        prompt=(),
        reply="",
        verdict=Verdict(facts["verdict"]),
        square=facts["square"],
        contains=facts["contains"],
        exact=facts["exact"],
        finish_reason=facts.get("finish_reason"),
        seed=facts.get("seed"),
    )


def _loser(termination: Termination, facts: Mapping[str, Any]) -> Mark | None:
    if termination.is_void:
        return None
    return Mark(str(facts["outcome"]).upper()).other
