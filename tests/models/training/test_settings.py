"""Stages' TOML files: what they may say, and what is said of a mistake."""

from pathlib import Path

import pytest

from arena.errors import ConfigError
from models.training.settings import Export, Rl, Sft, load_stage

LADDER = Path(__file__).parents[3] / "models" / "ladder"
SFT = """
kind = "sft"
name = "a"
steps = 3
batch = 4
[data]
kind = "loose"
boards = 10
[optimiser]
learning_rate = 1e-3
"""
RL = """
kind = "rl"
name = "b"
start = "a"
steps = 3
[rollout]
opponents = { "minimax" = 1 }
[optimiser]
learning_rate = 1e-3
"""


def load(tmp_path: Path, text: str) -> Sft | Rl:
    path = tmp_path / "stage.toml"
    path.write_text(text, encoding="utf-8")
    return load_stage(path)


def test_a_seed_of_the_command_goes_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "stage.toml"
    path.write_text(SFT, encoding="utf-8")
    assert load_stage(path).seed == 0
    assert load_stage(path, seed=7).seed == 7


def test_an_export_lies_beside_its_stage(tmp_path: Path) -> None:
    text = SFT.replace('kind = "loose"\nboards = 10', 'kind = "export"\npath = "mine.jsonl"')
    stage = load(tmp_path, text)
    assert isinstance(stage, Sft)
    assert isinstance(stage.data, Export)
    assert stage.data.path == str(tmp_path / "mine.jsonl")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "'kind' has to be 'sft' or 'rl'"),
        ("kind = 3", "'kind' has to be"),
        ("kind =", "not valid TOML"),
        (SFT.replace("batch = 4", "batch = 0"), "'batch'"),
        (SFT.replace("batch = 4", ""), "the key 'batch' is missing"),
        (SFT.replace("batch", "bach"), "unknown key 'bach': did you mean 'batch'?"),
        (SFT.replace('"a"', '"../a"'), "'name'"),
        (SFT + "[network]\nwidth = 30\nheads = 4", "has to be a multiple of twice 'heads'"),
        (RL.replace('"minimax"', '"minimaxi"'), "unknown engine 'minimaxi'"),
        (RL.replace("[rollout]", "[rollout]\nepsilon = [0.5, 0.1]"), "'rollout.epsilon'"),
        (RL.replace("[rollout]", "[rollout]\nepsilonn = [0, 1]"), "did you mean 'epsilon'?"),
        (RL.replace("[rollout]", '[rollout]\nprompt = "tag"'), "did you mean 'tags'?"),
        (RL.replace("[rollout]", "[rollout]\ngroup_size = 1"), "'rollout.group_size'"),
        (RL.replace('start = "a"', ""), "the key 'start' is missing"),
        (RL.replace("1e-3", "inf"), "'optimiser.learning_rate'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    assert told in str(error.value)
    assert "stage.toml" in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        load_stage(tmp_path / "none.toml")


@pytest.mark.parametrize("name", ["base", "sft", "rl1", "rl2", "rl3", "memoriser"])
def test_the_ladders_stages_can_be_read(name: str) -> None:
    stage = load_stage(LADDER / f"{name}.toml")
    assert stage.name == name
    assert stage.start is None or (LADDER / f"{stage.start}.toml").exists()


@pytest.mark.parametrize(
    ("opponent", "spec"),
    [
        ("minimax", "minimax:epsilon=0.25"),
        ("minimax:tie=first", "minimax:tie=first,epsilon=0.25"),
        ("minimax:epsilon=0.5", "minimax:epsilon=0.5"),
        ("random", "random"),
    ],
)
def test_opponents_get_their_chance_of_a_random_move(
    tmp_path: Path, opponent: str, spec: str
) -> None:
    stage = load(tmp_path, RL)
    assert isinstance(stage, Rl)
    assert stage.rollout.spec(opponent, 0.25) == spec
