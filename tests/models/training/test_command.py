"""`arena train` before anything is trained: what is wrong is said, in every installation."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
STAGE = str(ROOT / "models" / "ladder" / "base.toml")
WITHOUT_TORCH = (
    "import sys; sys.modules['torch'] = None; import cli; sys.exit(cli.main(sys.argv[1:]))"
)


def arena(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in an installation without torch."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, "--data-dir", str(tmp_path), "train", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("command", ["sft", "export", "evaluate"])
def test_without_torch_it_says_how_to_get_it(tmp_path: Path, command: str) -> None:
    done = arena(tmp_path, command, STAGE)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("arena: training needs torch")
    assert "make train-install" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_stage_is_trained_by_its_own_command(tmp_path: Path) -> None:
    done = arena(tmp_path, "rl", STAGE)
    assert done.returncode == 1
    assert "train it with `arena train sft`" in " ".join(done.stderr.split())


def test_an_unknown_panel_is_wrong_use(tmp_path: Path) -> None:
    done = arena(tmp_path, "evaluate", STAGE, "--panel", "standart")
    assert done.returncode == 2
    assert "did you mean 'standard'?" in done.stderr


def test_the_command_line_does_not_load_torch() -> None:
    code = "import cli, sys; sys.exit('torch' in sys.modules or 'gguf' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
