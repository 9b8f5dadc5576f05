"""An engine that replies like a model: perfect, in any format, with true reasons."""

import asyncio

import pytest

from arena.analysis import grades_of
from arena.board import Mark
from arena.game import Game, Verdict
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer, Kind
from arena.reasons import is_true
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
