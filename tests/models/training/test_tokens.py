"""What our own checkpoints see of a chat."""

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import Mark
from arena.game import Attempt, Game, Message, Turn, Verdict
from models.library import SHIPPED
from models.prompt import History, messages
from models.training.tokens import END, END_ID, REPLY, TEMPLATE, TOKENS, decode, encode, prompt_text

RENDER = jinja2.Environment(autoescape=False).from_string(TEMPLATE).render


def rendered(chat: tuple[Message, ...]) -> str:
    return RENDER(messages=[each._asdict() for each in chat], add_generation_prompt=True)


def invalid(verdict: Verdict, reply: str) -> Attempt:
    return Attempt((), reply, verdict, 0 if verdict is Verdict.OCCUPIED else None, False, False)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Game, list[Attempt]]:
    """A game in which a model is to move, and its invalid replies so far."""
    game = Game(opener=draw(st.sampled_from(Mark)))
    for _ in range(draw(st.integers(0, 8))):
        free = [s for s in game.board.free if game.board.after(s).outcome is None]
        if not free:
            break
        made = Attempt((), "<move>0</move>", Verdict.OK, 0, False, False)
        game.add(Turn(game.to_move, draw(st.sampled_from(free)), (made,)))
    reply = st.sampled_from(["", "<think>win 3</think><move>3</move>", "0 | X | 2\n---------\n"])
    verdicts = st.sampled_from([each for each in Verdict if each is not Verdict.OK])
    return game, draw(st.lists(st.builds(invalid, verdicts, reply), max_size=3))


@given(asked(), st.sampled_from(["tags", "move-only"]), st.sampled_from(History))
def test_the_model_sees_its_mark_the_board_and_its_retries(
    asked: tuple[Game, list[Attempt]], form: str, history: History
) -> None:
    game, attempts = asked
    chat = messages(game, game.to_move, attempts, SHIPPED[form], history)
    signs = {game.to_move: "<+{}>", game.to_move.other: "<-{}>", None: "{}"}
    board = "".join(signs[mark].format(s) for s, mark in enumerate(game.board.squares))
    expected = f"{board}{'!' * len(attempts)}{REPLY}"
    assert prompt_text(chat) == expected
    assert len(encode(expected)) == 10 + len(attempts)


@given(asked(), st.sampled_from(list(SHIPPED)), st.sampled_from(History))
def test_the_template_says_the_same(
    asked: tuple[Game, list[Attempt]], form: str, history: History
) -> None:
    game, attempts = asked
    chat = messages(game, game.to_move, attempts, SHIPPED[form], history)
    assert rendered(chat) == prompt_text(chat)


@given(asked())
def test_where_the_system_message_stands_does_not_matter(
    asked: tuple[Game, list[Attempt]],
) -> None:
    game, attempts = asked
    system, first, *rest = messages(game, game.to_move, attempts, SHIPPED["tags"])
    merged = (Message("user", f"{system.content}\n{first.content}"), *rest)
    assert prompt_text(merged) == prompt_text((system, first, *rest)) == rendered(merged)


@given(st.lists(st.text(max_size=40), max_size=4))
def test_a_chat_without_a_board_is_shown_whole(texts: list[str]) -> None:
    chat = tuple(Message("user", text) for text in texts)
    assert prompt_text(chat) == rendered(chat)


@given(st.text(max_size=60))
def test_text_survives(text: str) -> None:
    ids = encode(text)
    assert all(0 <= each < len(TOKENS) for each in ids)
    if END not in text and REPLY not in text:
        assert decode(ids) == text.encode("utf-8", "replace").decode()


def test_a_reply_is_eight_tokens_with_its_end() -> None:
    ids = encode(f"<think>stop-fork 5</think><move>5</move>{END}")
    assert len(ids) == 8
    assert ids[-1] == END_ID
    assert decode(ids) == "<think>stop-fork 5</think><move>5</move>"


@pytest.mark.parametrize("raw", [(0xFF,), (0xE2, 0x82)])
def test_bytes_that_are_no_text_are_replaced(raw: tuple[int, ...]) -> None:
    assert decode(raw) == "\ufffd"
