"""A run plays each cell once, whatever an endpoint does meanwhile."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from arena.board import Mark, Outcome
from arena.control import Began, CellGame, Control, Down, Event, Moved, State, Stored, Up
from arena.evaluation import Ended, run
from arena.game import Attempt, Game, Message, Request, Termination, Turn, Verdict
from arena.lanes import LONGEST_PAUSE_S, VOID_IN_A_ROW
from arena.opponents import parse
from arena.plan import Cell, Numbers, Plan
from arena.players import Decision, EnginePlayer, Identity, Kind, Person, Player

PLAN = Plan(("random", "minimax:epsilon=0.5"), games=6, seed=40)
FAULT = Decision(
    None,
    termination=Termination.PROVIDER_ERROR,
    requests=(Request(503, 0.1, {}, "the server is busy"),),
)
OUTGROWN = replace(FAULT, termination=Termination.CONTEXT_EXCEEDED)
Script = Callable[[Game, int], Decision | None]
"""What a player does instead of a move, by the game and the number of times it was asked."""


class Faulty:
    """Moves like an engine, after a while, except where a script says otherwise."""

    def __init__(self, script: Script | None = None, name: str = "faulty") -> None:
        self.identity = Identity(Kind.MODEL, name)
        self.asked = 0
        self._script = script or (lambda game, asked: None)
        self._engine = EnginePlayer(parse("random"))
        self._chance = random.Random(0)

    async def decide(self, game: Game) -> Decision:
        self.asked += 1
        asked = self.asked
        for _ in range(self._chance.randrange(4)):
            await asyncio.sleep(0)
        decision = self._script(game, asked)
        return decision or self._engine.decide(game)


@dataclass
class Kept:
    """What a run stored and said."""

    games: list[CellGame] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    naps: list[float] = field(default_factory=list)

    async def keep(self, games: Sequence[CellGame]) -> None:
        await asyncio.sleep(0)
        self.games += games

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        await asyncio.sleep(0)

    def cells(self, void: bool = False, player: int = 0) -> Counter[Cell]:
        return Counter(
            g.cell
            for g in self.games
            if g.player == player and (g.game.outcome is Outcome.VOID) is void
        )

    def done(self, plan: Plan, player: int = 0) -> Numbers:
        """As storage would say it."""
        numbers = Numbers(len(plan))
        cells = {
            g.cell
            for g in self.games
            if g.player == player and g.game.termination is not Termination.PROVIDER_ERROR
        }
        for number, cell in enumerate(plan):
            if cell in cells:
                numbers.add(number)
        return numbers

    def of(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


async def until(happened: Callable[[], bool]) -> None:
    while not happened():  # noqa: ASYNC110 - any turn of the loop may bring it
        await asyncio.sleep(0)


async def go(
    kept: Kept,
    *players: Player,
    plan: Plan = PLAN,
    concurrency: int = 4,
    control: Control | None = None,
) -> Ended:
    return await asyncio.wait_for(
        run(
            plan,
            players,
            [kept.done(plan, place) for place in range(len(players))],
            kept.keep,
            concurrency=concurrency,
            control=control,
            on_event=kept.events.append,
            sleep=kept.sleep,
        ),
        timeout=30,
    )


@pytest.mark.parametrize("concurrency", [1, 3, 200])
async def test_every_cell_is_played_once_and_stored(concurrency: int) -> None:
    kept = Kept()
    assert await go(kept, Faulty(), concurrency=concurrency) == (State.FINISHED, "", 0)
    assert kept.cells() == Counter(PLAN)
    for played in kept.games:
        assert (played.game.opener, played.game.seed) == (played.cell.opener, played.cell.seed)
        assert played.game.outcome is not None
    moves = sum(len(played.game.turns) for played in kept.games)
    assert [len(kept.of(kind)) for kind in (Began, Moved, Stored)] == [24, moves, 24]


async def test_players_sit_where_their_cells_say() -> None:
    """Minimax never loses to random: so who won says who sat where."""
    kept = Kept()
    plan = Plan(("random",), games=30, mark=Mark.O)
    await go(kept, EnginePlayer(parse("minimax")), plan=plan)
    assert all(played.game.outcome in (Outcome.O, Outcome.DRAW) for played in kept.games)
    assert {played.game.opener for played in kept.games} == set(Mark)


async def test_only_what_is_missing_is_played() -> None:
    kept, control = Kept(), Control()

    def stop_after_ten(event: Event) -> None:
        if isinstance(event, Stored) and len(kept.games) >= 10:
            control.stop()

    done = [Numbers(len(PLAN))]
    ended = await run(
        PLAN, [Faulty()], done, kept.keep, concurrency=3, control=control, on_event=stop_after_ten
    )
    assert ended.state is State.STOPPED
    assert 10 <= len(kept.games) < 20
    assert control.in_flight == {}
    grown = Plan(PLAN.opponents, games=9, seed=40)
    assert (await go(kept, Faulty(), plan=grown)).state is State.FINISHED
    assert kept.cells() == Counter(grown)
    before = len(kept.games)
    assert (await go(kept, Faulty(), plan=grown)).state is State.FINISHED
    assert len(kept.games) == before


async def test_the_same_seed_gives_the_same_games_in_any_order() -> None:
    """Replies of the opponents depend on (seed, board) alone; the players here are engines too."""

    async def moves(concurrency: int) -> dict[Cell, tuple[int, ...]]:
        kept = Kept()
        await go(kept, Faulty(), concurrency=concurrency)
        return {played.cell: played.game.moves for played in kept.games}

    assert await moves(1) == await moves(5) == await moves(64)


async def test_rollouts_of_a_cell_meet_the_same_replies() -> None:
    kept = Kept()
    await go(kept, Faulty(), plan=Plan(("random",), games=4, rollouts=3))
    assert kept.cells() == Counter(Plan(("random",), games=4, rollouts=3))
    assert {(g.game.rollout, g.cell.rollout) for g in kept.games} == {(r, r) for r in range(3)}
    replies: dict[object, int] = {}
    for played in kept.games:
        game = Game(played.cell.opener, played.cell.seed)
        for turn in played.game.turns:
            if turn.mark is not played.cell.mark:
                known = replies.setdefault((played.cell.seed, game.board), turn.square)
                assert known == turn.square
            game.add(Turn(turn.mark, turn.square))


async def test_a_void_game_is_played_again_at_the_end() -> None:
    kept = Kept()
    assert await go(kept, Faulty(lambda game, asked: FAULT if asked in (3, 30) else None)) == (
        State.FINISHED,
        "",
        0,
    )
    assert kept.cells() == Counter(PLAN)
    assert sorted(kept.cells(void=True).values()) == [1, 1]
    assert {g.cell for g in kept.games[-2:]} == set(kept.cells(void=True))
    assert kept.of(Down) == []


async def test_a_game_that_is_void_twice_stays_void_until_a_later_run() -> None:
    bad = (PLAN.cell(0).seed + 2, Mark.X)

    def script(game: Game, asked: int) -> Decision | None:
        return FAULT if game.seed == bad[0] and game.to_move is bad[1] else None

    kept = Kept()
    ended = await go(kept, Faulty(script), concurrency=1)
    assert ended == (State.FINISHED, "", 2)
    assert sorted(kept.cells(void=True).values()) == [2, 2]
    assert (await go(kept, Faulty())).void == 0
    assert kept.cells() == Counter(PLAN)


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_an_outage_pauses_until_the_endpoint_is_back(concurrency: int) -> None:
    kept = Kept()
    player = Faulty(lambda game, asked: FAULT if 20 <= asked < 45 else None)
    ended = await go(kept, player, concurrency=concurrency)
    assert ended == (State.FINISHED, "", 0)
    assert kept.cells() == Counter(PLAN)
    downs = kept.of(Down)
    assert isinstance(downs[0], Down)
    assert "faulty: 5 games in a row were void: the server is busy" in downs[0].message
    assert len(kept.of(Up)) == 1
    # Each pause is twice as long, and only one game is played after each.
    assert kept.naps == [min(5.0 * 2**n, LONGEST_PAUSE_S) for n in range(len(kept.naps))]
    assert len(downs) == len(kept.naps) <= 25 - VOID_IN_A_ROW + 1


async def test_pauses_grow_to_a_limit_and_a_stop_ends_them() -> None:
    kept, control = Kept(), Control()

    def event(event: Event) -> None:
        kept.events.append(event)
        if len(kept.naps) == 12:
            assert control.down.keys() == {0}
            control.stop()

    ended = await asyncio.wait_for(
        run(
            PLAN,
            [Faulty(lambda game, asked: FAULT)],
            [Numbers(len(PLAN))],
            kept.keep,
            concurrency=2,
            control=control,
            on_event=event,
            sleep=kept.sleep,
        ),
        timeout=30,
    )
    assert ended.state is State.STOPPED
    assert max(kept.naps) == LONGEST_PAUSE_S
    assert kept.cells() == {}


async def test_a_small_plan_at_a_dead_endpoint_does_not_finish() -> None:
    kept, control = Kept(), Control()
    plan = Plan(("random",), games=2)
    task = asyncio.create_task(
        go(kept, Faulty(lambda game, asked: FAULT), plan=plan, control=control)
    )
    await until(lambda: bool(control.down))
    control.stop()
    assert (await task).state is State.STOPPED


async def test_one_players_outage_does_not_hold_up_the_other() -> None:
    kept, control = Kept(), Control()
    bad = Faulty(lambda game, asked: FAULT, "bad")

    async def forever(seconds: float) -> None:
        await asyncio.Event().wait()

    def event(event: Event) -> None:
        kept.events.append(event)
        if isinstance(event, Stored) and sum(kept.cells(player=1).values()) == len(PLAN):
            control.stop()

    done = [Numbers(len(PLAN)), Numbers(len(PLAN))]
    ended = await asyncio.wait_for(
        run(
            PLAN,
            [bad, Faulty(name="good")],
            done,
            kept.keep,
            concurrency=2,
            control=control,
            on_event=event,
            sleep=forever,
        ),
        timeout=30,
    )
    assert ended.state is State.STOPPED
    assert kept.cells(player=1) == Counter(PLAN)
    assert kept.of(Down)[0][0] == 0
    assert VOID_IN_A_ROW <= sum(kept.cells(void=True).values()) <= VOID_IN_A_ROW + 1


async def test_several_players_share_the_run() -> None:
    kept = Kept()
    await go(kept, Faulty(name="a"), Faulty(name="b"), concurrency=5)
    assert kept.cells(player=0) == kept.cells(player=1) == Counter(PLAN)
    first_half = Counter(played.player for played in kept.games[: len(PLAN)])
    assert min(first_half.values()) > len(PLAN) // 4


async def test_a_game_that_outgrows_the_context_is_not_played_again() -> None:
    """Not even many in a row say anything against the endpoint."""
    kept = Kept()
    ended = await go(
        kept, Faulty(lambda game, asked: OUTGROWN if said(game) else None), concurrency=1
    )
    assert ended == (State.FINISHED, "", 0)
    assert set(kept.cells(void=True).values()) == {1}
    assert len(kept.games) == len(PLAN)
    assert kept.of(Down) == []


def said(game: Game) -> bool:
    """Whether the player to move has replied before; the first time, it is noted."""
    mark = game.to_move
    if any(turn.mark is mark for turn in game.turns):
        last = max(ply for ply, turn in enumerate(game.turns) if turn.mark is mark)
        prompt = (Message("user", "?"),)
        reply = Attempt(prompt, "", Verdict.OK, None, contains=True, exact=True)
        game.turns[last] = game.turns[last]._replace(attempts=(reply,))
        return True
    return False


async def test_a_first_turn_that_does_not_fit_stops_the_run() -> None:
    kept = Kept()
    ended = await go(kept, Faulty(lambda game, asked: OUTGROWN))
    assert ended.state is State.FAILED
    assert "faulty: not even the first turn fits the model's context: " in ended.message
    assert len(kept.games) <= 4


async def test_a_fatal_fault_stops_the_run_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("arena.evaluation.GRACE_S", 0.01)
    kept, control = Kept(), Control()

    class Refused(Faulty):
        async def decide(self, game: Game) -> Decision:
            if self.asked == 30:
                self.asked += 1
                control.fail("the key is refused")
                control.fail("and again")
                return FAULT
            if self.asked > 30:
                await asyncio.Event().wait()
            return await super().decide(game)

    ended = await go(kept, Refused(), control=control)
    assert ended.state is State.FAILED
    assert ended.message == "the key is refused"
    assert sum(kept.cells(void=True).values()) == 1
    assert 24 > sum(kept.cells().values()) == len(kept.of(Stored)) - 1


async def test_pause_and_resume() -> None:
    kept, control = Kept(), Control()
    task = asyncio.create_task(go(kept, Faulty(), control=control, concurrency=2))
    await until(lambda: len(kept.games) >= 4)
    control.pause()
    await until(lambda: not control.in_flight)
    stored = len(kept.games)
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(kept.games) <= stored + 2
    assert len(kept.of(Began)) == len(kept.games) < len(PLAN)
    control.resume()
    assert (await task).state is State.FINISHED
    assert kept.cells() == Counter(PLAN)


@pytest.mark.parametrize("how", ["stop_now", "cancel"])
async def test_at_once_loses_the_games_in_flight_and_nothing_else(how: str) -> None:
    kept, control = Kept(), Control()
    hang = asyncio.Event()

    class Slow(Faulty):
        async def decide(self, game: Game) -> Decision:
            if len(kept.of(Stored)) >= 5:
                await hang.wait()
            return await super().decide(game)

    task = asyncio.create_task(go(kept, Slow(), control=control, concurrency=3))
    await until(lambda: len(control.in_flight) == 3 and len(kept.of(Stored)) >= 5)
    if how == "cancel":
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        control.stop_now()
        assert (await task).state is State.STOPPED
    assert control.in_flight == {}
    assert len(kept.of(Stored)) == len(kept.games)
    assert set(kept.cells().values()) == {1}


async def test_a_run_ends_where_games_cannot_be_stored() -> None:
    async def keep(games: Sequence[CellGame]) -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        await asyncio.wait_for(
            run(PLAN, [Faulty()], [Numbers(len(PLAN))], keep, concurrency=3), timeout=30
        )


async def test_a_fault_of_a_player_is_raised_and_what_is_finished_is_stored() -> None:
    class Broken(Faulty):
        async def decide(self, game: Game) -> Decision:
            return Decision(9) if self.asked > 40 else await super().decide(game)

    kept = Kept()
    with pytest.raises(Exception, match="free square"):
        await go(kept, Broken())
    assert 0 < len(kept.games) < len(PLAN)


async def test_who_cannot_be_evaluated() -> None:
    with pytest.raises(ValueError, match="no persons"):
        await go(Kept(), Person("Ann"))
