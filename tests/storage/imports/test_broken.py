"""Whatever is in a file, the database holds true games alone; each fault is told by its line."""

import copy
import gzip
import json

import pytest

from arena.board import Mark
from arena.game import Termination
from storage import Database, Games, Source
from storage.imports import Trouble, import_files
from tests.storage.conftest import Clock
from tests.storage.imports.samples import (
    FIRST,
    LAST,
    RANDOM,
    dump,
    exported,
    game_between,
)
from tests.storage.samples import MODEL, PERSON, attempt, chat

HUGE = 10**400


@pytest.fixture
def rows(games, db, tmp_path):
    """By name: a model's win or draw, a forfeit, two engines, a fault, a person."""
    games.record(game_between(MODEL, RANDOM, 1), MODEL, RANDOM, Source.STORE)
    forfeit = game_between(MODEL, RANDOM, 2, until=2)
    wrong = attempt(chat("s", "u"), "\ud800", square=HUGE, verdict="malformed")
    forfeit.end(Termination.FORFEIT_INVALID, Mark.X, attempts=[wrong])
    games.record(forfeit, MODEL, RANDOM, Source.STORE)
    games.record(game_between(FIRST, LAST, 3), FIRST, LAST, Source.STORE)
    fault = game_between(MODEL, RANDOM, 4, until=2)
    fault.end(Termination.PROVIDER_ERROR)
    games.record(fault, MODEL, RANDOM, Source.STORE)
    games.record(game_between(PERSON, RANDOM, 5), PERSON, RANDOM, Source.PLAY)
    names = ("model", "forfeit", "engines", "fault", "person")
    return dict(zip(names, map(json.loads, exported(db).splitlines()), strict=True))


def put(row, path, value):
    """The row with something else at a path."""
    changed = copy.deepcopy(row)
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    holder = changed
    for part in way:
        holder = holder[part]
    if value is ...:
        del holder[last]
    else:
        holder[last] = value
    return changed


