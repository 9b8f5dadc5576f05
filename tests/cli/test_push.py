"""`arena push` against a Hub of our own, as a user runs it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.datasets.folder import MARK
from tests.cli.test_commands import arena, numbers
from tests.servers import closed_port
from tests.servers.hub import Hub
from tests.web.process import ROOT

TOKEN = "hf_canary_c91d"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    numbers(folder / "data", "random", "minimax", "--games", "20", "--store")
    done = arena(folder / "data", "export", "games", "--out", str(folder / "set"))
    assert done.returncode == 0, done.stderr
    return folder / "set"


@pytest.fixture
def dataset(exported: Path, tmp_path: Path) -> Path:
    """An export of 20 games."""
    return Path(shutil.copytree(exported, tmp_path / "set"))


def push(folder: Path, hub_url: str, *more: str, token: str | None = TOKEN):
    """Push as `me/games`; the home has a token of an earlier log-in, which must not be used."""
    home = folder.parent / "home"
    (home / ".cache" / "huggingface").mkdir(parents=True, exist_ok=True)
    (home / ".cache" / "huggingface" / "token").write_text("hf_stored")
    environment = {"HF_ENDPOINT": hub_url, "HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1"}
    if token:
        environment["HF_TOKEN"] = token
    command = ("push", "games", "--folder", str(folder), *more)
    return arena(folder.parent / "data", *command, environment=environment)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_what_is_in_the_folder_is_on_the_hub(hub: Hub, dataset: Path):
    done = push(dataset, hub.url, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["url"] == f"{hub.url}/datasets/me/games"
    assert hub.repos["me/games"] == files(dataset)
    assert hub.private == {"me/games": True}
    assert hub.tokens == {f"Bearer {TOKEN}"}
    assert TOKEN not in done.stdout + done.stderr
    # What the next one has no more is gone, and what is not ours stays.
    hub.repos["me/games"]["games/train-00007.parquet"] = b"old"
    hub.repos["me/games"][".gitattributes"] = b"theirs"
    assert push(dataset, hub.url).returncode == 0
    assert hub.repos["me/games"] == {**files(dataset), ".gitattributes": b"theirs"}


def test_an_empty_set_takes_no_place(hub: Hub, dataset: Path):
    assert push(dataset, hub.url).returncode == 0
    before = dict(hub.repos["me/games"])
    empty = dataset.parent / "empty"
    empty.mkdir()
    (empty / "README.md").write_text(MARK)
    done = push(empty, hub.url)
    assert done.returncode == 1
    assert "an empty dataset does not take the place" in " ".join(done.stderr.split())
    assert hub.repos["me/games"] == before


@pytest.mark.parametrize(
    "others",
    [
        {"data/train-00000.parquet": b"theirs"},
        {"data/train-00000.parquet": b"theirs", "README.md": b"# Poems"},
        {"poems.csv": b"a,b", "README.md": b"# Poems", ".gitattributes": b""},
    ],
)
def test_somebody_elses_dataset_stays_as_it_is(hub: Hub, dataset: Path, others: dict[str, bytes]):
    hub.repos["me/games"] = dict(others)
    done = push(dataset, hub.url)
    assert (done.returncode, hub.repos["me/games"]) == (1, others)
    assert "me/games holds something else than an export" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_dataset_that_is_new_on_the_hub_has_a_card(hub: Hub, dataset: Path):
    hub.repos["me/games"] = {".gitattributes": b"", "README.md": b"license: mit"}
    assert push(dataset, hub.url).returncode == 0
    assert hub.repos["me/games"] == {**files(dataset), ".gitattributes": b""}


def test_without_a_token_nothing_is_asked(hub: Hub, dataset: Path):
    done = push(dataset, hub.url, token=None)
    assert done.returncode == 1
    assert "set HF_TOKEN" in done.stderr
    assert hub.tokens == set()


def test_a_folder_that_is_no_export(hub: Hub, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("diary")
    done = push(tmp_path / "mine", hub.url)
    assert done.returncode == 2
    assert "is no export" in done.stderr
    assert hub.repos == {}


@pytest.mark.parametrize("status", [401, 403, 500])
def test_a_hub_that_refuses(hub: Hub, dataset: Path, status: int):
    hub.refuses = status
    done = push(dataset, hub.url)
    assert done.returncode == 1
    assert "the Hub refuses" in done.stderr
    assert "Traceback" not in done.stderr
    assert TOKEN not in done.stderr


_ODD = [
    (route, *answer)
    for route in ("/create", "/tree/", "/preupload/", "/commit/")
    for answer in ((200, b"<html>Sign in to the network"), (200, b'{"a": 1}'), (409, b"{}"))
]


@pytest.mark.parametrize(
    ("route", "status", "body"),
    [*_ODD, ("/create", 200, b""), ("/preupload/", 200, b"[7]"), ("/commit/", 413, b"<html>")],
)
def test_answers_that_no_hub_gives(hub: Hub, dataset: Path, route: str, status: int, body: bytes):
    hub.odd[route] = (status, body)
    done = push(dataset, hub.url)
    assert done.returncode == 1, done.stderr
    assert "arena: the Hub " in done.stderr
    assert "Traceback" not in done.stderr
    assert TOKEN not in done.stderr
    assert not hub.repos.get("me/games")


def test_blanks_around_a_token_do_not_count(hub: Hub, dataset: Path):
    assert push(dataset, hub.url, token=f" {TOKEN}\n").returncode == 0
    assert hub.tokens == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("token", ["hf_cañary_c91d", "hf_canary c91d", "hf_canary\nc91d", " "])
def test_what_is_no_token(hub: Hub, dataset: Path, token: str):
    done = push(dataset, hub.url, token=token)
    assert done.returncode == 1
    assert "set HF_TOKEN" in done.stderr
    assert "Traceback" not in done.stderr
    assert "c91d" not in done.stderr
    assert hub.tokens == set()


def test_a_hub_that_is_silent(dataset: Path):
    program = (
        "import sys; from cli import main; from storage.datasets import hub; hub.PATIENCE_S = 1;"
        "sys.exit(main(sys.argv[1:]))"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hub = {"HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}", "HF_TOKEN": TOKEN}
        done = subprocess.run(
            [sys.executable, "-c", program, "push", "games", "--folder", str(dataset)],
            cwd=ROOT,
            env=os.environ | hub | {"HF_HUB_DISABLE_TELEMETRY": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    assert "the Hub cannot be reached: ReadTimeout" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_hub_that_is_not_there(dataset: Path):
    done = push(dataset, f"http://127.0.0.1:{closed_port()}")
    assert done.returncode == 1
    assert "the Hub cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
