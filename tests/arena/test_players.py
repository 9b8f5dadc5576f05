"""Who can take a seat: engines and people; a model's player has tests of its own."""

from hypothesis import given
from hypothesis import strategies as st

from arena.board import Mark
from arena.game import Game, Turn
from arena.opponents import parse
from arena.players import NOT_YET, Decision, EnginePlayer, Identity, Kind, Person
from tests.arena.samples import lines_of_play


def test_an_engine_s_decision_is_its_choice_and_nothing_else() -> None:
    engine = parse("minimax:tie=trap,epsilon=0.5")
    player = EnginePlayer(engine)
    for seed in range(50):
        game = Game(seed=seed, turns=[Turn(Mark.X, 4)])
        decision = player.decide(game)
        assert decision == Decision(engine.choose(game.board, game.salt))
        assert player.decide(game) == decision
        assert game == Game(seed=seed, turns=[Turn(Mark.X, 4)])


@given(lines_of_play(), st.integers(0, 1000))
def test_an_engine_holds_no_state_of_a_game(played: tuple[Mark, list[int]], seed: int) -> None:
    """A fresh player that meets the board for the first time answers as one that played on."""
    opener, moves = played
    used, game = EnginePlayer(parse("random")), Game(opener, seed)
    for square in moves:
        used.decide(game)
        game.add(Turn(game.to_move, square))
    if game.outcome is None:
        assert used.decide(game) == EnginePlayer(parse("random")).decide(game)


def test_identities() -> None:
    assert EnginePlayer(parse("minimax:tie=s0")).identity == Identity(
        Kind.ENGINE, "minimax:tie=first", deterministic=True
    )
    assert EnginePlayer(parse("minimax")).identity == Identity(Kind.ENGINE, "minimax")
    assert EnginePlayer(parse("random")).identity.deterministic is False
    assert Person("Ada").identity == Identity(Kind.HUMAN, "Ada")


async def test_a_person_takes_the_moves_in_order_and_then_is_awaited() -> None:
    person, game = Person("Ada", (4, 0)), Game()
    assert [await person.decide(game) for _ in range(3)] == [Decision(4), Decision(0), NOT_YET]
    assert NOT_YET.square is None
    assert NOT_YET.termination is None
    assert await Person().decide(game) is NOT_YET
