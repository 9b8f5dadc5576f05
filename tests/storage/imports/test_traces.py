"""Traces of verifiers: our environment's become games, any other's rollouts of a run.

The files under `tests/data/traces` are such as `vf-eval` wrote them.
"""

import copy
import json
import math
import tracemalloc
from pathlib import Path

import pytest

from arena.board import Mark
from storage import rewards
from storage.imports import Trouble, import_files
from storage.imports.check import Incoming
from storage.imports.traces import read_episode
from storage.rewards import Bin
from storage.transcripts import transcripts
from tests.storage.imports.reading import stored_games
from tests.storage.imports.samples import dump

TRACES = Path(__file__).parents[2] / "data" / "traces"


def episodes(name):
    return [json.loads(line) for line in (TRACES / f"{name}.jsonl").read_text().splitlines()]


@pytest.fixture
def take(db, tmp_path):
    """Import lines, which are given as objects or as text."""

    def importing(*lines, name="traces.jsonl"):
        path = tmp_path / name
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        return import_files(db, [path])

    return importing


def test_our_games_come_back_whole(db):
    report = import_files(db, [TRACES / "games.jsonl"])
    wanted = {}
    for episode in episodes("games"):
        (trace,) = episode["traces"]
        wanted[trace["info"]["game"]["seed"]] = trace
    assert (report.imported, report.refused, report.problems) == (len(wanted), 0, [])
    found = list(stored_games(db))
    assert {stored.game.seed for stored in found} == set(wanted)
    for stored in found:
        game, trace = stored.game, wanted[stored.game.seed]
        facts = trace["info"]["game"]
        assert list(game.moves) == facts["squares"]
        assert (game.outcome, game.termination) == (facts["outcome"], facts["termination"])
        mark = Mark(facts["mark"])
        attempts = game.attempts_of(mark)
        assert [each.verdict for each in attempts] == [a["verdict"] for a in facts["attempts"]]
        said = [node["message"] for node in trace["nodes"] if node["sampled"]]
        assert [each.reply for each in attempts] == [each.get("content", "") for each in said]
        assert [each.reasoning for each in attempts] == [
            each.get("reasoning_content") for each in said
        ]
        assert all(each.prompt[-1].role == "user" for each in attempts)
        # Failed requests stand before the reply that they led to.
        sent = sum(len(each.requests) for each in attempts)
        assert sent == len(trace["calls"])
        tokens = sum(
            call["usage"]["completion_tokens"] for call in trace["calls"] if "usage" in call
        )
        assert sum(each.completion_tokens or 0 for each in attempts) == tokens
        player = stored.x if mark is Mark.X else stored.o
        assert player.identity.settings["sampling"]["temperature"] == 1.0


@pytest.mark.parametrize("name", ["games", "duels", "void", "lines"])
def test_a_second_import_changes_nothing(db, name):
    import_files(db, [TRACES / f"{name}.jsonl"])
    before = dump(db)
    report = import_files(db, [TRACES / f"{name}.jsonl"])
    assert dump(db) == before
    assert report.imported == report.rollouts == 0
    assert report.known == len(episodes(name))


def test_both_seats_of_a_duel_are_one_game(db):
    report = import_files(db, [TRACES / "duels.jsonl"])
    assert report.imported == len(episodes("duels"))
    for stored in stored_games(db):
        assert {stored.x.identity.name, stored.o.identity.name} == {"sparring", "scripted"}
        assert all(turn.attempts for turn in stored.game.turns)


def test_what_failed_is_void(db):
    report = import_files(db, [TRACES / "void.jsonl"])
    games = list(stored_games(db))
    assert report.imported == len(games) == len(episodes("void"))
    assert {game.game.outcome for game in games} == {"void"}


def test_rollouts_of_one_example_are_games_of_their_own(take, db):
    first = episodes("games")[0]
    again = copy.deepcopy(first)
    again["id"], again["traces"][0]["id"] = "e2", "t2"
    third = copy.deepcopy(first)
    third["id"], third["traces"][0]["id"] = "e3", "t3"
    assert take(first, again).imported == 2
    assert take(third, again, first).imported == 1
    assert sorted(each.game.rollout for each in stored_games(db)) == [0, 1, 2]


