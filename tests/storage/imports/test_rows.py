"""The older result rows, and lists of moves."""

import json
import math

import pytest

from arena.board import Mark
from arena.game import Game, Turn
from arena.opponents import parse
from storage import rewards
from storage.imports import Trouble, import_files
from storage.shown_games import ShownGame
from storage.transcripts import transcripts
from tests.storage.imports.chats import PLAIN
from tests.storage.imports.reading import stored_games
from tests.storage.imports.samples import dump

FORM, ILLEGAL, CONTRADICTION = Trouble.FORM, Trouble.ILLEGAL, Trouble.CONTRADICTION


def row(**changes):
    return {
        "example_id": 0,
        "task": "tic-tac-toe",
        "prompt": [{"role": "user", "content": "0 | 1 | 2"}],
        "completion": [{"role": "assistant", "content": "<move>4</move>"}],
        "reward": 0.7,
        "win_reward": 0.5,
        "format_reward": 0.2,
    } | changes


@pytest.fixture
def take(db, tmp_path):
    def importing(*lines, name="results.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        return import_files(db, [path])

    return importing


def test_rows_become_a_run(take, db, tmp_path):
    report = take(row(), row(), row(example_id=1, reward=0.1, error="timed out"))
    assert (report.rollouts, report.refused) == (3, 0)
    assert take(row(), row(), row(example_id=1, reward=0.1, error="timed out")).known == 3
    (run,) = rewards.runs(db)
    assert (run.name, run.environment) == (f"{tmp_path.name}/results.jsonl", "tic-tac-toe")
    assert (run.examples, run.rollouts, run.void) == (1, 2, 1)
    assert rewards.distribution(db, run.id) == [rewards.Bin(0.7, 0.7, 2)]
    first, *_, last = transcripts(db, run.id)
    assert first.parts == {"win_reward": [0.5, None], "format_reward": [0.2, None]}
    assert [each["content"] for each in first.messages] == ["0 | 1 | 2", "<move>4</move>"]
    assert (last.reward, last.why_void) == (None, "it failed")


@pytest.mark.parametrize("bad", ["garbage", "[1]", '{"reward": 1}'])
def test_a_bad_first_line_costs_itself_alone(take, bad):
    report = take(bad, row(), row(example_id=1))
    assert (report.rollouts, report.refused) == (2, 1)
    assert report.problems[0].line == 1


def test_a_mark_of_the_byte_order_is_no_fault(take):
    assert take("\ufeff" + json.dumps(row())).rollouts == 1


METADATA = {"env_id": "tic-tac-toe-v2", "model": "my/checkpoint-80", "num_examples": 2}


@pytest.fixture
def beside(tmp_path):
    def put(content):
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        (tmp_path / "metadata.json").write_text(text)

    return put


def test_the_metadata_beside_rows_say_model_and_environment(take, beside, db):
    beside(METADATA)
    assert take(row(), row(example_id=1)).refused == 0
    (run,) = rewards.runs(db)
    assert (run.models, run.environment) == (("my/checkpoint-80",), "tic-tac-toe-v2")
    assert take(row(), row(example_id=1)).known == 2


def test_what_a_row_says_of_its_model_goes_before(take, beside, db):
    beside(METADATA | {"env_id": None})
    take(row(model="other"))
    (run,) = rewards.runs(db)
    assert (run.models, run.environment) == (("other",), "tic-tac-toe")


@pytest.mark.parametrize(
    ("content", "trouble", "says"),
    [
        ('{"env_id": ', Trouble.NOT_JSON, "no JSON"),
        ("[" * 100_000, Trouble.NOT_JSON, "no JSON"),
        ([METADATA], FORM, "no JSON object"),
        (METADATA | {"model": ["a"]}, FORM, "model: ['a'] is no name"),
        (METADATA | {"env_id": "a" * 1001}, FORM, "env_id: 'aaa"),
        (" " * (1 << 20) + "{}", FORM, "longer than 1 MB"),
    ],
)
def test_broken_metadata_cost_no_row(take, beside, db, tmp_path, content, trouble, says):
    beside(content)
    report = take(row())
    (problem,) = report.problems
    assert (problem.file, problem.line) == (f"{tmp_path / 'metadata.json'}", 0)
    assert problem.trouble is trouble
    assert says in problem.message
    assert (report.rollouts, report.refused) == (1, 1)
    assert rewards.runs(db)[0].environment == "tic-tac-toe"


def test_metadata_alone_are_no_run(take, db):
    report = take(METADATA, name="metadata.json")
    assert "give its folder, or the file of result rows beside it" in report.problems[0].message
    assert (report.rollouts, report.refused) == (0, 1)
    assert rewards.runs(db) == []


def test_a_run_that_grew_adds_what_is_new(take, db):
    take(row(), row())
    assert take(row(), row(), row()).rollouts == 1
    assert rewards.runs(db)[0].rollouts == 3


def test_runs_of_one_name_are_told_apart_by_their_first_row(take, db):
    take(row(), row(example_id=1), name="a/r1/results.jsonl")
    said = [{"role": "assistant", "content": "<move>0</move>"}]
    assert take(row(completion=said), row(example_id=1), name="b/r1/results.jsonl").rollouts == 2
    # The same answers, and another model's.
    assert take(row(model="another"), name="c/r1/results.jsonl").rollouts == 1
    assert [(run.name, run.rollouts) for run in rewards.runs(db)] == [
        ("r1/results.jsonl", 1),
        ("r1/results.jsonl", 2),
        ("r1/results.jsonl", 2),
    ]


def test_a_file_whose_content_is_known_adds_nothing_wherever_it_lies(take, db):
    take(row(), row(), row(example_id=1))
    before = dump(db)
    report = take(row(), row(), row(example_id=1), name="a copy/renamed.jsonl")
    assert (report.rollouts, report.known) == (0, 3)
    assert dump(db) == before
    # A longer one of the first name is its run grown; a copy of that is known in turn.
    longer = (row(), row(), row(example_id=1), row(example_id=2))
    assert take(*longer).rollouts == 1
    assert take(*longer, name="copy/results.jsonl").known == 4
    assert len(rewards.runs(db)) == 1


@pytest.mark.parametrize(
    "changes",
    [{"reward": 0.1}, {"clarity_reward": 0.3}, {"win_reward": 0.0}, {"error": "it broke"}],
)
def test_a_row_that_was_scored_again_is_told_and_changes_nothing(take, db, changes):
    take(row(), row(example_id=1))
    before = dump(db)
    report = take(row(), row(example_id=1, **changes))
    assert (report.rollouts, report.known, report.refused) == (0, 1, 1)
    ((where, what),) = [(p.line, p.trouble) for p in report.problems]
    assert (where, what) == (2, Trouble.OTHER_GAME)
    assert dump(db) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"reward": None},
        {"reward": "none", "win_reward": math.nan},
        {"reward": None, "completion": []},
        {"reward": None, "completion": None},
    ],
)
def test_a_failed_row_without_a_reward_is_void(take, db, changes):
    report = take(row(), row(example_id=1, error="timed out", **changes))
    assert (report.rollouts, report.refused) == (2, 0)
    (run,) = rewards.runs(db)
    assert (run.rollouts, run.void, run.reasons) == (1, 1, (("it failed", 1),))


