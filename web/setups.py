"""What an evaluation is asked to be, for the command and for the web app alike: who is evaluated,
which opponents a panel names, and what it is called where nobody says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.errors import ConfigError, ConflictError, NotFoundError
from arena.opponents import parse
from arena.panels import Panel, canonical_specs, panels_from
from arena.players import EnginePlayer, Identity
from models.config import nearest, read_toml, tables_of
from models.registry import Registry
from storage.evaluations import Evaluation

ENGINE_NAMES = ("random", "minimax")
PANELS_FILE = "panels.toml"
OWN_OPPONENTS = "opponents"
"""What a panel is called that is no panel: opponents that were named one by one."""


def members(given: str, registry: Registry) -> list[str]:
    """The checkpoints of a family, or the one that is named."""
    family = [entry.name for entry in registry.entries if entry.family == given]
    return [given] if given in registry or not family else family


def identities(names: Iterable[str], registry: Registry) -> tuple[Identity, ...]:
    """Who these are: registered models, or engines by their specs.

    Raises:
        SpecError: one begins like an engine's spec, and is none.
        NotFoundError: one is neither an engine nor a registered model.
    """
    return tuple(_identity(name, registry) for name in names)


def panels_beside(models_file: Path) -> dict[str, Panel]:
    """The built-in panels and those of `panels.toml` beside `models.toml`, by name.

    Raises:
        ConfigError: the file cannot be used.
    """
    path = models_file.with_name(PANELS_FILE)
    tables = tables_of(path, read_toml(path), "panel") or []
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{path}: a panel is a table with two brackets: [[panel]]")
    try:
        return panels_from(tables)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def panel_of(models_file: Path, name: str, opponents: Sequence[str] | None) -> Panel:
    """The opponents that are asked for: these, where some are named, or those of a panel.

    Raises:
        SpecError: one of them does not exist, or is named twice.
        NotFoundError: there is no such panel.
        ConfigError: the file of the user's own panels cannot be used.
    """
    if opponents:
        return Panel(OWN_OPPONENTS, canonical_specs(opponents))
    panels = panels_beside(models_file)
    if name not in panels:
        raise NotFoundError(f"no panel is called {name!r}: {nearest(name, panels)}")
    return panels[name]


def title_of(checkpoints: Iterable[str], panel: str, seed: int) -> str:
    """The name of an evaluation where none is given."""
    return f"{'+'.join(checkpoints)}-{panel}-{seed}"


def arguments_of(evaluation: Evaluation, models_file: Path) -> list[str]:
    """What `arena evaluate` is told, so that it plays just this evaluation.

    Raises:
        ConflictError: its panel has changed since it was set up, and no arguments say what it was.
        ConfigError: the file of the user's own panels cannot be used.
    """
    plan, label = evaluation.plan, evaluation.panel or OWN_OPPONENTS
    panel = panels_beside(models_file).get(label)
    if panel and (panel.opponents, panel.mark) == (plan.opponents, plan.mark):
        opponents = [f"--panel={label}"]
    elif plan.mark is None:
        opponents = [f"--opponents={spec}" for spec in plan.opponents]
    else:
        raise ConflictError(
            f"the panel {label!r} has changed since {evaluation.name!r} was set up: "
            f"it had {', '.join(plan.opponents)}, with the checkpoint as {plan.mark}"
        )
    return [
        *opponents,
        f"--games={plan.games}",
        f"--seed={plan.seed}",
        f"--rollouts={plan.rollouts}",
        f"--concurrency={evaluation.concurrency}",
        f"--name={evaluation.name}",
        "--json",
        # Names may begin with a dash.
        "--",
        *(player.identity.name for player in evaluation.players),
    ]


def _identity(name: str, registry: Registry) -> Identity:
    if name.partition(":")[0].strip() in ENGINE_NAMES:
        return EnginePlayer(parse(name)).identity
    return registry.player(name).identity