def test_a_rescored_run_is_no_second_one(take):
    first = episodes("games")[0]
    rescored = copy.deepcopy(first)
    rescored["id"] = "of a replay"
    rescored["traces"][0]["rewards"]["outcome"]["score"] = 9
    assert take(first).imported == 1
    assert (take(rescored).imported, take(rescored).known) == (0, 1)


def test_a_rescored_rollout_is_told_and_changes_nothing(take, db):
    first, second = episodes("lines")[:2]
    take(first, second)
    before = dump(db)
    rescored = put(second, "traces.0.rewards.brief.score", 0.125)
    report = take(first, rescored)
    assert (report.rollouts, report.known, report.refused) == (0, 1, 1)
    ((where, what),) = [(p.line, p.trouble) for p in report.problems]
    assert (where, what) == (2, Trouble.OTHER_GAME)
    assert dump(db) == before


@pytest.mark.parametrize(
    "game", ["Wordle-v0", [], {"name": "Wordle"}, {"schema": "other/1"}, {"schema": None}, None]
)
def test_another_environment_may_keep_a_game_too(take, db, game):
    report = take(put(episodes("lines")[0], "traces.0.info", {"game": game}))
    assert (report.rollouts, report.refused) == (1, 0)


@pytest.mark.parametrize("plies", [0, 2])
@pytest.mark.parametrize("name", ["games", "duels"])
def test_a_game_that_was_broken_off_by_a_timeout_is_void(take, db, name, plies):
    episode = episodes(name)[0]
    for trace in episode["traces"]:
        facts = trace["info"]["game"]
        facts |= {"outcome": None, "termination": None, "squares": facts["squares"][:plies]}
        facts["attempts"] = [each for each in facts["attempts"] if each["ply"] < plies]
        trace |= {"ok": False, "is_timeout": True, "errors": [{"type": "TimeoutError"}]}
    report = take(episode)
    assert (report.imported, report.problems) == (1, [])
    (stored,) = stored_games(db)
    assert (stored.game.outcome, stored.game.termination) == ("void", "provider_error")
    assert len(stored.game.turns) == plies


def with_replies(number):
    """A game that a model gave away by so many replies, each of them asked about anew."""
    episode = episodes("games")[0]
    trace = episode["traces"][0]
    facts = trace["info"]["game"]
    seat = facts["mark"]
    facts["players"][seat]["settings"]["max_replies"] = number
    told = facts["attempts"][0] | {"ply": 0, "verdict": "no_move", "square": None}
    facts |= {"opener": seat, "squares": [], "attempts": [told] * number}
    facts |= {"outcome": "o" if seat == "X" else "x", "termination": "forfeit_invalid"}
    nodes: list[dict[str, object]] = [{"message": {"role": "user", "content": "begin"}}]
    for _ in range(number):
        at = len(nodes)
        said = {"role": "assistant", "content": "I pass."}
        nodes.append({"parent": at - 1, "message": said, "sampled": True})
        nodes.append({"parent": at, "message": {"role": "user", "content": "again"}})
    trace |= {"nodes": nodes, "calls": []}
    return json.dumps(episode)


def test_the_memory_of_a_trace_is_linear_in_its_replies():
    """The prompts of a long game, written out, have as many messages as its square."""

    def peak(line):
        tracemalloc.start()
        (game,) = read_episode(line.encode())
        assert isinstance(game, Incoming)
        assert len(game.game.unanswered[-1].prompt) == 2 * len(game.game.unanswered) - 1
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    few, many = (peak(with_replies(number)) for number in (100, 400))
    assert many < 6 * few


