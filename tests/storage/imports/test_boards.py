"""The board followed through a chat: told right it comes back, told wrongly nobody believes it."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.board import Mark, board_of, play_out
from arena.errors import RulesError
from storage.imports.boards import Followed, Unfollowed, follow
from tests.storage.imports.chats import (
    ANSWERS,
    NUMBERED,
    PLAIN,
    SILENT,
    UNNUMBERED,
    games,
    tellings,
)

X, O = Mark  # noqa: E741 - the game's own names
DRAWN = [4, 0, 8, 2, 1, 7, 5, 3, 6]
"""X opens; nobody wins."""
LOST = [4, 0, 1, 2, 7]
"""X opens and has a column."""


def positions(found: Followed):
    """The boards of the game that was found, the empty one too."""
    return [(None,) * 9, *(b.squares for b in play_out(found.moves, found.opener))]


def draws_in_order(boards, seen):
    """Whether boards are among positions, none before the one before."""
    at = 0
    for board in boards:
        if board not in seen[at:]:
            return False
        at = seen.index(board, at)
    return True


@given(games(), tellings())
def test_a_game_that_is_told_is_followed_exactly(game, telling):
    squares, opener = game
    chat = telling.tell(squares, opener)
    assume(chat.boards)
    found = follow(chat.messages)
    own_drawn = sum(
        mark is telling.mark for mark in max(chat.boards.values(), key=lambda b: sum(map(bool, b)))
    )
    counted = telling.draw in NUMBERED or telling.lists
    if isinstance(found, Unfollowed):
        # Only where the chat is too short to say who is who.
        assert not found.contradicts
        assert not telling.seats
        assert own_drawn == 0 or not counted
        return
    assert isinstance(found, Followed)
    assert (found.opener, found.mark) == (opener, telling.mark)
    known = counted or own_drawn > 0 or not chat.unseen
    wanted = chat.moves if known else chat.moves[:-1]
    assert list(found.moves) == wanted


@given(games(), tellings(), st.data())
def test_what_is_believed_is_what_is_drawn(game, telling, data):
    """Another mark on one square of one board: mostly that cannot be, and where it can, the game
    that is found is the one that is drawn.
    """
    squares, opener = game
    chat = telling.tell(squares, opener)
    assume(chat.boards)
    place = data.draw(st.sampled_from(sorted(chat.boards)))
    square = data.draw(st.integers(0, 8))
    was = chat.boards[place]
    mark = data.draw(st.sampled_from([each for each in (None, X, O) if each is not was[square]]))
    now = (*was[:square], mark, *was[square + 1 :])
    found = follow(telling.redraw(chat, place, now))
    if not isinstance(found, Followed):
        return
    drawn = [now if at == place else board for at, board in chat.boards.items()]
    assert draws_in_order(drawn, positions(found))
    if telling.lists and telling.seats:
        # Beside the board stands what is true: only a move that was refused may be drawn so.
        assert found.moves == tuple(chat.moves[: len(found.moves)])


@given(games(), st.data())
def test_two_squares_that_changed_places_are_not_believed(game, data):
    """No mark more and none less: the lists and the replies tell it all the same."""
    squares, opener = game
    chat = PLAIN.tell(squares, opener)
    assume(chat.boards)
    place = data.draw(st.sampled_from(sorted(chat.boards)))
    one, other = data.draw(st.permutations(range(9)))[:2]
    now = list(chat.boards[place])
    assume(now[one] is not now[other])
    now[one], now[other] = now[other], now[one]
    found = follow(PLAIN.redraw(chat, place, now))
    if isinstance(found, Followed):
        # The order of two moves between two boards is the rules' to say, and so is the end.
        board = board_of(now, opener)
        assert board.outcome is not None
        assert tuple(now) in positions(found)


@given(st.text(), st.text())
def test_any_text_is_survived(question, reply):
    chat = [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]
    assert follow(chat) is None
    follow([{"role": "user", "content": f"tic-tac-toe\n...\n...\n...\n{question}"}, *chat])


@pytest.mark.parametrize("draw", [*NUMBERED, *UNNUMBERED], ids=range(9))
@pytest.mark.parametrize("answer", ANSWERS, ids=range(5))
@pytest.mark.parametrize("base", [0, 1])
def test_every_form(draw, answer, base):
    telling = replace(SILENT, draw=draw, answer=answer, base=base)
    assert follow(telling.tell(DRAWN).messages) == Followed(X, X, tuple(DRAWN))
    telling = replace(telling, mark=O, ends=False)
    # The opponent's last move is in no message, and so is not known.
    assert follow(telling.tell(DRAWN).messages) == Followed(X, O, tuple(DRAWN[:-1]))


def user(text):
    return {"role": "user", "content": text}


def says(text):
    return {"role": "assistant", "content": text}


def test_the_rewards_and_words_of_a_win_are_not_believed():
    chat = PLAIN.tell(DRAWN[:4]).messages
    chat = [*chat, says("<move>1</move>"), user("You win! The game is over.")]
    assert follow(chat) == Followed(X, X, (4, 0, 8, 2, 1))


def test_a_move_out_of_unclosed_thinking_that_the_environment_took():
    chat = replace(PLAIN, answer=lambda n: f"<think>\nI take {n}.\n\n<move>{n}</move>", ends=False)
    assert follow(chat.tell(DRAWN).messages) == Followed(X, X, tuple(DRAWN))
    # Where nothing shows how the environment reads, it is no answer.
    assert follow(chat.tell(DRAWN[:1]).messages[:3]) == Followed(X, X, ())


def test_an_environment_that_takes_the_first_number_it_finds():
    drafts = replace(PLAIN, answer=lambda n: f"<move>{n}</move> or <move>{8 - n}</move>")
    for squares in (DRAWN[:1], DRAWN[:3], DRAWN[:5]):
        found = follow(drafts.tell(squares).messages)
        # Once a board has shown it, the last reply may name either.
        known = squares if len(squares) == 1 else squares[:-1]
        assert found == Followed(X, X, tuple(known))
    plain = [*drafts.tell(DRAWN[:4]).messages, says("<move>1</move>")]
    assert follow(plain) == Followed(X, X, tuple(DRAWN[:5]))


def test_a_reply_that_was_refused_once_is_not_taken_for_a_move_at_the_end():
    shown = PLAIN.tell(DRAWN[:2]).messages
    again = [*shown, says("<move>8</move>"), shown[-1], says("<move>8</move>")]
    assert follow(again) == Followed(X, X, (4, 0))


def test_feedback_without_a_board():
    telling = replace(PLAIN, answer=ANSWERS[1])
    chat = telling.tell(DRAWN[:4]).messages
    at = next(i for i, each in enumerate(chat) if each["role"] == "assistant")
    slip = [says("<move>12</move>"), user("That is not a valid move. It is still your turn.")]
    assert follow([*chat[:at], *slip, *chat[at:]]) == Followed(X, X, tuple(DRAWN[:4]))


def test_the_board_after_each_of_both_moves():
    draw = PLAIN.draw
    boards = [(None,) * 9, *(board.squares for board in play_out(LOST))]
    chat = [user(f"tic-tac-toe, you are X\n{draw(boards[0], 0)}"), says("<move>4</move>")]
    chat += [user(f"Yours:\n{draw(boards[1], 0)}\nMine:\n{draw(boards[2], 0)}")]
    chat += [says("<move>1</move>"), user(draw(boards[3], 0)), user(draw(boards[4], 0))]
    assert follow([*chat, says("<move>7</move>")]) == Followed(X, X, tuple(LOST))


def test_a_tool_that_moves():
    call = {"role": "assistant", "content": "", "tool_calls": [{"name": "move"}]}
    chat = [call if m["role"] == "assistant" else m for m in PLAIN.tell(DRAWN).messages]
    assert follow(chat) == Followed(X, X, tuple(DRAWN))


def test_content_in_parts():
    chat = [
        {**m, "content": [{"type": "text", "text": m["content"]}, {"type": "image_url"}, None]}
        for m in PLAIN.tell(LOST).messages
    ]
    assert follow(chat) == Followed(X, X, tuple(LOST))


def contradiction(messages):
    found = follow(messages)
    assert isinstance(found, Unfollowed)
    assert found.contradicts
    return found.why


def test_what_cannot_be_is_told_by_its_message():
    chat = PLAIN.tell(DRAWN)
    places = sorted(chat.boards)

    def with_board(number, squares, opener=X):
        *_, board = play_out(squares, opener)
        return PLAIN.redraw(chat, places[number], board.squares)

    way = "message 6: the board cannot follow from the one before"
    assert contradiction(with_board(2, [1, 0, 8, 2])) == way
    assert (
        contradiction(with_board(2, [4, 0]))
        == "message 6: it lists other squares as free than it draws"
    )
    assert "cannot follow" in contradiction(with_board(1, [0, 4]))
    silent = SILENT.tell(DRAWN)
    moved = SILENT.redraw(silent, 3, (O, *[None] * 4, X, *[None] * 3))
    assert contradiction(moved).startswith("message 4: the board shows a move that no reply")
    full = SILENT.redraw(silent, 1, (X, X, X, X, *[None] * 5))
    assert contradiction(full) == "message 2: no game reaches this board"
    told = "message 4: the opponent's move is told otherwise than drawn"
    numbers = "message 4: the board cannot be read: it numbers its squares in no order"
    assert contradiction(with_text(chat, "6 | 7 | 8", "7 | 8 | 9", 3)) == numbers
    assert contradiction(with_text(chat, "position 0", "position 3", 3)) == told
    other = "it calls the model O, and the boards show another"
    assert contradiction(with_text(chat, "You are X", "You are O")) == other


def with_text(chat, was, now, *places):
    """The chat with another text, in all messages or in some."""
    return [
        {**m, "content": m["content"].replace(was, now)} if not places or at in places else m
        for at, m in enumerate(chat.messages)
    ]


def test_a_game_that_goes_on_after_its_end():
    chat = PLAIN.tell(LOST)
    more = [*(board.squares for board in play_out(LOST))][-1]
    later = PLAIN.question((*more[:3], O, *more[4:]))
    assert "cannot follow" in contradiction([*chat.messages, says("<move>3</move>"), user(later)])
    assert follow([*chat.messages, says("<move>3</move>")]) == Followed(X, X, tuple(LOST))


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        (PLAIN.tell(DRAWN).messages[5:], "it begins in the middle of a game"),
        (SILENT.tell(DRAWN[:1]).messages[:3], "it does not show which mark the model plays"),
        ([user("tic-tac-toe\nX . .\n. O .\n. . .")], "it does not show which mark the model plays"),
    ],
)
def test_what_says_too_little_contradicts_nothing(messages, why):
    assert follow(messages) == Unfollowed(why, False)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [user("What is 2 + 2?"), says("4")],
        [user("Let us play tic-tac-toe."), says("<move>4</move>")],
        [user("Transpose:\n1 2 3\n4 5 6\n7 8 9"), says("1 4 7\n2 5 8\n3 6 9")],
        [user("Sudoku:\n1 0 2\n0 3 0\n4 0 5"), says("...")],
        [{"role": "system", "content": "tic-tac-toe\n. . .\n. X .\n. . ."}, says("4")],
        [user("Ultimate tic-tac-toe!\nX . .\n. . .\n. . ."), says("<move>4</move>")],
        [user("X . . .\n. O . .\n. . . .\n. . . ."), says("4")],
        [{"role": "user"}, {"content": "X . .\n. . .\n. . .", "role": "assistant"}],
    ],
)
def test_what_is_no_such_chat(messages):
    assert follow(messages) is None


def test_positions_are_what_the_rules_allow():
    """The test's own judge."""
    assert draws_in_order([(None,) * 9], [(None,) * 9])
    assert not draws_in_order([(X, *[None] * 8)], [(None,) * 9])
    with pytest.raises(RulesError):
        board_of((X, X, X, O, O, O, None, None, None))
