"""The table of options in the environment's README, beside the options that there are."""
# mypy: disable-error-code="import-untyped"

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import verifiers.v1 as vf

from models.environment.options import GamesConfig, RewardConfig
from tests.models.environment.tools import ROOT

README = ROOT / "environments" / "tictactoe_arena" / "README.md"


def table() -> dict[str, str]:
    """Each option that a line names, and its default as the line says it."""
    found: dict[str, str] = {}
    for line in README.read_text("utf-8").splitlines():
        if not line.startswith("| `"):
            continue
        keys, defaults = (cell.strip() for cell in line.split("|")[1:3])
        names = re.findall(r"`([\w.]+)`", keys)
        # The first says whose they are: `task.win`, `draw`.
        holder = "task." if names[0].startswith("task.") else ""
        names = [holder + name.removeprefix(holder) for name in names]
        values = [each.strip() for each in defaults.split(",")]
        found |= dict(zip(names, values * (len(names) if len(values) == 1 else 1), strict=False))
    return found


def own(config: Any, base: Any) -> dict[str, str]:
    """What a configuration adds, and its defaults as one writes them."""
    fields = {
        key: each for key, each in config.model_fields.items() if key not in base.model_fields
    }
    return {
        key: written(each.get_default(call_default_factory=True)) for key, each in fields.items()
    }


def written(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(value)
    return str(value.value if isinstance(value, Enum) else value)


def test_the_table_has_every_option_with_its_default():
    options = own(GamesConfig, vf.TasksetConfig)
    options |= {f"task.{key}": each for key, each in own(RewardConfig, vf.TaskConfig).items()}
    # What is unset means something, which the line says; a file of formats is none.
    meant = {"mark": "either", "opener": "X", "prompt_file": "tags"}
    assert options.keys() >= meant.keys()
    wrong = {key: each for key, each in (options | meant).items() if table().get(key) != each}
    assert not wrong
    assert table().keys() == options.keys()
