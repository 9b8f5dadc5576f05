"""Exports by the arena's own commands, made once. The trainers run in an environment of their own,
so the arena's is another one: `$ARENA_PYTHON`, or the one in `.venv`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ARENA = os.environ.get("ARENA_PYTHON", str(ROOT / ".venv/bin/python"))


@pytest.fixture(scope="session")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders that `tests.trainers.exports` makes."""
    folder = tmp_path_factory.mktemp("exports")
    done = subprocess.run(
        [ARENA, "-m", "tests.trainers.exports", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`datasets.load_dataset`, with a cache of its own."""
    import datasets

    datasets.disable_progress_bars()
    cache = tmp_path_factory.mktemp("cache")
    return lambda *args, **options: datasets.load_dataset(
        *map(str, args), cache_dir=str(cache), **options
    )


@pytest.fixture(scope="session")
def all_rows(exports: Path, load: Any) -> Any:
    """The rows of a flavour in one of the folders, whichever their split."""
    from datasets import concatenate_datasets

    return lambda folder, flavour: concatenate_datasets(
        list(load(exports / folder, flavour).values())
    )
