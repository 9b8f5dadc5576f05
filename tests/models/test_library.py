"""A user's own prompt formats, and every way to get one wrong."""

from __future__ import annotations

import pytest

from arena.board import Mark
from arena.errors import ConfigError
from arena.game import Attempt, Game, Turn, Verdict
from models.library import SHIPPED, load_formats
from models.prompt import History, messages

GOOD = '''
[format.mine]
mark = "X"
opening = "You begin.\\n{board}"
first = """
{board}
They: {opponent_move}. Log: {moves}. JSON: {{"move": 1}}"""
next = "{opponent_move}"
invalid = "No: {reason}"
[format.mine.reasons]
occupied = "{square} is gone"
[format.mine.board]
free = "."
x = "x"
o = "o"
between_cells = ""
between_rows = "/"
row_start = "("
row_end = ")"
[format.mine.log]
entry = "{turn}{mark}{square}"
between = " "
[format.mine.answer]
opening = "["
closing = "]"
base = 1
thinking = false
'''


def write(tmp_path, text):
    path = tmp_path / "formats.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_missing_file_leaves_the_shipped_formats(tmp_path):
    assert load_formats(tmp_path / "formats.toml") == dict(SHIPPED)


def test_a_format_of_ones_own_asks_exactly_as_written(tmp_path):
    form = load_formats(write(tmp_path, GOOD))["mine"]
    game = Game(Mark.O, turns=[Turn(Mark.O, 4)])
    gone = Attempt((), "[5]", Verdict.OCCUPIED, 4, True, True)
    chat = messages(game, Mark.X, [gone], form, History.FULL)
    assert [(message.role, message.content) for message in chat] == [
        ("user", '(...)/(.o.)/(...)\nThey: 5. Log: 1O5. JSON: {"move": 1}'),
        ("assistant", "[5]"),
        ("user", "No: 5 is gone"),
    ]
    assert messages(Game(), Mark.X, (), form)[0].content == "You begin.\n(...)/(...)/(...)"


def test_equal_formats_have_equal_hashes_and_others_not(tmp_path):
    one = load_formats(write(tmp_path, GOOD))["mine"]
    assert load_formats(write(tmp_path, GOOD))["mine"].hash == one.hash
    assert load_formats(write(tmp_path, GOOD.replace("base = 1", "base = 0")))["mine"].hash != (
        one.hash
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{moves}", "{movs}", ["line 7", "unknown placeholder {movs}", "'moves'"]),
        ("{reason}", "{reason", ["line 9", "'invalid'", "single '{'"]),
        ("{reason}", "reason}", ["line 9", "single '}'"]),
        ("{opponent_move}.", "{opponent_move.real}.", ["line 7", "{opponent_move.real}"]),
        ("{square} is", "{squares} is", ["reasons", "{squares}", "'square'"]),
        ("occupied =", "ocupied =", ["'ocupied'", "'occupied'"]),
        ("base = 1", "base = 2", ["line 26", "'answer.base'", "0 or 1"]),
        ('closing = "]"', 'closing = "["', ["part of another tag"]),
        ("thinking = false", "thinkin = false", ["line 27", "'answer.thinkin'", "'thinking'"]),
        ('opening = "You begin', 'system = "You begin', ["line 4", "unknown placeholder {board}"]),
        ('opening = "You begin.\\n{board}"\n', "", ["opponent_move", "opening template"]),
        ('next = "{opponent_move}"\n', "", ["the key 'next' is missing"]),
        ('next = "{opponent_move}"', 'next = "go"', ["next needs", "{board}"]),
        ('mark = "X"\n', "", ["{mark} is missing"]),
        ('mark = "X"', 'mark = "Z"', ["line 3", "'mark'"]),
        ('free = "."', 'free = "{n}"', ["line 13", "unknown placeholder {n}", "number"]),
        ('entry = "{turn}', 'entry = "{trun}', ["line 21", "{trun}", "'turn'"]),
        ("[format.mine]", "[format.tags]", ["'tags' is a shipped format"]),
        ("[format.mine]", "[formats.mine]", ["unknown key 'formats'", "'format'"]),
        ('mark = "X"', "mark = X", ["not valid TOML", "line 3"]),
    ],
)
def test_a_format_that_cannot_be_used_is_refused_with_line_and_reason(tmp_path, old, new, said):
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ConfigError) as raised:
        load_formats(path)
    assert str(path) in str(raised.value)
    for words in said:
        assert words in str(raised.value)
