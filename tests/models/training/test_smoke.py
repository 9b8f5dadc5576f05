"""The whole loop on a smaller model: train, export, serve, play. `make train-smoke` runs it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("xllamacpp")

from models.training.runs import load_state  # noqa: E402

ROOT = Path(__file__).parents[3]
OPPONENT = "minimax:epsilon=0.5"
GAMES = 100
SFT = """
kind = "sft"
name = "sft"
steps = 120
batch = 64
[network]
width = 48
layers = 2
hidden = 96
[data]
kind = "teacher"
games = 1500
optimal = 0.5
opponents = { "minimax" = 1 }
epsilon = [0.3, 1.0]
[optimiser]
learning_rate = 4e-3
final = 0.1
"""
RL = """
kind = "rl"
name = "rl"
start = "sft"
steps = 25
[rollout]
groups = 16
opponents = { "minimax" = 1 }
epsilon = [0.3, 0.7]
[optimiser]
learning_rate = 1e-3
"""
EXPORTED = """
kind = "sft"
name = "again"
start = "sft"
steps = 60
batch = 64
[data]
kind = "export"
path = "messages.jsonl"
results = ["win"]
[optimiser]
learning_rate = 1e-3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("smoke")
    for name, text in (("sft", SFT), ("rl", RL), ("again", EXPORTED)):
        (made / f"{name}.toml").write_text(text, encoding="utf-8")
    train(made, "sft")
    train(made, "rl")
    return made


def arena(folder: Path, *arguments: str) -> str:
    """What a command prints; it has to succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "cli", "--data-dir", str(folder), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def train(folder: Path, name: str, runs: str = "runs") -> Path:
    kind = "rl" if name == "rl" else "sft"
    config = str(folder / f"{name}.toml")
    arena(folder, "train", kind, config, "--runs", str(folder / runs))
    return folder / runs / f"{name}-s0"


def exported(folder: Path, name: str) -> Path:
    config, runs = str(folder / f"{name}.toml"), str(folder / "runs")
    return Path(arena(folder, "train", "export", config, "--runs", runs).strip())


def not_lost(folder: Path, gguf: Path, *more: str) -> float:
    """The share over the arena's own server and endpoint, opening and replying."""
    shares = []
    for seats in ((str(gguf), OPPONENT), (OPPONENT, str(gguf))):
        said = arena(folder, "play", *seats, "--games", str(GAMES), "--json", *more)
        figures: dict[str, Any] = json.loads(said)
        assert figures["void"] == 0
        lost = figures["o_wins" if seats[0] == str(gguf) else "x_wins"]
        shares.append(1 - lost / GAMES)
    return sum(shares) / 2


def test_reinforcement_learning_makes_it_better(folder: Path) -> None:
    before, after = (not_lost(folder, exported(folder, name)) for name in ("sft", "rl"))
    assert 0.1 < before < after
    curve = (folder / "runs" / "rl-s0" / "curve.csv").read_text("utf-8").splitlines()
    assert len(curve) == 26


def test_its_own_won_games_make_it_better(folder: Path) -> None:
    """Generate, export, SFT on the export, evaluate: the full circle."""
    gguf = exported(folder, "sft")
    before = not_lost(folder, gguf, "--store")
    rows = folder / "messages.jsonl"
    arena(folder, "export", "messages", "--out", str(rows))
    train(folder, "again")
    assert not_lost(folder, exported(folder, "again")) > before


def test_the_same_seed_gives_the_same_weights(folder: Path) -> None:
    for name in ("sft", "rl"):
        one = load_state(folder / "runs" / f"{name}-s0")["weights"]
        same = load_state(train(folder, name, "runs-again"))["weights"]
        assert all(torch.equal(one[key], same[key]) for key in one)


def test_it_says_how_well_it_does(folder: Path) -> None:
    config, runs = str(folder / "rl.toml"), str(folder / "runs")
    options = ("--runs", runs, "--opponents", OPPONENT, "--games", "20", "--json")
    found = json.loads(arena(folder, "train", "evaluate", config, *options))
    assert [each["seat"] for each in found["entries"]] == ["opening", "replying"]
    assert all(each["games"] == 20 for each in found["entries"])
