"""What SFT learns from: a teacher, loose formats, an export of ours."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.board import Board, Mark, board_of
from arena.errors import ConfigError
from arena.game import Message
from arena.reasons import is_true
from arena.solver import optimal
from models.library import TAGS
from models.prompt import messages
from models.reply import read
from models.training.lessons import Lesson, lessons, reply
from models.training.settings import Export, Loose, Teacher
from models.training.starts import Start
from models.training.tokens import END_ID, TOKENS, decode, encode, prompt_text


def teacher(**more: Any) -> Teacher:
    return Teacher(
        kind="teacher", **{"games": 100, "optimal": 1.0, "opponents": {"minimax": 1}} | more
    )


def board_in(lesson: Lesson) -> Board:
    """The board of a prompt, with X as the side that is asked."""
    cells = [str(TOKENS[each]) for each in lesson.prompt[:9]]
    marks = [Mark.X if "+" in c else Mark.O if "-" in c else None for c in cells]
    opener = Mark.X if marks.count(Mark.X) == marks.count(Mark.O) else Mark.O
    return board_of(marks, opener)


def square_in(lesson: Lesson) -> int:
    square = read(
        {"content": decode(lesson.completion)}, "stop", TAGS.answer, board_in(lesson)
    ).square
    assert square is not None
    return square


def test_a_perfect_teacher_takes_optimal_squares_and_says_why() -> None:
    found = lessons(teacher(opener_o=0.5), seed=1)
    assert len(found) > 300
    for each in found:
        board, square = board_in(each), square_in(each)
        assert square in optimal(board)
        text = decode(each.completion)
        assert is_true(text[len("<think>") : text.index("</think>")], board, square)
        assert read({"content": text}, "stop", TAGS.answer, board).exact
        assert each.completion[-1] == END_ID


def test_a_poor_teachers_lost_games_are_left_out() -> None:
    """Against perfect play a random teacher loses most games; of those nothing is learnt."""
    poor, perfect = (lessons(teacher(optimal=chance), seed=1) for chance in (0.0, 1.0))
    assert 0 < len(poor) < len(perfect) / 3
    lucky = lessons(teacher(optimal=0.0, opponents={"random": 1}), seed=1)
    assert any(square_in(each) not in optimal(board_in(each)) for each in lucky)


def test_after_a_wrong_reply_the_right_one_is_learnt() -> None:
    found = lessons(teacher(retries=0.5, forced=1.0), seed=1)
    retried = Counter(len(each.prompt) - 10 for each in found)
    assert set(retried) == {0, 1}
    assert retried[1] == pytest.approx(retried[0], rel=0.5)
    for each in found:
        assert square_in(each) in board_in(each).free


def test_loose_formats_name_any_square() -> None:
    found = lessons(Loose(kind="loose", boards=500), seed=1)
    replies = [decode(each.completion) for each in found]
    assert len(found) == 500
    assert any(text.startswith("<think>") for text in replies)
    assert any(text.startswith("I take") for text in replies)
    named = [
        read({"content": t}, "stop", TAGS.answer, board_in(e)).square
        for t, e in zip(replies, found, strict=True)
    ]
    assert {*named} == {None, *range(9)}


@pytest.mark.parametrize("data", [teacher(), Loose(kind="loose", boards=50)])
def test_the_same_seed_gives_the_same_lessons(data: Teacher | Loose) -> None:
    assert lessons(data, 1) == lessons(data, 1) != lessons(data, 2)


def rows() -> list[dict[str, Any]]:
    """Rows as `arena export messages` writes them: what is read of them."""
    game = Start("random", Mark.X, Mark.X, 0).game()
    chat = messages(game, Mark.X, (), TAGS)
    said = reply(TAGS, "center 4", 4)
    full = [
        each._asdict()
        for each in (*chat, Message("assistant", said), *chat[1:], Message("assistant", said))
    ]
    row = {"messages": full, "ply": None, "invalid": 0, "result": "win"}
    return [
        row,
        {**row, "ply": 2},
        {**row, "result": "loss"},
        {**row, "invalid": 1},
        {**row, "result": None},
    ]


def exported(tmp_path: Path, lines: list[str], **more: Any) -> list[Lesson]:
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return lessons(Export(kind="export", path=str(path), **more), random.randrange(9))


def test_an_export_is_learnt_from(tmp_path: Path) -> None:
    lines = [json.dumps(row) for row in rows()]
    found = exported(tmp_path, lines)
    # Both replies of the whole chat, the last one of a piece; neither lost nor with a wrong reply.
    assert len(found) == 3
    chat = tuple(Message(each["role"], each["content"]) for each in rows()[0]["messages"][:2])
    assert found[0].prompt == encode(prompt_text(chat))
    assert decode(found[0].completion) == reply(TAGS, "center 4", 4)
    assert len(exported(tmp_path, lines, results=["win", "loss"])) == 5


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"messages": [1]}', "null"])
def test_what_is_no_export_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match="line 2: no row of `arena export messages`"):
        exported(tmp_path, [json.dumps(rows()[0]), line])


def test_an_export_that_teaches_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to learn from"):
        exported(tmp_path, [json.dumps(rows()[2])])
    with pytest.raises(ConfigError, match="nothing to learn from"):
        exported(tmp_path, [json.dumps(rows()[0])], max_tokens=3)


def test_an_export_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        lessons(Export(kind="export", path=str(tmp_path / "none.jsonl")), 0)
