"""Many games at once, with the policy at the arena's own table."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

from arena.board import Mark  # noqa: E402
from arena.game import Termination, Verdict  # noqa: E402
from arena.opponents import parse  # noqa: E402
from models.library import TAGS  # noqa: E402
from models.prompt import messages  # noqa: E402
from models.reply import read  # noqa: E402
from models.training.lessons import lesson, reply  # noqa: E402
from models.training.network import Network  # noqa: E402
from models.training.rollouts import Played, play  # noqa: E402
from models.training.sampling import sample  # noqa: E402
from models.training.starts import Start  # noqa: E402
from models.training.supervised import loss_of  # noqa: E402
from models.training.tokens import decode, encode, prompt_text  # noqa: E402

STARTS = [
    Start(opponent, mark, opener, seed, forced)
    for opponent in ("minimax", "random", "minimax:tie=first,epsilon=0.25")
    for mark in Mark
    for opener in Mark
    for seed, forced in ((1, ()), (2, (4, 0)))
]


def played(network: Network, seed: int = 0, max_replies: int = 8) -> list[Played]:
    generator = torch.Generator().manual_seed(seed)
    draw = partial(sample, network, generator=generator, max_tokens=12)
    return play(draw, STARTS, max_replies=max_replies)


@pytest.fixture
def talker(network: Network) -> Network:
    """A network that has learnt to name squares, free ones or not."""
    optimiser = torch.optim.Adam(network.parameters(), 5e-3)
    games = [start.game() for start in STARTS]
    chats = [messages(game, game.to_move, (), TAGS) for game in games]
    wanted = [lesson(chat, reply(TAGS, "hm", n)) for chat in chats[:4] for n in range(9)]
    for _ in range(60):
        total, _, count = loss_of(network, wanted)
        optimiser.zero_grad()
        (total / count).backward()
        optimiser.step()
    return network


def test_games_are_whole_and_their_replies_are_those_of_the_samples(talker: Network) -> None:
    games = played(talker)
    assert [each.start for each in games] == STARTS
    assert any(turn.mark is each.start.mark for each in games for turn in each.game.turns)
    for each in games:
        attempts = each.game.attempts_of(each.start.mark)
        assert each.game.outcome is not None
        assert each.game.moves[: len(each.start.forced)] == each.start.forced
        assert [decode(s.completion) for s in each.samples] == [a.reply for a in attempts]
        assert [encode(prompt_text(a.prompt)) for a in attempts] == [s.prompt for s in each.samples]
        assert [s.ended for s in each.samples] == [a.finish_reason == "stop" for a in attempts]


def test_opponents_reply_by_seed_opener_and_board(talker: Network) -> None:
    for each in played(talker):
        board = each.start._replace(forced=()).game().board
        for ply, turn in enumerate(each.game.turns):
            if turn.mark is not each.start.mark and ply >= len(each.start.forced):
                assert turn.square == parse(each.start.opponent).choose(board, each.game.salt)
            board = board.after(turn.square)


def test_replies_are_read_as_the_arena_reads_them(talker: Network) -> None:
    verdicts = set()
    for each in played(talker):
        board = each.start._replace(forced=()).game().board
        for turn in each.game.turns:
            for attempt in turn.attempts:
                found = read({"content": attempt.reply}, attempt.finish_reason, TAGS.answer, board)
                assert (found.verdict, found.exact) == (attempt.verdict, attempt.exact)
                verdicts.add(found.verdict)
            board = board.after(turn.square)
    assert {Verdict.OK, Verdict.OCCUPIED} <= verdicts


def test_the_same_generator_gives_the_same_games(talker: Network) -> None:
    one, same, other = played(talker, 1), played(talker, 1), played(talker, 2)
    assert [each.game.moves for each in one] == [each.game.moves for each in same]
    assert [each.samples for each in one] == [each.samples for each in same]
    assert [each.samples for each in one] != [each.samples for each in other]


def test_a_policy_that_never_names_a_square_forfeits(network: Network) -> None:
    for each in played(network, max_replies=3):
        if each.samples:
            assert each.game.termination in (
                Termination.FORFEIT_INVALID,
                Termination.FORFEIT_TRUNCATED,
            )
            assert len(each.samples) == 3
