"""An engine that replies like a model: perfect, in any format, with true reasons."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from arena.analysis import grades_of
from arena.board import Mark
from arena.game import Game, Turn, Verdict
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer, Kind
from arena.reasons import Reason, is_true
from models.formats import PromptFormat
from models.library import SHIPPED
from models.prompt import History, messages
from models.reply import AnswerForm, read
from models.teacher import Teacher

FROM_ONE = PromptFormat(
    name="from-one",
    first="{board} {mark}",
    next="{board} {mark}",
    invalid="{reason} {mark}",
    answer=AnswerForm(opening="[[", closing="]]", base=1),
)
FORMS = [*SHIPPED.values(), FROM_ONE]


def games(form, history=History.FULL, number=6):
    """Games of the teacher against a random player, in both seats."""
    teacher, other = Teacher(parse("minimax"), form, history), EnginePlayer(parse("random"))
    for seed in range(number):
        opener = Mark(("X", "O")[seed % 2])
        game = Game(opener, seed)
        asyncio.run(finish(game, teacher, other))
        yield game


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_reply_is_exact_and_gives_a_true_reason(form):
    said = 0
    for game in games(form):
        assert not any(each.grade.loses_value for each in grades_of(game, Mark.X))
        board = Game(game.opener).board
        for turn in game.turns:
            for attempt in turn.attempts:
                said += 1
                reading = read({"content": attempt.reply}, "stop", form.answer, board)
                assert (reading.verdict, reading.square) == (Verdict.OK, turn.square)
                assert reading.exact
                assert (attempt.contains, attempt.exact) == (True, True)
                if form.answer.thinking:
                    thought = attempt.reply.partition("<think>")[2].partition("</think>")[0]
                    assert is_true(thought, board, turn.square, form.answer.base)
                else:
                    assert "<think>" not in attempt.reply
            board = board.after(turn.square)
    assert said > 15


@pytest.mark.parametrize("history", History)
def test_it_is_asked_as_a_model_is(history):
    form = SHIPPED["tags"]
    for game in games(form, history, 2):
        so_far = Game(game.opener, game.seed)
        for turn in game.turns:
            for attempt in turn.attempts:
                assert attempt.prompt == messages(so_far, turn.mark, (), form, history)
            so_far.add(turn)


def test_it_is_a_model_with_an_identity_of_its_own():
    form = SHIPPED["tags"]
    one = Teacher(parse("minimax:tie=first"), form).identity
    assert (one.kind, one.name, one.prompt_hash) == (
        Kind.MODEL,
        "teacher minimax:tie=first",
        form.hash,
    )
    assert one.deterministic
    assert one != Teacher(parse("minimax:tie=first"), form, History.BOARD).identity
    assert one != Teacher(parse("minimax:tie=first"), SHIPPED["blind"]).identity


Cells = str
"""Nine squares, `.` where free."""
ROWS = ("012", "345", "678", "036", "147", "258", "048", "246")


def completing(cells: Cells, mark: str) -> set[int]:
    """The free squares on which a mark makes three in a row."""
    lines = [[int(square) for square in row] for row in ROWS]
    return {
        square
        for line in lines
        for square in line
        if cells[square] == "." and all(cells[s] == mark for s in line if s != square)
    }


def placed(cells: Cells, square: int, mark: str) -> Cells:
    return cells[:square] + mark + cells[square + 1 :]


def forks(cells: Cells, mark: str, other: str) -> bool:
    """Whether a mark, moving now, can get two ways to win before the other side wins."""
    for square in {s for s in range(9) if cells[s] == "."} - completing(cells, mark):
        after = placed(cells, square, mark)
        if len(completing(after, mark)) > 1 and not completing(after, other):
            return True
    return False


@cache
def can_force(cells: Cells, mark: str, to_move: str) -> bool:
    """Whether a mark wins whatever the other side does."""
    if completing(cells, to_move):
        return mark == to_move
    other = "O" if to_move == "X" else "X"
    nexts = [
        can_force(placed(cells, square, to_move), mark, other)
        for square in range(9)
        if cells[square] == "."
    ]
    return bool(nexts) and (any(nexts) if mark == to_move else all(nexts))


def claim_holds(word: str, cells: Cells, square: int, mark: str) -> bool:
    """Whether a teacher's word for a move is true, and not hollow."""
    other = "O" if mark == "X" else "X"
    after = placed(cells, square, mark)
    wins = square in completing(cells, mark)
    ways = len(completing(after, mark))
    match word:
        case "win":
            return wins
        case "block":
            return not wins and square in completing(cells, other)
        case "fork":
            return not wins and ways > 1 and not completing(after, other)
        case "stop-fork":
            was_there = forks(cells, other, mark) and not completing(cells, mark)
            stands = forks(after, other, mark) or can_force(after, other, other)
            return was_there and not stands
        case "threat":
            return not wins and ways == 1
        case _:
            kinds = {"center": {4}, "corner": {0, 2, 6, 8}, "edge": {1, 3, 5, 7}}
            return square in kinds[word]


def every_open_game() -> Iterator[Game]:
    """One game for every unfinished position."""
    for opener in Mark:
        seen = set()
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            line = waiting.pop()
            game = Game(opener, 0)
            for square in line:
                game.add(Turn(game.to_move, square))
            if game.board not in seen and game.board.outcome is None:
                seen.add(game.board)
                yield game
                waiting += [(*line, square) for square in game.board.free]


def test_no_reason_is_hollow_whatever_the_move():
    """Each word over every move of every position, by rules that are written here anew."""
    form = SHIPPED["tags"]
    said: Counter[str] = Counter()
    teacher = Teacher(parse("random"), form)
    for game in every_open_game():
        cells = "".join(mark or "." for mark in game.board.squares)
        for square in game.board.free:
            thought = teacher.reply(game, square).partition("<think>")[2].partition("</think>")[0]
            word, number = thought.split()
            said[word] += 1
            assert int(number) == square + form.answer.base
            assert claim_holds(word, cells, square, game.to_move), (cells, square, thought)
    assert set(said) == set(Reason)
