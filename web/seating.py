"""Who takes a seat in the browser's games: which players there are, who may play them, how many at
once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from arena.errors import AccessError, BusyError
from arena.game import Attempt, Request, Verdict
from arena.opponents import parse
from arena.players import EnginePlayer, Identity, Kind, Person, Player
from models.registry import Registry
from web.channel import Channel, Thought
from web.schemas import EngineSeat, HumanSeat, ModelSeat

_IN_FLIGHT_SECONDS = 180
"""A visitor's game in which nobody moved for this long leaves its place to others."""


class Seating:
    """Makes players, and counts the visitors' games in flight with each model."""

    def __init__(self, registry: Registry, clock: Callable[[], float]) -> None:
        self._registry = registry
        self._clock = clock
        self._in_flight: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def admit(self, model: str, *, operator: bool) -> None:
        """See whether a game with this model may begin.

        Raises:
            NotFoundError: it is not registered.
            AccessError: visitors may not play it.
            BusyError: it plays as many games as it may.
        """
        entry = self._registry.get(model)
        if operator:
            return
        if not entry.public:
            raise AccessError(f"{model} is not open to visitors: sign in as the operator")
        now = self._clock()
        running = {
            game_id: at
            for game_id, at in self._in_flight[model].items()
            if now - at < _IN_FLIGHT_SECONDS
        }
        self._in_flight[model] = running
        if len(running) >= entry.max_games:
            raise BusyError(
                f"{model} plays as many games as it may at once: try again in a few minutes"
            )

    def begin(self, game_id: str, models: Iterable[str]) -> None:
        """Count a visitor's new game with these models as in flight."""
        for model in models:
            self._in_flight[model][game_id] = self._clock()

    def touch(self, game_id: str, players: Iterable[Identity]) -> None:
        """The game is in flight still: its person has moved."""
        for player in players:
            running = self._in_flight.get(player.name, {})
            if game_id in running:
                running[game_id] = self._clock()

    def release(self, game_id: str, players: Iterable[Identity]) -> None:
        """The game is over."""
        for player in players:
            self._in_flight.get(player.name, {}).pop(game_id, None)

    def identity(self, seat: HumanSeat | EngineSeat | ModelSeat) -> Identity:
        """Who is asked to sit.

        Raises:
            SpecError: an engine that does not exist.
            NotFoundError: a model that is not registered.
        """
        if isinstance(seat, HumanSeat):
            return Person(seat.name).identity
        if isinstance(seat, EngineSeat):
            return EnginePlayer(parse(seat.spec)).identity
        return self._registry.player(seat.name).identity

    def player(self, seat: Identity, channel: Channel) -> Player | None:
        """The player in a seat of a game under way, who is followed on the channel.

        None for a model that is gone or has changed: its record would say what it is not.
        """
        if seat.kind is Kind.HUMAN:
            return Person(seat.name)
        if seat.kind is Kind.ENGINE:
            return EnginePlayer(parse(seat.name))

        def on_delta(kind: str, text: str) -> None:
            channel.say(kind, text, self._clock())

        def on_request(request: Request) -> None:
            if request.error:
                was = channel.thought or Thought(self._clock())
                channel.think(Thought(was.since, was.attempt, trouble=request.error))

        def on_attempt(attempt: Attempt) -> None:
            if attempt.verdict is not Verdict.OK:
                made = channel.thought.attempt if channel.thought else 1
                channel.think(Thought(self._clock(), made + 1))

        if seat.name not in self._registry:
            return None
        player = self._registry.player(
            seat.name, on_delta=on_delta, on_request=on_request, on_attempt=on_attempt
        )
        return player if player.identity == seat else None
