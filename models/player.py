"""A model in a seat: asked until it names a free square, or has no reply left."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from arena.board import Mark, mix
from arena.game import Attempt, Game, Verdict, forfeit_of
from arena.players import Decision, Identity, Kind
from models.completion import Completion, Fault, OnDelta, OnRequest
from models.digest import digest_of
from models.endpoint import Endpoint
from models.entries import Entry
from models.formats import PromptFormat
from models.prompt import messages
from models.reply import Reading, read

OnAttempt = Callable[[Attempt], None]
OnFault = Callable[[Fault], None]

_SEED_BITS = 31
_SENT_BACK_AS = {"reasoning": "reasoning", "reasoning_details": "reasoning"}


class ModelPlayer:
    """A checkpoint behind an endpoint.

    Args:
        entry: what `models.toml` says of it.
        form: the prompt format that the entry names.
        endpoint: how it is reached.
        on_delta: told each piece of a reply, as `reasoning` or `content` and the text. Given,
            replies are streamed.
        on_request: told each request; after a failed one, the reply begins anew.
        on_attempt: told each reply, once it is read.
        on_fault: told why there is no reply, and whether any other game could have one.

    The last four are called on the event loop, between two pieces of a reply: they return at once.
    """

    def __init__(
        self,
        entry: Entry,
        form: PromptFormat,
        endpoint: Endpoint,
        *,
        on_delta: OnDelta | None = None,
        on_request: OnRequest | None = None,
        on_attempt: OnAttempt | None = None,
        on_fault: OnFault | None = None,
    ) -> None:
        self.entry = entry
        self.form = form
        self.endpoint = endpoint
        self.identity = identity_of(entry, form)
        self._on_delta = on_delta
        self._on_request = on_request
        self._on_attempt = on_attempt
        self._on_fault = on_fault
        self._parameters = {**entry.sampling.parameters(), **entry.extra_body}

    async def decide(self, game: Game) -> Decision:
        """Ask for a move until one is legal; forfeit when no reply is left.

        An endpoint's fault makes the game void, with the replies so far kept.
        """
        mark = game.to_move
        earlier = [a for turn in game.turns if turn.mark is mark for a in turn.attempts]
        attempts: list[Attempt] = []
        while len(earlier) + len(attempts) < self.entry.max_replies:
            attempt = await self._attempt(game, mark, earlier, attempts)
            if isinstance(attempt, Fault):
                if self._on_fault is not None:
                    self._on_fault(attempt)
                return Decision(None, tuple(attempts), attempt.kind, attempt.requests)
            attempts.append(attempt)
            if self._on_attempt is not None:
                self._on_attempt(attempt)
            if attempt.verdict is Verdict.OK:
                return Decision(attempt.square, tuple(attempts))
        return Decision(None, tuple(attempts), forfeit_of([*earlier, *attempts]))

    async def _attempt(
        self, game: Game, mark: Mark, earlier: Iterable[Attempt], attempts: list[Attempt]
    ) -> Attempt | Fault:
        completion = await self.endpoint.complete(
            messages(
                game,
                mark,
                attempts,
                self.form,
                self.entry.history,
                self.entry.reasoning_history,
            ),
            seed_of(game.seed, game.board.ply, len(attempts), game.rollout),
            self._parameters,
            reasoning_field=_field_of([*earlier, *attempts]),
            on_delta=self._on_delta,
            on_request=self._on_request,
        )
        if isinstance(completion, Fault):
            return completion
        reading = read(completion.message, completion.finish_reason, self.form.answer, game.board)
        return _record(completion, reading)


def seed_of(game_seed: int, ply: int, attempt: int, rollout: int = 0) -> int:
    """The sampling seed of an attempt: stable, and another for each retry and each rollout.

    Args:
        game_seed: the game's seed.
        ply: moves made so far.
        attempt: invalid replies in this turn so far.
        rollout: which repetition of its cell the game is.
    """
    start = mix(game_seed + 1)
    if rollout:
        start = mix(start + rollout)
    # Not 0, which some servers take to mean: draw one.
    return mix(mix(start + ply) + attempt) >> (64 - _SEED_BITS) or 1


def identity_of(entry: Entry, form: PromptFormat) -> Identity:
    """Who a model is, as it is stored: nothing of how it is reached."""
    return Identity(
        Kind.MODEL,
        entry.name,
        family=entry.family,
        step=entry.step,
        prompt=form.name,
        prompt_hash=form.hash,
        settings={
            "model": entry.model,
            "history": entry.history.value,
            "reasoning_history": entry.reasoning_history.value,
            "max_replies": entry.max_replies,
            "sampling": entry.sampling.parameters(),
            "extra_body": entry.extra_body,
            **_file(entry),
        },
        deterministic=entry.sampling.temperature == 0,
    )


def _file(entry: Entry) -> dict[str, str | None]:
    """What tells a model's file from another of its name; None where it cannot be read."""
    if entry.gguf is None:
        return {}
    with suppress(OSError):
        return {"file": digest_of(Path(entry.gguf))}
    return {"file": None}


def _record(completion: Completion, reading: Reading) -> Attempt:
    return Attempt(
        prompt=completion.messages,
        reply=reading.text,
        verdict=reading.verdict,
        square=reading.square,
        contains=reading.contains,
        exact=reading.exact,
        reasoning=reading.reasoning,
        reasoning_field=reading.reasoning_field,
        finish_reason=completion.finish_reason,
        seed=completion.seed,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        seconds=completion.seconds,
        requests=completion.requests,
        adaptations=completion.adaptations,
    )


def _field_of(attempts: Iterable[Attempt]) -> str:
    """What this server calls a message's thinking, as far as its replies in this game tell."""
    fields = [attempt.reasoning_field for attempt in attempts if attempt.reasoning_field]
    return _SENT_BACK_AS.get(fields[-1], "reasoning_content") if fields else "reasoning_content"
