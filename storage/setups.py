"""How an evaluation is set up: its settings as they are stored, and in what two of them differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from arena.board import Mark
from arena.errors import ConfigError, ConflictError
from arena.opponents import parse
from arena.plan import Plan
from arena.players import EnginePlayer, Identity, Kind
from storage import players

_LONGEST_NAME = 200


@dataclass(frozen=True)
class Setup:
    """What an evaluation is to be."""

    players: tuple[Identity, ...]
    """The checkpoints."""
    plan: Plan
    panel: str | None = None
    """The name of the panel that the opponents are from: a label."""
    concurrency: int = 1
    """How many games are under way at once; it may change."""


def check(name: str, setup: Setup) -> None:
    """Refuse what is no evaluation.

    Raises:
        ConfigError: it is none; the message says why.
    """
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ConfigError(
            f"an evaluation's name has 1 to {_LONGEST_NAME} printable characters, unlike {name!r}"
        )
    if setup.concurrency < 1:
        raise ConfigError("at least one game must be under way at once")
    if not setup.players:
        raise ConfigError("an evaluation needs a player")
    for place, player in enumerate(setup.players):
        if player.kind is Kind.HUMAN:
            raise ConfigError("a person cannot be evaluated")
        if player in setup.players[:place]:
            raise ConfigError(f"{player.name} is named twice")


def settings_of(session: Session, setup: Setup) -> dict[str, Any]:
    """The settings as they are stored; everybody in them is, from now on."""
    for identity in (*setup.players, *map(engine, setup.plan.opponents)):
        players.ensure(session, identity)
    plan = setup.plan
    return {
        "players": [
            {"name": identity.name, "fingerprint": players.fingerprint(identity)}
            for identity in setup.players
        ],
        "panel": setup.panel,
        "opponents": list(plan.opponents),
        "mark": plan.mark,
        "games": plan.games,
        "seed": plan.seed,
        "rollouts": plan.rollouts,
        "concurrency": setup.concurrency,
    }


def compare(session: Session, name: str, stored: Mapping[str, Any], setup: Setup) -> None:
    """Refuse what would not be the same evaluation.

    Raises:
        ConflictError: it would not; the message says in what.
    """
    plan = setup.plan
    found = []
    prints = [each["fingerprint"] for each in stored["players"]]
    if prints != [players.fingerprint(identity) for identity in setup.players]:
        known = players.by_fingerprint(session, prints)
        found.append(_players_differ([known[each].identity for each in prints], setup.players))
    if stored["opponents"] != list(plan.opponents):
        found.append(f"opponents: {_lists_differ(stored['opponents'], plan.opponents)}")
    for key, mine in (("mark", plan.mark), ("seed", plan.seed), ("rollouts", plan.rollouts)):
        if stored[key] != mine:
            found.append(f"{key} {_said(stored[key])} there, {_said(mine)} here")
    if stored["games"] > plan.games:
        found.append(f"games {stored['games']} there, {plan.games} here, and they can only grow")
    if found:
        raise ConflictError(
            f"the evaluation {name!r} was set up otherwise: {'; '.join(found)}. "
            "Give the same settings, or another name"
        )


def _players_differ(stored: Sequence[Identity], mine: Sequence[Identity]) -> str:
    theirs, ours = [p.name for p in stored], [p.name for p in mine]
    if theirs != ours:
        return f"players {', '.join(theirs)} there, {', '.join(ours)} here"
    changed = []
    for one, other in zip(stored, mine, strict=True):
        before, after = _flat(one), _flat(other)
        changed += [
            f"{one.name}'s {key} {_said(before.get(key))} there, {_said(after.get(key))} here"
            for key in sorted({*before, *after})
            if before.get(key) != after.get(key)
        ]
    return "; ".join(changed)


def _lists_differ(stored: Sequence[str], mine: Sequence[str]) -> str:
    gone = [spec for spec in stored if spec not in mine]
    new = [spec for spec in mine if spec not in stored]
    if not gone and not new:
        return "in another order"
    parts = ((gone, "only there"), (new, "only here"))
    return " and ".join(f"{', '.join(some)} {where}" for some, where in parts if some)


def _flat(identity: Identity) -> dict[str, Any]:
    """What an identity is made of, one key each; settings within settings by their path."""
    found: dict[str, Any] = {}

    def add(key: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for name, inner in value.items():
                add(f"{key}.{name}" if key else name, inner)
        else:
            found[key] = value

    add("", identity.settings)
    for key in ("kind", "family", "step", "prompt", "prompt_hash"):
        found[key.replace("_", " ")] = getattr(identity, key)
    return found


def _said(value: object) -> str:
    return "not set" if value is None else str(value)


def engine(spec: str) -> Identity:
    """Who an opponent is."""
    return EnginePlayer(parse(spec)).identity


def plan_of(settings: Mapping[str, Any]) -> Plan:
    """The plan that stored settings describe."""
    return Plan(
        tuple(settings["opponents"]),
        settings["games"],
        settings["seed"],
        settings["rollouts"],
        settings["mark"] and Mark(settings["mark"]),
    )
