"""The chat that a game becomes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.board import Mark
from arena.game import Attempt, Game, Message, Turn, Verdict
from models.library import BLIND, MOVE_ONLY, SHIPPED, TAGS
from models.prompt import History, ReasoningHistory, messages

INVALID = [verdict for verdict in Verdict if verdict is not Verdict.OK]


def attempt(reply, verdict=Verdict.OK, square=None, reasoning=None):
    if verdict is Verdict.OCCUPIED and square is None:
        square = 4
    return Attempt((), reply, verdict, square, False, False, reasoning=reasoning)


@st.composite
def replies(draw):
    """Some invalid replies, blank ones among them."""
    texts = st.sampled_from(["", " \n", "no", "<think>x</think>", "\ud83d", "\x00"])
    found = draw(st.lists(st.tuples(texts, st.sampled_from(INVALID)), max_size=3))
    return tuple(attempt(text, verdict, reasoning="hm") for text, verdict in found)


@st.composite
def games(draw):
    """An unfinished game in which each move of either side came after some invalid replies."""
    game = Game(draw(st.sampled_from(Mark)), seed=draw(st.integers(0, 9)))
    for _ in range(draw(st.integers(0, 8))):
        safe = [s for s in game.board.free if game.board.after(s).outcome is None]
        if not safe:
            break
        square = draw(st.sampled_from(safe))
        ok = attempt(f"<move>{square}</move>", square=square)
        game.add(Turn(game.to_move, square, (*draw(replies()), ok)))
    return game


FORMS = st.sampled_from(list(SHIPPED.values()))


@given(game=games(), now=replies(), form=FORMS, history=st.sampled_from(History))
def test_a_chat_alternates_and_ends_with_the_user(game, now, form, history):
    chat = messages(game, game.to_move, now, form, history)
    roles = [message.role for message in chat]
    assert roles[0] == "system"
    assert roles[1:] == ["user", "assistant"] * (len(roles) // 2 - 1) + ["user"]
    assert all(message.content.strip() and message.reasoning is None for message in chat)
    "".join(message.content for message in chat).encode()


@given(game=games(), now=replies(), form=FORMS)
def test_full_history_sends_every_reply_back_verbatim(game, now, form):
    chat = messages(game, game.to_move, now, form)
    own = [a for turn in game.turns if turn.mark is game.to_move for a in turn.attempts]
    said = [a.reply.replace("\ud83d", "\ufffd") for a in (*own, *now) if a.reply.strip()]
    assert [message.content for message in chat if message.role == "assistant"] == said


@given(game=games(), now=replies(), form=FORMS)
def test_board_history_depends_on_this_turn_alone(game, now, form):
    mark = game.to_move
    bare = Game(game.opener, turns=[Turn(turn.mark, turn.square) for turn in game.turns])
    chat = messages(game, mark, now, form, History.BOARD)
    assert chat == messages(bare, mark, now, form, History.BOARD)
    replied = [message for message in chat if message.role == "assistant"]
    assert len(replied) == sum(bool(a.reply.strip()) for a in now)


@given(game=games(), form=FORMS, history=st.sampled_from(History))
def test_a_turn_that_nobody_recorded_still_alternates(game, form, history):
    bare = Game(game.opener, turns=[Turn(turn.mark, turn.square) for turn in game.turns])
    roles = [message.role for message in messages(bare, bare.to_move, (), form, history)]
    assert roles == ["system", "user"]


def test_separate_thinking_goes_back_only_where_the_entry_says_so():
    game = Game()
    game.add(Turn(Mark.X, 4, (attempt("<move>4</move>", square=4, reasoning="Centre."),)))
    game.add(Turn(Mark.O, 0))
    dropped = messages(game, Mark.X, (), TAGS)
    kept = messages(game, Mark.X, (), TAGS, History.FULL, ReasoningHistory.KEEP)
    assert dropped[2] == Message("assistant", "<move>4</move>")
    assert kept[2] == Message("assistant", "<move>4</move>", "Centre.")
    assert len(dropped) == len(kept)


def test_the_default_format_says_what_a_player_needs():
    game = Game(Mark.O)
    game.add(Turn(Mark.O, 4))
    system, user = messages(game, Mark.X, (), TAGS)
    assert "You are X and your opponent is O; O moves first." in system.content
    assert "<think>your thinking</think><move>number</move>" in system.content
    assert "took square 4" in user.content
    assert "0 | 1 | 2\n---------\n3 | O | 5\n---------\n6 | 7 | 8" in user.content
    assert "Free squares: 0, 1, 2, 3, 5, 6, 7, 8" in user.content


def test_the_other_shipped_formats():
    game = Game(turns=[Turn(Mark.X, 4), Turn(Mark.O, 0)])
    assert "think" not in "".join(m.content for m in messages(game, Mark.X, (), MOVE_ONLY))
    blind = messages(game, Mark.X, (), BLIND, History.BOARD)
    assert "The moves so far: X 4, O 0." in blind[1].content
    assert "|" not in "".join(message.content for message in blind)


@pytest.mark.parametrize("verdict", INVALID)
def test_each_kind_of_invalid_reply_is_answered_in_words_of_its_own(verdict):
    game = Game(turns=[Turn(Mark.X, 4)])
    feedback = messages(game, Mark.O, [attempt("no", verdict)], TAGS)[-1].content
    others = [
        messages(game, Mark.O, [attempt("no", other)], TAGS)[-1].content
        for other in INVALID
        if other is not verdict
    ]
    assert feedback not in others
    assert "{" not in feedback
    assert ("square 4 is taken" in feedback) is (verdict is Verdict.OCCUPIED)


def test_an_empty_reply_is_left_out_and_its_feedback_joins_the_question():
    _, user = messages(Game(), Mark.X, [attempt("", Verdict.EMPTY)], TAGS)
    assert user.content.startswith("The board is empty and you move first.")
    assert user.content.endswith("<move>number</move>")
    assert "your reply was empty" in user.content


def test_hashes_are_pinned():
    """A stored game names its format by this hash: a change of words must change it, and no
    change of the code may."""
    assert {form.name: form.hash for form in SHIPPED.values()} == {
        "tags": "3f2e8aef8b56",
        "move-only": "100f0e90f94f",
        "blind": "d088fff6795c",
    }
    assert TAGS.model_copy(update={"invalid": "No."}).hash != TAGS.hash