def test_the_prompts_of_a_long_game_come_back(take, db):
    assert take(with_replies(30)).problems == []
    (stored,) = stored_games(db)
    for number, attempt in enumerate(stored.game.unanswered):
        roles = [message.role for message in attempt.prompt]
        assert roles == [*["user", "assistant"] * number, "user"]


def test_more_replies_than_a_game_can_have_are_refused(take):
    assert take(with_replies(1000)).imported == 1
    report = take(with_replies(1001))
    assert (report.imported, report.refused) == (0, 1)
    assert "1001 replies, and a seat has 1000 at most" in report.problems[0].message


def test_another_environments_run_keeps_its_distribution_and_transcripts(db):
    report = import_files(db, [TRACES / "lines.jsonl"])
    assert (report.rollouts, report.imported) == (12, 0)
    (run,) = rewards.runs(db)
    assert (run.name, run.environment, run.models) == ("lines", "reverse_words", ("scripted",))
    assert (run.examples, run.rollouts, run.void) == (4, 12, 0)
    # Three of four examples earn 0.8 + 0.2, the fourth 0.2 each time.
    assert run.mean == pytest.approx(0.8)
    assert run.standard_error == pytest.approx(0.4 / 2)
    assert rewards.distribution(db, run.id) == [Bin(0.2, 0.2, 3), Bin(1.0, 1.0, 9)]
    said = transcripts(db, run.id, limit=5)
    assert [message["role"] for message in said[0].messages] == ["system", "user", "assistant"]
    assert set(said[0].parts) == {"reversed_words", "brief"}
    assert len(transcripts(db, run.id, skip=5)) == 7
    assert list(stored_games(db)) == []


def test_a_timeout_that_calls_itself_a_success_is_void_and_told(take, db):
    episode = episodes("lines")[0]
    episode["traces"][0] |= {"is_timeout": True, "stop_condition": "agent_timeout"}
    report = take(episode)
    assert (report.rollouts, report.refused) == (1, 0)
    assert report.troubles == {Trouble.TIMEOUT: 1}
    (run,) = rewards.runs(db)
    assert (run.rollouts, run.void, run.mean) == (0, 1, None)
    assert rewards.distribution(db, run.id) == []


def test_a_run_whose_rollouts_failed(take, db):
    whole, failed, empty = episodes("lines")[:3]
    failed["ok"] = failed["traces"][0]["ok"] = False
    failed["traces"][0]["errors"] = [{"type": "ProviderError", "message": "Bearer sk-secret"}]
    empty |= {"ok": False, "traces": [], "errors": [{"type": "EnvError", "message": "x"}]}
    assert take(whole, failed, empty).rollouts == 3
    (run,) = rewards.runs(db)
    assert (run.rollouts, run.void) == (1, 2)
    why = [each.why_void for each in transcripts(db, run.id)]
    assert why == [None, "ProviderError", "EnvError"]
    assert "sk-secret" not in str(dump(db))


