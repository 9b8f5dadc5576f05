"""The environment as a wheel of its own, in a virtual environment that has not the arena."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.models.environment.conftest import OPTIONS
from tests.models.environment.script import scripted
from tests.models.environment.tools import ROOT, Tools
from tests.servers import ModelServer

HOME = ROOT / "environments" / "tictactoe_arena"
EVAL = "import sys\nfrom verifiers.v1.cli.eval.main import main\nmain()\n"


def build(source: Path, kind: str, folder: Path) -> Path:
    folder.mkdir()
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build(HOME, "wheel", tmp_path_factory.mktemp("wheel") / "one")


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Tools:
    """Where the wheel is, and all that it depends on."""
    folder = tmp_path_factory.mktemp("trainer")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # Its `.pth` files, one of which names the arena's folder, are read in no folder but a site's.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    tool = python.parent / "vf-eval"
    tool.write_text(f"#!{python}\n{EVAL}")
    tool.chmod(0o755)
    return Tools(folder, python=python)


def test_site_packages_get_one_prefix(installed):
    (site,) = (installed.folder / "venv" / "lib").glob("python*/site-packages")
    names = {path.name for path in site.iterdir()} - {"dependencies.pth"}
    assert names == {
        *("tictactoe_arena", "tictactoe_arena_duel.py", "tictactoe_arena-0.1.0.dist-info")
    }


def test_the_same_sources_give_the_same_bytes(wheel, tmp_path):
    again = build(HOME, "wheel", tmp_path / "again")
    archive = build(HOME, "sdist", tmp_path / "source")
    with tarfile.open(archive) as unpacked:
        unpacked.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    elsewhere = build(source, "wheel", tmp_path / "elsewhere")
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, again, elsewhere)}
    assert len(digests) == 1
    assert sorted(path.name for path in HOME.iterdir() if path.name != "__pycache__") == [
        *("README.md", "hatch_build.py", "prime-rl.toml", "pyproject.toml")
    ]


def test_it_plays_the_games_that_the_arena_plays(installed, tools, games):
    with ModelServer(scripted) as server:
        installed.evaluate("wheel", server, "tictactoe_arena", "-n", "12", *OPTIONS)
    facts = [episode["traces"][0]["info"]["game"] for episode in installed.traces("wheel")]
    wanted = [episode["traces"][0]["info"]["game"] for episode in tools.traces(games)]
    assert facts == wanted[:12]


def test_the_arena_is_not_there_and_the_example_fits(installed):
    """In one process: importing takes seconds."""
    code = f"""
import importlib.util, tomllib
assert not [name for name in ("arena", "models", "storage") if importlib.util.find_spec(name)]
import tictactoe_arena_duel
from tictactoe_arena.models.environment.options import GamesConfig
source = tomllib.load(open({str(HOME / "prime-rl.toml")!r}, "rb"))["orchestrator"]
for part in ("train", "eval"):
    for each in source[part]["source"]:
        config = GamesConfig.model_validate(each["env"]["taskset"])
        assert config.mix().example(0)
assert source["train"]["source"][0]["env"]["taskset"]["num_groups"] == (
    source["batch_size"] // source["group_size"]
)
"""
    done = subprocess.run(
        [str(installed.python), "-c", code], cwd=installed.folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_its_version_of_verifiers_is_the_arenas():
    own, wheels = (
        tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
        for folder in (ROOT, HOME)
    )
    pins = {name for name in wheels if name.startswith(("verifiers", "httpx", "pydantic"))}
    assert pins <= set(own)
