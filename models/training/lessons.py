"""What SFT learns: prompts and the completions that should follow them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.board import Board, Mark, Outcome, boards
from arena.errors import ConfigError
from arena.game import Attempt, Game, Message, Turn
from arena.opponents import parse
from arena.reasons import Reason, say, strongest
from arena.solver import optimal
from models.formats import PromptFormat
from models.library import DEFAULT, SHIPPED
from models.prompt import messages
from models.reply import END_THINK, THINK, read
from models.training.settings import Export, Loose, Teacher
from models.training.starts import starts
from models.training.tokens import END_ID, encode, prompt_text

_LOOSE = (
    "<move>{square}</move>",
    "<think>{square}</think><move>{square}</move>",
    "<think>{word}</think><move>{square}</move>",
    "<think>{word} {square}</think><move>{square}</move>",
    "I take {square}.",
    "Square {square}",
    "{square}",
    "{word} {square}",
    "My move: {square}",
    "<think>{word}</think>{square}",
)
_WORDS = ("win", "block", "fork", "threat", "center", "corner", "edge", "hm")


class Lesson(NamedTuple):
    """A completion to be learnt."""

    prompt: tuple[int, ...]
    completion: tuple[int, ...]
    """With the end token."""


def lessons(data: Loose | Teacher | Export, seed: int) -> list[Lesson]:
    """The lessons that a stage's `data` describes; the same seed gives the same.

    Raises:
        ConfigError: a file cannot be read, is no export of ours, or teaches nothing.
    """
    generator = random.Random(seed)
    if isinstance(data, Loose):
        open_boards = [b for opener in Mark for b in boards(opener) if b.outcome is None]
        return [_loose(generator, open_boards) for _ in range(data.boards)]
    found = list(_of_export(data) if isinstance(data, Export) else _of_teacher(data, generator))
    if not found:
        where = data.path if isinstance(data, Export) else "the teacher"
        raise ConfigError(f"{where}: there is nothing to learn from: no game passes the filter")
    return found


def lesson(chat: tuple[Message, ...], reply: str) -> Lesson:
    """The lesson that a chat should be answered so."""
    return Lesson(encode(prompt_text(chat)), (*encode(reply), END_ID))


def reply(form: PromptFormat, thinking: str, square: int) -> str:
    """A reply that follows a format exactly."""
    answer = form.answer
    thought = f"{THINK}{thinking}{END_THINK}" if answer.thinking else ""
    return f"{thought}{answer.opening}{square + answer.base}{answer.closing}"


def _loose(generator: random.Random, open_boards: Sequence[Board]) -> Lesson:
    board = generator.choice(open_boards)
    text = generator.choice(_LOOSE).format(
        square=generator.randrange(9), word=generator.choice(_WORDS)
    )
    return lesson(_asked(board), text)


def _asked(board: Board) -> tuple[Message, ...]:
    """A chat that asks for a move on a board, by any game that leads there."""
    game = Game(opener=board.opener)
    mine = [s for s, mark in enumerate(board.squares) if mark is board.opener]
    theirs = [s for s, mark in enumerate(board.squares) if mark is board.opener.other]
    while mine or theirs:
        squares = mine if game.to_move is board.opener else theirs
        game.add(Turn(game.to_move, squares.pop()))
    return messages(game, board.to_move, (), SHIPPED[DEFAULT])


def _of_teacher(data: Teacher, generator: random.Random) -> Iterator[Lesson]:
    form = SHIPPED[data.prompt]
    for begin in starts(data, data.games, generator):
        game, mark = begin.game(), begin.mark
        opponent = parse(begin.opponent)
        learnt: list[Lesson] = []
        while game.outcome is None:
            if game.to_move is not mark:
                game.add(Turn(mark.other, opponent.choose(game.board, game.salt)))
                continue
            attempts: tuple[Attempt, ...] = ()
            if generator.random() < data.retries and game.board.ply:
                taken = [s for s, m in enumerate(game.board.squares) if m]
                attempts = (_attempt(game, (), form, generator.choice(taken)),)
            right = generator.random() < data.optimal
            square = generator.choice(optimal(game.board) if right else game.board.free)
            made = _attempt(game, attempts, form, square)
            learnt.append(lesson(made.prompt, made.reply))
            game.add(Turn(mark, square, (*attempts, made)))
        if game.outcome in (Outcome.win(mark), Outcome.DRAW):
            yield from learnt


def _attempt(game: Game, earlier: tuple[Attempt, ...], form: PromptFormat, square: int) -> Attempt:
    """The teacher's reply, read as any model's is; a wrong one has a reason that is not true."""
    board = game.board
    word = strongest(board, square) if square in board.free else Reason.THREAT
    text = reply(form, say(word, square, form.answer.base), square)
    reading = read({"content": text}, "stop", form.answer, board)
    chat = messages(game, board.to_move, earlier, form)
    return Attempt(chat, text, reading.verdict, reading.square, reading.contains, reading.exact)


def _of_export(data: Export) -> Iterator[Lesson]:
    path = Path(data.path)
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        try:
            row: dict[str, Any] = json.loads(line)
            chat = [Message(each["role"], each["content"]) for each in row["messages"]]
            invalid, result, ply = row["invalid"], row["result"], row["ply"]
        except (ValueError, KeyError, TypeError):
            raise ConfigError(f"{path}, line {number}: no row of `arena export messages`") from None
        if result not in data.results or invalid:
            continue
        places = [n for n, each in enumerate(chat) if each.role == "assistant"]
        # A row that is a part of a game has one reply to learn: the last.
        for place in places if ply is None else places[-1:]:
            found = lesson(tuple(chat[:place]), chat[place].content)
            if len(found.completion) <= data.max_tokens:
                yield found
