"""Puts the arena's own files into the wheel, under the package's prefix.

The rules, opponents, prompts and reward exist once, in `arena` and `models` of the repository. What
`tictactoe_arena` needs of them, directly or through others, is copied to `tictactoe_arena/arena`
and `tictactoe_arena/models`, and their imports of each other get the prefix. A source distribution
holds the files already so changed, and its wheel is the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PREFIX = "tictactoe_arena"
ENTRIES = (PREFIX, f"{PREFIX}_duel")
"""The modules by whose names the library finds the environments."""
SHARED = ("arena", "models")
"""Packages of the repository of which the wheel may need modules."""


class BundleHook(BuildHookInterface[BuilderConfig]):
    """Found by hatchling in the file of this name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Add the files to what is built."""
        top = Path(self.root)
        if not (top / PREFIX / "__init__.py").exists():
            repository = top.parents[1]
            self._made = TemporaryDirectory()
            top = Path(self._made.name)
            write(bundle(repository), top)
        for path in sorted(top.glob(f"{PREFIX}*/**/*")) + sorted(top.glob(f"{PREFIX}*.py")):
            if path.is_file() and "__pycache__" not in path.parts:
                build_data["force_include"][str(path)] = path.relative_to(top).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was made for it."""
        if hasattr(self, "_made"):
            self._made.cleanup()


def bundle(repository: Path) -> dict[str, str]:
    """Every file of the bundle, by its path, from the repository's sources."""
    needed = modules(repository)
    files = {target(name, repository): rewritten(name, needed, repository) for name in needed}
    return {**files, f"{PREFIX}/LICENSE": (repository / "LICENSE").read_text("utf-8")}


def modules(repository: Path) -> list[str]:
    """The dotted names of what the entries import, directly or through others."""
    found: set[str] = set()
    ahead = list(ENTRIES)
    while ahead:
        name = ahead.pop()
        path = source(name, repository)
        if name in found or path is None:
            continue
        found.add(name)
        ahead.append(name.rpartition(".")[0])
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            ahead += [imported for imported in _imported(node) if imported]
    return sorted(found)


def source(name: str, repository: Path) -> Path | None:
    """Where a module of the repository is that the wheel may need."""
    if name not in ENTRIES and name.partition(".")[0] not in SHARED:
        return None
    path = repository.joinpath(*name.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((each for each in candidates if each.is_file()), None)


def target(name: str, repository: Path) -> str:
    """Where a module goes in the wheel."""
    path = source(name, repository)
    assert path is not None
    if name == PREFIX:
        return f"{PREFIX}/__init__.py"
    inside = path.relative_to(repository).as_posix()
    return inside if name in ENTRIES else f"{PREFIX}/{inside}"


def rewritten(name: str, needed: list[str], repository: Path) -> str:
    """A module's text, with the prefix before each name of the bundle.

    Raises:
        ValueError: it imports something of the repository that is not bundled.
    """
    path = source(name, repository)
    assert path is not None
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        for at, written in _names(node):
            if written.partition(".")[0] not in SHARED:
                continue
            if isinstance(node, ast.Constant) and written not in needed:
                continue
            if isinstance(node, ast.Import):
                raise ValueError(f"{name} says `import {written}`: say `from … import` instead")
            if written not in needed:
                raise ValueError(f"{name} imports {written}, which is not there")
            line = lines[at]
            if line.count(written) != 1 and not line.startswith(f"from {written} import"):
                raise ValueError(f"{name}, line {at + 1}: {written} cannot be told apart")
            lines[at] = line.replace(written, f"{PREFIX}.{written}", 1)
    return "".join(lines)


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _names(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The line, from 0, and the text of each name of a module that a node says."""
    if isinstance(node, ast.Import):
        yield from ((node.lineno - 1, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.lineno - 1, node.module
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno - 1, node.value