FORM, FOREIGN, CONTRADICTION = Trouble.FORM, Trouble.FOREIGN, Trouble.CONTRADICTION
BROKEN = [
    # name, row, path, value, trouble, what is said
    ("another schema", "model", "schema", "chess/1", FOREIGN, "its schema is 'chess/1'"),
    ("no turns", "model", "turns", ..., FOREIGN, "no row of the flavour games"),
    ("no seed", "model", "seed", ..., FORM, "seed: Field required"),
    ("a seed too large", "model", "seed", 1 << 63, FORM, "seed: Input should be less"),
    ("a number in a string", "model", "seed", "1", FORM, "seed: Input should be a valid integer"),
    ("a yes for a true", "model", "x.deterministic", "yes", FORM, "x.deterministic:"),
    ("an id that is a path", "model", "game", "../x", FORM, "game: String should match"),
    ("a tenth square", "model", "turns.0.square", 9, FORM, "turns.0.square:"),
    ("an unknown verdict", "model", "turns.0.attempts.0.verdict", "fine", FORM, "'ok', 'occupied'"),
    ("a negative time", "model", "turns.0.attempts.0.seconds", -1.0, FORM, "seconds:"),
    ("no time zone", "model", "finished_at", "2026-01-01T00:00:00", FORM, "finished_at:"),
    ("no date", "model", "created_at", "yesterday", FORM, "created_at:"),
    ("settings that are none", "model", "x.settings", "[1]", FORM, "x.settings: no JSON object"),
    ("sampling that is none", "model", "x.settings", '{"sampling":5}', FORM, "sampling is no set"),
    ("no temperature", "model", "x.settings", '{"sampling":{"temperature":"hot"}}', FORM, "no set"),
    ("an unknown engine", "engines", "x.name", "minimax:tie=frst", FORM, "valid are uniform"),
    ("a spec not as printed", "engines", "x.name", "minimax:tie=s0", CONTRADICTION, "described"),
    ("an engine that claims", "engines", "x.deterministic", False, CONTRADICTION, "described"),
    ("an engine of a family", "engines", "o.family", "f", CONTRADICTION, "not described as it is"),
    ("not the engine's move", "engines", "seed", 3, None, ""),
    (
        "another engine's move",
        "engines",
        "x.name",
        "minimax:tie=last",
        CONTRADICTION,
        "takes 8 here",
    ),
    ("a seed that draws otherwise", "model", "seed", 2, CONTRADICTION, "in a game of seed 2"),
    ("a square twice", "person", "turns.2.square", 8, Trouble.ILLEGAL, "turn 2: 8 is not a free"),
    ("the wrong mark", "model", "turns.1.mark", "X", Trouble.ILLEGAL, "it is O's turn, not X's"),
    ("another opener", "model", "opener", "O", Trouble.ILLEGAL, "it is O's turn, not X's"),
    ("other moves", "model", "moves", [0, 1], CONTRADICTION, "moves says [0, 1], and the turns"),
    ("another outcome", "model", "outcome", "o", CONTRADICTION, "it claims o by"),
    ("a void win", "model", "outcome", "void", CONTRADICTION, "it claims void by"),
    ("a forfeit on the board", "model", "termination", "forfeit_invalid", CONTRADICTION, "claims"),
    ("a fault that is a loss", "fault", "outcome", "o", CONTRADICTION, "is not o"),
    ("a drawn forfeit", "forfeit", "outcome", "draw", CONTRADICTION, "is not draw"),
    ("the other's forfeit", "forfeit", "outcome", "x", CONTRADICTION, "X was to move"),
    ("an open board that is full", "fault", "termination", "full_board", CONTRADICTION, "open"),
    ("an engine that gave no answer", "fault", "x", ..., FOREIGN, "no row"),
    ("a model that abandons", "fault", "termination", "abandoned", CONTRADICTION, "only a person"),
    ("a rated person", "person", "source", "store", CONTRADICTION, "a person plays"),
    ("a person who replies", "person", "turns.0.attempts", None, FORM, "turns.0.attempts:"),
    (
        "a reply of another square",
        "model",
        "turns.0.attempts.1.square",
        0,
        CONTRADICTION,
        "names 0",
    ),
    (
        "a last reply that is not ok",
        "model",
        "turns.0.attempts.1.verdict",
        "empty",
        CONTRADICTION,
        "last must be ok",
    ),
    (
        "an earlier one that is",
        "model",
        "turns.0.attempts.0.verdict",
        "ok",
        CONTRADICTION,
        "no other",
    ),
    (
        "an ok that led nowhere",
        "forfeit",
        "unanswered.0.verdict",
        "ok",
        CONTRADICTION,
        "led to no turn",
    ),
    ("replies after the end", "model", "failed", [], None, ""),
    (
        "nothing was taken out there",
        "model",
        "replaced",
        '{"turns.0.square":"99999999999999999999"}',
        CONTRADICTION,
        "nothing was taken out at turns.0.square",
    ),
    ("no such place", "model", "replaced", '{"turns.99.x":[]}', CONTRADICTION, "turns.99.x"),
    (
        "a letter that is none",
        "forfeit",
        "replaced",
        '{"unanswered.0.reply":[[0,"41"]]}',
        CONTRADICTION,
        "unanswered.0.reply",
    ),
    ("not what was taken out", "model", "replaced", "[]", FORM, "replaced: no JSON object"),
    ("a move without a reply", "model", "turns.0.attempts", [], CONTRADICTION, "moves by replies"),
    (
        "endless heat",
        "model",
        "x.settings",
        '{"sampling":{"temperature":1e999}}',
        FORM,
        "0 to 1000",
    ),
    (
        "heat beyond a float",
        "model",
        "x.settings",
        f'{{"sampling":{{"temperature":{HUGE}}}}}',
        FORM,
        "0 to 1000",
    ),
    ("no heat", "model", "x.settings", '{"sampling":{"temperature":NaN}}', FORM, "0 to 1000"),
    ("another forfeit", "forfeit", "termination", "forfeit_truncated", CONTRADICTION, "come to"),
    ("a hasty forfeit", "forfeit", "x.settings", '{"max_replies":8}', CONTRADICTION, "after 2 of"),
    ("before all dates", "model", "finished_at", "0001-01-01T00:00:00+14:00", FORM, "finished_at:"),
    ("after all dates", "model", "turns.0.at", "9999-12-31T23:00:00-14:00", FORM, "turns.0.at:"),
]
BAD = [case for case in BROKEN if case[4] is not None]
HARMLESS = [case for case in BROKEN if case[4] is None]


