"""A model without a server: it plays like an engine, talks, errs, and fails as endpoints do."""

import asyncio
import random

from arena.game import Attempt, Game, Message, Request, Termination, Verdict
from arena.opponents import parse
from arena.players import Decision, EnginePlayer, Identity, Kind


class Chatter:
    """What it says in a game is drawn from the game alone; its endpoint's faults are not.

    Args:
        spec: the engine that it plays like.
        faults: the chance, each turn, that the endpoint fails.
        outgrown: the chance, in a game that goes on, that it no longer fits the context.
        forfeits: the chance, each turn, that it has no reply left.
        wait_s: how long a reply takes.
    """

    def __init__(
        self,
        name="chatter",
        spec="random",
        *,
        seed=0,
        faults=0.0,
        outgrown=0.0,
        forfeits=0.0,
        wait_s=0.0,
        deterministic=False,
        settings=None,
    ):
        self.identity = Identity(
            Kind.MODEL, name, prompt_hash="1", settings=settings or {}, deterministic=deterministic
        )
        self.faults = faults
        self.asked = 0
        self._engine = EnginePlayer(parse(spec))
        self._chance = random.Random(seed)
        self._outgrown = outgrown
        self._forfeits = forfeits
        self._wait_s = wait_s

    async def decide(self, game: Game) -> Decision:
        self.asked += 1
        await asyncio.sleep(self._wait_s)
        said = random.Random(f"{game.seed} {game.rollout} {game.opener} {game.moves}")
        if self._chance.random() < self.faults:
            failed = (Request(None, 0.25, {}, "reset"), Request(503, 0.5, {}, "busy"))
            return Decision(None, (), Termination.PROVIDER_ERROR, failed)
        if game.turns[1:] and said.random() < self._outgrown:
            refused = Request(400, 0.125, {}, "too long")
            return Decision(None, (), Termination.CONTEXT_EXCEEDED, (refused,))
        attempts = [self._attempt(said, Verdict.MALFORMED)] * said.choice((0, 0, 0, 1, 2))
        if said.random() < self._forfeits:
            attempts.append(self._attempt(said, Verdict.TRUNCATED))
            return Decision(None, tuple(attempts), Termination.FORFEIT_TRUNCATED)
        attempts.append(self._attempt(said, Verdict.OK))
        return Decision(self._engine.decide(game).square, tuple(attempts))

    def _attempt(self, said: random.Random, verdict: Verdict) -> Attempt:
        contains = verdict is Verdict.OK and said.random() < 0.8
        tokens = said.choice((None, said.randrange(100)))
        request = Request(200, 0.5, {}, None, "stop", tokens, tokens)
        return Attempt(
            prompt=(Message("user", "your move"),),
            reply="<move>1</move>",
            verdict=verdict,
            square=None,
            contains=contains,
            exact=contains and said.random() < 0.5,
            prompt_tokens=tokens,
            completion_tokens=None if tokens is None else 2 * tokens,
            seconds=said.choice((0.5, 0.0625)),
            requests=(request,) * said.choice((1, 1, 3)),
        )
