"""From what is stored to what the routes give. Pure."""

from __future__ import annotations

from arena.game import Attempt
from models.adapt import Adaptation
from storage.cards import StoredCard
from storage.listing import GameSummary
from storage.players import StoredPlayer
from storage.records import StoredGame
from web.channel import Thought
from web.schemas import (
    AttemptOut,
    CardOut,
    GameOut,
    GameRow,
    MessageOut,
    PlayerOut,
    ProbeOut,
    Thinking,
    TurnOut,
)


def game_out(
    stored: StoredGame, thought: tuple[Thought, float] | None = None, *, stopped: bool = False
) -> GameOut:
    """A game's state, with what its model is saying."""
    game = stored.game
    over = game.outcome is not None
    return GameOut(
        id=stored.id,
        url=game_url(stored.id),
        opener=game.opener,
        seed=game.seed,
        x=player_out(stored.x),
        o=player_out(stored.o),
        squares=list(game.board.squares),
        ply=len(game.turns),
        to_move=None if over else game.to_move,
        waiting_for=None if over else stored.player(game.to_move).identity.kind,
        outcome=game.outcome,
        termination=game.termination,
        line=game.board.line,
        turns=[
            TurnOut(ply=ply, mark=turn.mark, square=turn.square, attempts=_attempts(turn.attempts))
            for ply, turn in enumerate(game.turns)
        ],
        unanswered=_attempts(game.unanswered),
        fault=game.failed[-1].error if game.failed else None,
        thinking=None if over or thought is None else _thinking(*thought),
        stopped=stopped and not over,
        demonstration=stored.demonstration,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def game_row(summary: GameSummary) -> GameRow:
    """A game in a list."""
    return GameRow(
        id=summary.id,
        url=game_url(summary.id),
        opener=summary.opener,
        seed=summary.seed,
        x=player_out(summary.x),
        o=player_out(summary.o),
        moves="".join(map(str, summary.moves)),
        outcome=summary.outcome,
        termination=summary.termination,
        source=summary.source,
        demonstration=summary.demonstration,
        created_at=summary.created_at,
    )


def game_url(game_id: str) -> str:
    """The page of a game."""
    return f"/game/{game_id}"


def player_out(player: StoredPlayer) -> PlayerOut:
    """Who sits in a seat."""
    identity = player.identity
    return PlayerOut(
        kind=identity.kind,
        name=identity.name,
        family=identity.family,
        step=identity.step,
        prompt=identity.prompt,
    )


def card_out(stored: StoredCard, *, operator: bool) -> CardOut:
    """What was found of a model. Only the operator sees what may name the server's address."""
    card = stored.card
    summary = card["summary"] if operator or card["ok"] else "cannot play at the moment"
    return CardOut(
        at=stored.at,
        ok=card["ok"],
        summary=summary,
        probes=[
            ProbeOut(
                name=probe["name"],
                outcome=probe["outcome"],
                seen=probe["seen"],
                change=probe["change"] if operator else None,
            )
            for probe in card["probes"]
            if operator or card["ok"]
        ],
        adaptations=[each["description"] for each in card["adaptations"]],
    )


def _attempts(attempts: tuple[Attempt, ...]) -> list[AttemptOut]:
    return [
        AttemptOut(
            number=number,
            verdict=attempt.verdict,
            square=attempt.square,
            reply=attempt.reply,
            reasoning=attempt.reasoning,
            contains=attempt.contains,
            exact=attempt.exact,
            finish_reason=attempt.finish_reason,
            prompt_tokens=attempt.prompt_tokens,
            completion_tokens=attempt.completion_tokens,
            seconds=attempt.seconds,
            requests=len(attempt.requests),
            adaptations=[_in_words(name) for name in attempt.adaptations],
            prompt=[MessageOut(role=m.role, content=m.content) for m in attempt.prompt],
        )
        for number, attempt in enumerate(attempts, start=1)
    ]


def _in_words(adaptation: str) -> str:
    """What was changed; its name where a newer arena wrote it."""
    known = adaptation in Adaptation.__members__.values()
    return Adaptation(adaptation).description if known else adaptation


def _thinking(thought: Thought, seconds: float) -> Thinking:
    return Thinking(
        seconds=seconds,
        attempt=thought.attempt,
        reasoning=thought.reasoning,
        text=thought.text,
        trouble=thought.trouble,
    )
