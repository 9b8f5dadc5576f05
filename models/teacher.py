"""An engine in a model's seat: perfect moves, said as a prompt format wants them, with a reason.

Its games are what a checkpoint could learn from before it can play: every reply keeps to the format
and names the engine's move, and where the format asks for thinking, that is one short reason which
is true of the board.

An engine that errs makes moves whose strongest true reason is hollow: a fork that the other side
answers by winning, a fork stopped for one turn and met in the next, or one that a win in hand would
have answered anyway. The teacher gives the strongest reason that is not.
"""

from __future__ import annotations

from arena.analysis import grade
from arena.board import Board
from arena.game import Attempt, Game, Verdict
from arena.opponents import Engine
from arena.players import Decision, Identity, Kind
from arena.reasons import Reason, reasons, say
from arena.solver import wins_at_once
from models.formats import PromptFormat
from models.prompt import History, messages
from models.reply import END_THINK, THINK, read

_STOP = "stop"


class Teacher:
    """An engine that replies like a model.

    Args:
        engine: whose moves they are.
        form: the prompt format in which it is asked and replies.
        history: the chat so far, or a fresh prompt each turn.
    """

    def __init__(self, engine: Engine, form: PromptFormat, history: History = History.FULL) -> None:
        self._engine = engine
        self._form = form
        self._history = history
        self.identity = Identity(
            Kind.MODEL,
            f"teacher {engine}",
            family="teacher",
            prompt=form.name,
            prompt_hash=form.hash,
            settings={"teacher": str(engine), "history": history.value},
            deterministic=engine.deterministic,
        )

    async def decide(self, game: Game) -> Decision:
        """The engine's move in the game, with the reply that names it."""
        square = self._engine.choose(game.board, game.salt)
        prompt = messages(game, game.to_move, (), self._form, self._history)
        text = self.reply(game, square)
        reading = read({"content": text}, _STOP, self._form.answer, game.board)
        assert (reading.verdict, reading.square, reading.exact) == (Verdict.OK, square, True)
        attempt = Attempt(
            prompt=prompt,
            reply=text,
            verdict=reading.verdict,
            square=square,
            contains=reading.contains,
            exact=reading.exact,
            finish_reason=_STOP,
        )
        return Decision(square, (attempt,))

    def reply(self, game: Game, square: int) -> str:
        """How a move on the game's board is said."""
        answer = self._form.answer
        reason = say(_reason(game.board, square), square, answer.base)
        thinking = f"{THINK}{reason}{END_THINK}" if answer.thinking else ""
        return f"{thinking}{answer.opening}{square + answer.base}{answer.closing}"


def _reason(board: Board, square: int) -> Reason:
    """The strongest reason for a move that is true, and not hollow."""
    hollow: set[Reason] = set()
    if grade(board, square).after < 0:
        # In the end it is a fork that cannot be blocked, or a win at once, that loses the game.
        hollow |= {Reason.FORK, Reason.STOP_FORK}
    if wins_at_once(board, board.to_move):
        hollow.add(Reason.STOP_FORK)
    return next(each for each in reasons(board, square) if each not in hollow)
