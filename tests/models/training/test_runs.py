"""Runs: the same seed gives the same weights, and one that was killed ends as if it never was."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from arena.errors import ConfigError, NotFoundError  # noqa: E402
from models.training import reinforce, supervised  # noqa: E402
from models.training.curves import Row  # noqa: E402
from models.training.runs import OnStep, Run, load_state, rate, run_folder  # noqa: E402
from models.training.settings import Optimiser, Rl, Sft  # noqa: E402

SFT: dict[str, Any] = {
    "kind": "sft",
    "name": "first",
    "steps": 60,
    "batch": 32,
    "save_every": 20,
    "network": {"width": 16, "layers": 1, "heads": 2, "hidden": 32},
    "data": {"kind": "teacher", "games": 30, "optimal": 0.7, "opponents": {"random": 1}},
    "optimiser": {"learning_rate": 1e-2},
}
RL: dict[str, Any] = {
    "kind": "rl",
    "name": "second",
    "start": "first",
    "steps": 4,
    "save_every": 1,
    "rollout": {"groups": 2, "group_size": 4, "opponents": {"minimax": 1}, "epsilon": [0.2, 0.6]},
    "optimiser": {"learning_rate": 1e-3},
}


class KilledError(Exception):
    pass


def digest(folder: Path) -> str:
    weights = load_state(folder)["weights"]
    return hashlib.sha256(b"".join(weights[name].numpy().tobytes() for name in weights)).hexdigest()


def go(stage: Sft | Rl, folder: Path, on_step: OnStep | None = None) -> Run:
    if isinstance(stage, Sft):
        return supervised.train(stage, folder, on_step)
    return reinforce.train(stage, folder, on_step)


def trained(folder: Path, seed: int = 0, stop_at: int | None = None) -> tuple[str, str]:
    """Both stages, each killed once on its way where `stop_at` says so."""

    def kill(row: Row, steps: int) -> None:
        if row["step"] == stop_at:
            raise KilledError

    sft = Sft.model_validate({**SFT, "seed": seed})
    rl = Rl.model_validate({**RL, "seed": seed})
    for stage in (sft, rl):
        if stop_at is not None:
            with pytest.raises(KilledError):
                go(stage, folder, kill)
        assert go(stage, folder).finished
    return digest(run_folder(folder, "first", seed)), digest(run_folder(folder, "second", seed))


def test_the_same_seed_gives_the_same_weights_killed_or_not(tmp_path: Path) -> None:
    whole = trained(tmp_path / "a")
    assert trained(tmp_path / "b", stop_at=3) == whole
    other = trained(tmp_path / "c", seed=1)
    assert len({*whole, *other}) == 4
    curves = [
        (tmp_path / each / "second-s0" / "curve.csv").read_text("utf-8") for each in ("a", "b")
    ]
    assert curves[0] == curves[1]
    assert curves[0].count("\n") == 5
    assert (tmp_path / "a" / "second-s0" / "curve.svg").exists()


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    stage = Sft.model_validate(SFT)
    supervised.train(stage, tmp_path)
    before = (tmp_path / "first-s0" / "state.pt").stat().st_mtime_ns
    assert supervised.train(stage, tmp_path).step == 60
    assert (tmp_path / "first-s0" / "state.pt").stat().st_mtime_ns == before


def test_a_run_does_not_go_on_with_other_settings(tmp_path: Path) -> None:
    supervised.train(Sft.model_validate(SFT), tmp_path)
    with pytest.raises(ConfigError, match="another 'batch'"):
        supervised.train(Sft.model_validate({**SFT, "batch": 33}), tmp_path)


def test_a_stage_needs_the_one_that_it_starts_from(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="train that stage first"):
        reinforce.train(Rl.model_validate(RL), tmp_path)

    def kill(row: Row, steps: int) -> None:
        raise KilledError

    stage = Sft.model_validate({**SFT, "save_every": 1})
    with pytest.raises(KilledError):
        supervised.train(stage, tmp_path, lambda row, _: kill(row, 0) if row["step"] == 2 else None)
    with pytest.raises(ConfigError, match="is not done"):
        reinforce.train(Rl.model_validate(RL), tmp_path)


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04"])
def test_a_checkpoint_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.pt").write_bytes(content)
    with pytest.raises(ConfigError, match="no checkpoint of ours"):
        load_state(tmp_path)


def test_the_learning_rate_warms_up_and_falls() -> None:
    settings = Optimiser(learning_rate=1.0, warmup=4, final=0.1)
    rates = [rate(settings, step, 100) for step in range(101)]
    assert rates[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert rates[4:] == sorted(rates[4:], reverse=True)
    assert rates[-1] == pytest.approx(0.1)


def test_a_run_knows_the_draws_of_its_step(tmp_path: Path) -> None:
    stage = Sft.model_validate(SFT)
    done: Run = supervised.train(stage, tmp_path)
    one, same = done.generators()[0].random(), done.generators()[0].random()
    done.step += 1
    assert one == same != done.generators()[0].random()