@pytest.mark.parametrize(
    ("line", "trouble", "said"),
    [
        (row(reward="good"), FORM, "reward"),
        (row(completion=[]), FORM, "completion"),
        (row(reward=None), FORM, "reward"),
        (row(reward=10**400), FORM, "reward"),
        (row(reward=1e51), FORM, "more than a reward can come to"),
        (row(win_reward=1e999), FORM, "win_reward"),
        (row(prompt=7), FORM, "prompt"),
        (row(completion=[{"content": "x"}]), FORM, "completion.0"),
        (row(completion=[{"role": "assistant", "content": 3}]), FORM, "completion.0"),
        ({"prompt": "x", "reward": 1}, FORM, "completion is missing"),
        ("[]", Trouble.FOREIGN, "no JSON object"),
        ("{", Trouble.NOT_JSON, "no JSON"),
    ],
)
def test_rows_that_cannot_be_believed(take, db, line, trouble, said):
    take(row())
    before = dump(db)
    report = take(row(), line)
    assert dump(db) == before
    ((where, what, message),) = [(p.line, p.trouble, p.message) for p in report.problems]
    assert (where, what) == (2, trouble)
    assert said in message


def test_a_column_that_is_no_reward_is_told(take):
    report = take(row(colour="red"))
    assert report.rollouts == 1
    assert report.troubles == {Trouble.UNKNOWN_KEY: 1}


def told(chat, **changes):
    """A row with this chat."""
    return row(prompt=chat.messages[:2], completion=chat.messages[2:], **changes)


def test_the_game_in_a_chat_is_kept_with_it(take, db):
    won, broken = PLAIN.tell([4, 0, 1, 2, 7]), PLAIN.tell([4, 0, 8])
    wrong = broken.messages[3] | {"content": broken.messages[3]["content"].replace("O", "X")}
    broken.messages[3] = wrong
    lines = (told(won, reward=0.0), told(broken, reward=1.0, win_reward=1.0), row())
    report = take(*lines)
    assert (report.rollouts, report.refused) == (3, 0)
    ((where, what, said),) = [(p.line, p.trouble, p.message) for p in report.problems]
    assert (where, what) == (2, Trouble.BOARD)
    assert said == (
        "message 4: the board cannot follow from the one before: "
        "taken in, and its game is not believed"
    )
    (run,) = rewards.runs(db)
    first, second, third = transcripts(db, run.id)
    assert first.game == ShownGame(Mark.X, Mark.X, (4, 0, 1, 2, 7))
    # The file says that nothing was won.
    assert (first.game.ending, first.reward) == ("won", 0.0)
    assert (second.game, second.unfollowed) == (
        None,
        "message 4: the board cannot follow from the one before",
    )
    assert third.game is None
    assert third.unfollowed is None
    before = dump(db)
    assert take(*lines).known == 3
    assert dump(db) == before