GAME, DUEL, VOID, LINE = "games", "duels", "void", "lines"
FORM, FOREIGN = Trouble.FORM, Trouble.FOREIGN
ILLEGAL, CONTRADICTION = Trouble.ILLEGAL, Trouble.CONTRADICTION
TRACE = "traces.0"
FACTS = f"{TRACE}.info.game"
BROKEN = [
    # file, path, value, trouble, what is said
    (GAME, f"{FACTS}.squares.1", 8, CONTRADICTION, "takes 0 here"),
    (GAME, f"{FACTS}.squares.2", 8, CONTRADICTION, "names 4, not 8"),
    (GAME, f"{FACTS}.squares", [8], FORM, "belong to no turn"),
    (GAME, f"{FACTS}.squares", "408", FORM, "info.game"),
    (GAME, f"{FACTS}.squares", ..., FORM, "'squares'"),
    (GAME, f"{FACTS}.outcome", "void", CONTRADICTION, "claims to have succeeded"),
    (GAME, f"{FACTS}.outcome", "won", FORM, "outcome"),
    (GAME, f"{FACTS}.termination", "resigned", CONTRADICTION, "resigned"),
    (GAME, f"{FACTS}.schema", "tictactoe-arena/trace/9", FOREIGN, "trace/9"),
    (GAME, f"{FACTS}.opener", "Z", FORM, "'Z'"),
    (GAME, f"{FACTS}.mark", "O", None, ""),
    (GAME, f"{FACTS}.seed", -1, FORM, "seed"),
    (GAME, f"{FACTS}.seed", 7, CONTRADICTION, "in a game of seed 7"),
    (GAME, f"{FACTS}.attempts", [], FORM, "0 verdicts on"),
    (GAME, f"{FACTS}.attempts.0.verdict", "fine", FORM, "verdict"),
    (GAME, f"{FACTS}.attempts.0.ply", 8, FORM, "belong to no turn"),
    (GAME, f"{FACTS}.players", {}, FORM, "'X'"),
    (GAME, f"{FACTS}.players.X.kind", "bird", FORM, "kind"),
    (GAME, f"{TRACE}.is_timeout", True, CONTRADICTION, "claims to count"),
    (GAME, f"{TRACE}.ok", False, CONTRADICTION, "claims to count"),
    (GAME, f"{TRACE}.version", 2, FOREIGN, "version 2"),
    (GAME, f"{TRACE}.id", ..., FORM, "traces.0.id"),
    (GAME, f"{TRACE}.nodes.2.parent", 2, FORM, "no way to the first message"),
    (GAME, f"{TRACE}.calls.0.node", 77, FORM, "not in one order"),
    (GAME, f"{TRACE}.timing.agent.end", 1e30, FORM, "is no time"),
    (GAME, "task", ..., FORM, "task"),
    (DUEL, "traces.1.info.game.seed", 99, CONTRADICTION, "different games"),
    (DUEL, "traces.1.info", {}, CONTRADICTION, "another has not"),
    (VOID, f"{FACTS}.outcome", "o", CONTRADICTION, "claims to count"),
    (VOID, f"{FACTS}.termination", "full_board", CONTRADICTION, "still open"),
    (LINE, f"{TRACE}.rewards.brief.score", "much", FORM, "rewards.brief.score"),
    (LINE, f"{TRACE}.rewards.brief.score", math.nan, FORM, "rewards.brief.score"),
    (LINE, f"{TRACE}.nodes.2.parent", 2, CONTRADICTION, "no way to the first message"),
    (LINE, "traces", "none", FORM, "traces"),
]


def put(row, path, value):
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


@pytest.mark.parametrize(("file", "path", "value", "trouble", "said"), BROKEN)
def test_what_cannot_be_believed_is_told_by_its_line(take, db, file, path, value, trouble, said):
    good = episodes(LINE)[-1]
    take(good)
    before = dump(db)
    # The first line says what kind of file it is.
    report = take(good, put(episodes(file)[0], path, value))
    assert dump(db) == before
    assert (report.known, report.refused) == (1, 1)
    (problem,) = report.problems
    assert problem.line == 2
    assert trouble is None or problem.trouble is trouble, problem
    assert said in problem.message


@pytest.mark.parametrize("cut", [1, 400, -2])
def test_a_torn_last_line(take, db, tmp_path, cut):
    whole, torn = (json.dumps(each) for each in episodes("games")[:2])
    path = tmp_path / "torn.jsonl"
    path.write_text(f"{whole}\n{torn[:cut]}")
    report = import_files(db, [path])
    assert report.imported == 1
    assert report.troubles == {Trouble.TORN: 1}
    path.write_text(f"{whole}\n{torn}\n")
    assert import_files(db, [path]).imported == 1


def test_unknown_keys_are_left_out_and_told(take):
    episode = episodes("games")[0] | {"mood": 1}
    episode["traces"][0]["info"]["game"]["weather"] = "fine"
    report = take(episode)
    assert report.imported == 1
    assert report.troubles == {Trouble.UNKNOWN_KEY: 1}
    assert "mood" in report.problems[0].message
    assert "info.game.weather" in report.problems[0].message
