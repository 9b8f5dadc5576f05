"""The same seeds and the same replies: the same moves, verdicts and reward, whoever plays the game.

The arena's own loop, the environment under `vf-eval`, and the rollouts of training.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from arena.board import Mark
from arena.game import Game
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer
from arena.reward import Check, Weights, reward
from models.entries import Entry
from models.environment.examples import Mix
from models.environment.facts import game_of
from models.library import SHIPPED
from models.player import ModelPlayer
from models.prompt import History
from models.training.rollouts import play
from models.training.scoring import score
from models.training.settings import Worth
from models.training.starts import Start
from models.training.tokens import END_ID, Ids, Sample, decode, encode
from tests.models.environment.conftest import GAMES
from tests.models.environment.script import said_of, scripted, scripted_by_board
from tests.models.environment.tools import scores

MIX = Mix(
    seed=100,
    mark=None,
    opener=None,
    opponents=("minimax:tie=first", "minimax:tie=trap", "random"),
    epsilon_low=0.1,
    epsilon_high=0.5,
    strata=6,
)
"""What `conftest.OPTIONS` says."""
WEIGHTS = Weights(win=2, invalid=0.3)


MAX_REPLIES = 6


@pytest.fixture
def played(serve, connect):
    """Plays examples in the arena's own loop, over HTTP."""

    async def play_all(script, history, examples):
        server = serve(script)
        entry = Entry(
            name="scripted",
            base_url=server.base_url,
            model="scripted",
            history=history,
            max_replies=MAX_REPLIES,
        )
        model = ModelPlayer(entry, SHIPPED["tags"], connect(server))
        games = []
        for each in examples:
            engine = EnginePlayer(parse(each.opponent))
            seats = (model, engine) if each.mark is Mark.X else (engine, model)
            games.append(await finish(Game(each.opener, each.seed), *seats))
        return games

    return play_all


def ends(games):
    return Counter(str(game.termination) for game in games)


async def test_the_environment_plays_the_arenas_games(tools, games, boards, played):
    """Over a bad network there, over a good one here; with the chat so far, and without."""
    for run, script, history in (
        (games, scripted, History.FULL),
        (boards, scripted_by_board, History.BOARD),
    ):
        episodes = tools.traces(run)
        assert len(episodes) == GAMES
        examples = [MIX.example(number) for number in range(GAMES)]
        wanted = await played(script, history, examples)
        for episode, example, game in zip(episodes, examples, wanted, strict=True):
            (trace,) = episode["traces"]
            facts = trace["info"]["game"]
            drawn = (facts["seed"], facts["opener"], facts["mark"], facts["opponent"])
            assert drawn == tuple(example)
            attempts = game.attempts_of(example.mark)
            assert facts["squares"] == list(game.moves)
            assert [(each["verdict"], each["seed"]) for each in facts["attempts"]] == [
                (attempt.verdict, attempt.seed) for attempt in attempts
            ]
            assert (facts["outcome"], facts["termination"]) == (game.outcome, game.termination)
            parts = reward(game, example.mark, check=Check.EXACT, weights=WEIGHTS)
            assert scores(trace) == dict(parts._asdict())
            assert game_of(facts).moves == game.moves
            # The replies stand in the trace in the order of the attempts, empty ones too.
            said = [node["message"] for node in trace["nodes"] if node["sampled"]]
            assert [each.get("content", "") for each in said] == [each.reply for each in attempts]
        assert {"line", "full_board", "forfeit_invalid"} <= set(ends(wanted))


async def test_training_plays_the_arenas_games(played):
    """Its policy sits in the same process, and is asked in tokens."""

    def draw(prompts: Sequence[Ids]) -> list[Sample]:
        found = []
        for prompt in prompts:
            said = said_of(decode(prompt))
            ids = encode(said.text or "") + ((END_ID,) if said.finish_reason == "stop" else ())
            found.append(Sample(prompt, ids, (0.0,) * len(ids)))
        return found

    examples = [MIX.example(number) for number in range(300)]
    wanted = await played(scripted_by_board, History.BOARD, examples)
    begin = [Start(each.opponent, each.mark, each.opener, each.seed) for each in examples]
    # It begins an event loop of its own.
    trained = await asyncio.to_thread(play, draw, begin, max_replies=MAX_REPLIES)
    worth = Worth(win=2, invalid=0.3, reason=0)
    for each, game in zip(trained, wanted, strict=True):
        attempts, expected = (one.attempts_of(each.start.mark) for one in (each.game, game))
        assert each.game.moves == game.moves
        assert (each.game.outcome, each.game.termination) == (game.outcome, game.termination)
        for mine, its in zip(attempts, expected, strict=True):
            assert (mine.reply, mine.verdict, mine.square) == (its.reply, its.verdict, its.square)
            assert (mine.prompt, mine.seed) == (its.prompt, its.seed)
            assert (mine.contains, mine.exact) == (its.contains, its.exact)
        parts = reward(game, each.start.mark, check=Check.EXACT, weights=WEIGHTS)
        assert score(each, worth)[:3] == tuple(parts)
    assert set(ends(wanted)) == {"line", "full_board", "forfeit_invalid", "forfeit_truncated"}