def imported(db, tmp_path, content):
    (tmp_path / "some.jsonl").write_bytes(content)
    return import_files(db, [tmp_path / "some.jsonl"])


@pytest.fixture
def other(tmp_path):
    empty = Database.open(tmp_path / "other.db")
    yield empty
    empty.close()


@pytest.mark.parametrize(
    ("name", "row", "path", "value", "trouble", "says"), BAD, ids=[b[0] for b in BAD]
)
def test_a_game_that_cannot_be_believed(
    rows, other, tmp_path, name, row, path, value, trouble, says
):
    before = dump(other)
    line = json.dumps(put(rows[row], path, value)).encode() + b"\n"
    report = imported(other, tmp_path, line)
    (problem,) = report.problems
    assert (problem.trouble, problem.line, report.refused) == (trouble, 1, 1)
    assert says in problem.message
    assert str(problem).startswith(f"{tmp_path / 'some.jsonl'}, line 1: ")
    assert dump(other) == before


def test_only_a_person_resigns(rows, other, tmp_path):
    row = put(put(rows["fault"], "termination", "resigned"), "outcome", "o")
    (problem,) = imported(other, tmp_path, json.dumps(row).encode()).problems
    assert problem.trouble is CONTRADICTION
    assert "X is a model: only a person resigns" in problem.message


@pytest.mark.parametrize(
    ("content", "trouble", "says"),
    [
        (b"nonsense\n", Trouble.NOT_JSON, "no JSON"),
        (b"\xff\xfe\n", Trouble.NOT_JSON, "no JSON"),
        (b'{"schema": "tictactoe\n', Trouble.NOT_JSON, "no JSON"),
        (b"[1, 2]\n", FOREIGN, "no JSON object"),
        (b"null\n", FOREIGN, "no JSON object"),
        (b'{"messages": [], "game": "a"}\n', FOREIGN, "the only one that holds whole games"),
        (b"[" * 100_000 + b"\n", Trouble.NOT_JSON, "no JSON"),
        (b'{"schema": "tictactoe', Trouble.TORN, "ends in the middle of this line"),
    ],
)
def test_a_line_that_is_no_game(other, tmp_path, content, trouble, says):
    before = dump(other)
    report = imported(other, tmp_path, content)
    (problem,) = report.problems
    assert (problem.trouble, report.troubles[trouble]) == (trouble, 1)
    assert says in problem.message
    assert dump(other) == before


def test_what_is_good_comes_in_around_what_is_broken(rows, db, other, tmp_path):
    good = exported(db).splitlines(keepends=True)
    torn = good[0][:100]
    report = imported(other, tmp_path, b"".join([*good[:2], b"{}\n", *good[2:], torn]))
    assert [(p.line, p.trouble) for p in report.problems] == [(3, FOREIGN), (7, Trouble.TORN)]
    assert (report.imported, report.refused, report.lines) == (5, 2, 7)
    assert exported(other) == exported(db)


