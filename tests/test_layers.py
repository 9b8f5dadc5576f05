"""Imports run downwards only, and the core does no I/O: read off the source of every module.

Imports inside functions and under TYPE_CHECKING count too.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS: dict[str, set[str]] = {
    "arena": set(),
    "models": {"arena"},
    "storage": {"arena"},
    "tictactoe_arena": {"models"},
    "tictactoe_arena_duel": {"models"},
    "web": {"arena", "models", "storage"},
    "cli": {"arena", "models", "storage", "web"},
    "app": {"arena", "models", "storage", "web", "cli"},
}
"""Each part of the project, and the parts below it."""

NOT_SHIPPED = {"tests", "benchmarks"}

ONLY_IN = {
    "gradio": ("web", "app"),
    "verifiers": ("models.environment",),
    "torch": ("models.training",),
}
"""What only some parts may import."""

ARENA = (
    ("errors", "statistics"),
    ("board", "comparisons", "rates"),
    ("reasons", "solver", "symmetry"),
    ("opponents", "traps"),
    ("batch", "exact", "game", "memorisation", "panels", "plan"),
    ("analysis", "control", "lanes", "players", "reward"),
    ("match", "mistakes"),
    ("evaluation", "series"),
)
"""The modules of the core: each imports from earlier rows only."""

PURE = {
    *("__future__", "abc", "collections", "dataclasses", "enum", "typing"),
    *("bisect", "fractions", "functools", "itertools", "math", "re", "statistics"),
}
"""What the core may import from outside itself: nothing that has files, a network, a clock or
randomness."""

EXCEPTIONS = {
    ("arena.series", "asyncio"),
    ("arena.control", "asyncio"),
    ("arena.evaluation", "asyncio"),
    ("arena.board", "threading"),
    ("arena.batch", "numpy"),
}
"""A long series lets others have a turn on the event loop: `asyncio.sleep(0)`, no more. Many games
of an evaluation are under way at once, as tasks; pauses are passed in. Boards are built once,
whichever threads ask first: a lock, no more. A batch of games is arithmetic on arrays."""

IMPURE_CALLS = {"open", "input", "print", "exec", "eval", "__import__", "hash", "id"}
"""Built-ins that the core does not call: the last two differ from process to process."""


def faults(module: str, source: str) -> list[str]:
    """What is wrong with the imports of a module, one sentence each."""
    tree = ast.parse(source)
    part = module.partition(".")[0]
    found = []
    for name, _ in _imports(tree, module):
        top = name.partition(".")[0]
        homes = ONLY_IN.get(top)
        if top in {*LAYERS, *NOT_SHIPPED}:
            wrong = top not in {part, *LAYERS[part]} or (
                top == part == "arena" and _rank(name) >= _rank(module)
            )
        elif part == "arena":
            wrong = top not in PURE and (module, top) not in EXCEPTIONS
        else:
            wrong = homes is not None and not any(_within(module, home) for home in homes)
        if wrong:
            found.append(f"{module} imports {name}")
    if part == "arena":
        found += [f"{module} calls {name}" for name in _calls(tree) if name in IMPURE_CALLS]
    return found


def _within(module: str, home: str) -> bool:
    return module == home or module.startswith(f"{home}.")


def _rank(module: str) -> int:
    """The row of a module of the core; the package itself imports nothing and is below them all."""
    name = (*module.split("."), "")[1]
    rows = [row for row, names in enumerate(ARENA) if name in names]
    return rows[0] if rows else -1


def _imports(tree: ast.AST, module: str, late: bool = False) -> Iterator[tuple[str, bool]]:
    """The absolute name of each thing imported, and whether a function does it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, late) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            # What is imported from a package may be a module.
            yield from ((f"{base}.{alias.name}", late) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from ((str(a.value), late) for a in node.args if isinstance(a, ast.Constant))
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _imports(node, module, late or inside)


def _calls(tree: ast.AST) -> list[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [func.id for func in calls if isinstance(func, ast.Name)]


def _modules() -> dict[str, Path]:
    """Every module that is shipped, by its dotted name."""
    paths = [ROOT / f"{part}.py" for part in LAYERS]
    paths += [path for part in LAYERS for path in (ROOT / part).rglob("*.py")]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in paths
        if path.exists()
    }


@pytest.mark.parametrize(("module", "path"), _modules().items(), ids=list(_modules()))
def test_imports_run_downwards(module: str, path: Path) -> None:
    assert faults(module, path.read_text(encoding="utf-8")) == []


def test_the_command_line_loads_gradio_only_to_serve() -> None:
    """Follow what is imported as `cli` is loaded, not what its functions import later."""
    modules = _modules()
    loaded, ahead = set(), ["cli.__init__"]
    while ahead:
        name = ahead.pop()
        # A module's packages are loaded with it; the last part may be a name inside it.
        ahead += [name.rpartition(".")[0]] if "." in name else []
        name = name if name in modules else f"{name}.__init__"
        if name in loaded or name not in modules:
            continue
        loaded.add(name)
        tree = ast.parse(modules[name].read_text(encoding="utf-8"))
        early = [imported for imported, late in _imports(tree, name) if not late]
        assert "gradio" not in {imported.partition(".")[0] for imported in early}, name
        ahead += early
    assert {"cli.__init__", "web.settings"} <= loaded


def test_every_part_has_its_layer() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    scripts = {path.stem for path in ROOT.glob("*.py")}
    assert packages | scripts <= {*LAYERS, *NOT_SHIPPED}
    core = {path.stem for path in (ROOT / "arena").glob("*.py")} - {"__init__"}
    assert core == {name for row in ARENA for name in row}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("arena.board", "import storage"),
        ("arena.match", "from models.player import ModelPlayer"),
        ("models.player", "import storage.games"),
        ("storage.games", "from models import registry"),
        ("storage.games", "def late():\n    from web import api"),
        ("models.player", "import app"),
        ("web.api", "from app import main"),
        ("web.api", "import cli"),
        ("cli", "def late():\n    import app"),
        ("models.player", "import web.settings"),
        ("storage.games", "from cli import main"),
        ("web.api", "from tests import samples"),
        ("cli", "def serve():\n    import gradio"),
        ("storage.games", "from gradio import Blocks"),
        ("models.player", "import torch.nn"),
        ("models.environments", "import verifiers"),
        ("tictactoe_arena", "import verifiers"),
        ("web.api", "import tictactoe_arena"),
        ("arena.board", "from arena.solver import solve"),
        ("arena.board", "from arena import solver"),
        ("arena.board", "from . import solver"),
        ("arena.board", "from .solver import solve"),
        ("arena.solver", "from arena.symmetry import canonical"),
        ("arena.opponents", "def late():\n    from arena.exact import results"),
        ("arena.game", "from arena.players import Player"),
        ("arena.players", "if TYPE_CHECKING:\n    from arena.match import play"),
        ("arena.board", "import os"),
        ("arena.board", "import os.path as p"),
        ("arena.match", "async def late():\n    import time"),
        ("arena.match", "from datetime import datetime"),
        ("arena.match", "import asyncio"),
        ("arena.game", "class A:\n    import random"),
        ("arena.game", "import importlib"),
        ("arena.game", "import numpy"),
        ("arena.game", "data = open('x')"),
        ("arena.game", "def f(board): return hash(board)"),
        ("web.api", "def f(): importlib.import_module('cli')"),
    ],
)
def test_what_would_be_wrong(module: str, source: str) -> None:
    assert len(faults(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("arena.match", "from arena.board import Mark\nfrom arena import players, game"),
        ("arena.statistics", "import statistics"),
        ("models.environment.taskset", "import verifiers\nfrom arena.board import Board"),
        ("models.training.sft", "import torch"),
        ("storage.games", "import os, time\nfrom arena.game import Game\nfrom . import tables"),
        ("web.pages.play", "import gradio as gr\nfrom storage.games import x\nimport models"),
        ("cli", "import web.settings\ndef serve():\n    from web.server import serve"),
        ("arena.series", "import asyncio"),
        ("app", "import cli, web.api, gradio"),
    ],
)
def test_what_is_right(module: str, source: str) -> None:
    assert faults(module, source) == []