def test_calls_of_tools_stay_with_their_message(take, db):
    calls = [{"id": "c", "function": {"name": "move", "arguments": '{"square": 4}'}}]
    said = {"role": "assistant", "content": None, "tool_calls": calls}
    took = {"role": "tool", "content": "taken", "tool_call_id": "c", "other": 1}
    take(row(completion=[said, took]))
    (each,) = transcripts(db, rewards.runs(db)[0].id)
    assert each.messages[1:] == [
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": "taken", "tool_call_id": "c"},
    ]


def engine_game(seed):
    game = Game(Mark.X, seed)
    engine = parse("minimax:tie=first")
    while game.outcome is None:
        game.add(Turn(game.to_move, engine.choose(game.board, game.salt)))
    return "".join(map(str, game.moves))


def test_move_lists(take, db):
    lines = (
        "moves,x,o,opener,outcome,seed",
        "0 3 1 4 2,Ada,Grace,X,x,",
        '"4-0-8, 2-1 7 6 3 5",Ada,,O,,',
        f"{engine_game(3)},minimax:tie=first,minimax:tie=first,X,draw,3",
    )
    report = take(*lines, name="moves.csv")
    assert (report.imported, report.refused) == (3, 0)
    assert take(*lines, name="moves.csv").known == 3
    games = sorted(stored_games(db), key=lambda stored: stored.game.moves)
    assert [stored.source for stored in games] == ["play", "store", "play"]
    assert games[0].x.identity.name == "Ada"
    assert games[0].game.termination == "line"


def test_equal_games_of_a_list_all_come_in_and_once(take, db):
    lines = ("moves,x,o,id", *["0 3 1 4 2,Ada,Grace,"] * 3, *["0 3 1 4 2,Ada,Grace,g1"] * 2)
    report = take(*lines, name="moves.csv")
    assert (report.imported, report.known, report.refused) == (4, 1, 0)
    before = dump(db)
    assert (take(*lines, name="moves.csv").known, dump(db)) == (5, before)
    assert take(*lines, "0 3 1 4 2,Ada,Grace,", name="moves.csv").imported == 1


def test_the_same_game_of_two_engines_counts_once_and_that_is_told(take, db):
    line = f"{engine_game(3)},minimax:tie=first,minimax:tie=first,3"
    report = take("moves,x,o,seed", line, line, name="moves.csv")
    assert (report.imported, report.same_cell, report.refused) == (1, 1, 0)
    assert len(stored_games(db)) == 1


@pytest.mark.parametrize(
    ("line", "trouble", "said"),
    [
        ("0 3 1 4 2,Ada,Grace,X,o,", CONTRADICTION, "claims 'o'"),
        ("0 3 1 4,Ada,Grace,X,,", CONTRADICTION, "before the game does"),
        ("0 0 1,Ada,Grace,X,,", ILLEGAL, "0 is not a free square"),
        ("0 3 1 4 2 5,Ada,Grace,X,,", ILLEGAL, "the game is over"),
        ("0 9 1,Ada,Grace,X,,", FORM, "no list of squares"),
        ("centre,Ada,Grace,X,,", FORM, "no list of squares"),
        ("0 3 1 4 2,Ada,Grace,Y,,", FORM, "neither X nor O"),
        ("0 3 1 4 2,Ada,Grace,X,,-1", FORM, "no whole number"),
        ("0 3 1 4 2,Ada", FORM, "2 fields"),
        ('"0 3 1,Ada,Grace,X,,', FORM, "no line of CSV"),
        ("0 3 1 4 2,minimax,Grace,X,,", FORM, "only with the game's seed"),
        ("0 3 1 4 2,minimax:tie=odd,Grace,X,,1", FORM, "tie=odd"),
        ("8 4 0 2 6 7 1 5 3,minimax:tie=first,Grace,X,,1", CONTRADICTION, "takes"),
    ],
)
def test_move_lists_that_cannot_be_believed(take, db, line, trouble, said):
    before = dump(db)
    report = take("moves,x,o,opener,outcome,seed", line, name="moves.csv")
    assert dump(db) == before
    ((where, what, message),) = [(p.line, p.trouble, p.message) for p in report.problems]
    assert (where, what) == (2, trouble)
    assert said in message