def test_an_unknown_key_is_told_and_the_game_taken(rows, db, other, tmp_path):
    row = put(put(rows["model"], "elo", 1500), "turns.0.attempts.0.mood", "good")
    report = imported(other, tmp_path, json.dumps(row).encode() + b"\n")
    (problem,) = report.problems
    assert (problem.trouble, report.imported, report.refused) == (Trouble.UNKNOWN_KEY, 1, 0)
    assert "elo, turns.attempts.mood" in problem.message
    assert exported(other).splitlines() == exported(db).splitlines()[:1]


@pytest.mark.parametrize("case", HARMLESS, ids=[case[0] for case in HARMLESS])
def test_what_is_no_fault(rows, other, tmp_path, case):
    _, row, path, value, _, _ = case
    report = imported(other, tmp_path, json.dumps(put(rows[row], path, value)).encode())
    assert (report.imported, report.problems) == (1, [])


def test_a_square_and_a_text_that_no_reader_takes_come_back(rows, db, other, tmp_path):
    assert json.loads(rows["forfeit"]["replaced"]) == {
        "unanswered.0.reply": [[0, "d800"]],
        "unanswered.0.square": str(HUGE),
    }
    imported(other, tmp_path, exported(db))
    (attempt,) = Games(other, Clock()).load(rows["forfeit"]["game"]).game.unanswered
    assert (attempt.reply, attempt.square) == ("\ud800", HUGE)


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("engines", "rollout", 1),
        ("engines", "finished_at", "2031-01-01T00:00:00Z"),
        ("engines", "source", "play"),
        ("model", "x.family", "another"),
        ("model", "turns.0.attempts.1.reply", "<think>Other words.</think><move>4</move>"),
        ("model", "turns.0.attempts.1.seconds", 77.0),
        ("forfeit", "unanswered.0.finish_reason", "length"),
        ("person", "turns.0.at", "2031-01-01T00:00:00Z"),
    ],
)
def test_another_game_of_the_same_id(rows, db, tmp_path, name, path, value):
    before = dump(db)
    changed = put(rows[name], path, value)
    report = imported(db, tmp_path, json.dumps(changed).encode())
    assert (report.known, report.troubles) == (0, {Trouble.OTHER_GAME: 1})
    assert dump(db) == before


def test_the_same_game_twice_in_one_file(rows, db, other, tmp_path):
    line = exported(db).splitlines(keepends=True)[2]
    report = imported(other, tmp_path, line * 3)
    assert (report.imported, report.known, report.refused) == (1, 2, 0)
    changed = json.dumps(put(rows["model"], "rollout", 1)).encode() + b"\n"
    report = imported(other, tmp_path, json.dumps(rows["model"]).encode() + b"\n" + changed)
    assert (report.imported, report.troubles) == (1, {Trouble.OTHER_GAME: 1})


def test_a_torn_gzip_file(rows, db, other, tmp_path):
    packed = gzip.compress(exported(db))
    (tmp_path / "torn.jsonl.gz").write_bytes(packed[: len(packed) - 20])
    report = import_files(other, [tmp_path / "torn.jsonl.gz"])
    assert report.troubles[Trouble.TORN] >= 1
    (tmp_path / "broken.jsonl.gz").write_bytes(packed[:40] + b"xxxxxxxxxx" + packed[50:])
    report = import_files(other, [tmp_path / "broken.jsonl.gz"])
    assert report.troubles[Trouble.UNREADABLE] == 1


def test_a_thousand_broken_lines_are_counted_and_the_first_told(other, tmp_path):
    report = imported(other, tmp_path, b"{}\n" * 1000)
    assert (report.refused, report.lines, len(report.problems)) == (1000, 1000, 20)


def test_a_line_without_end(other, tmp_path, monkeypatch):
    monkeypatch.setattr("storage.imports.files.LONGEST", 1000)
    report = imported(other, tmp_path, b"x" * 5000 + b"\n{}\n")
    assert [(p.line, p.trouble) for p in report.problems] == [(1, FORM), (2, FOREIGN)]
