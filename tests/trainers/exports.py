"""Games of models, and the exports of them that trainers shall read, by the arena's own commands.

`python -m tests.trainers.exports FOLDER`, in the arena's environment: a trainer's has other needs.
The folders that it makes there:

- `jsonl`, `parquet`: games of scripted models, both splits of every flavour;
- `shipped`: games of `tiny-base`, which comes with the arena, from its demonstration;
- `engines`: no model played, so that only `games` has rows;
- `late`: everything for validation that can be.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from arena.opponents import parse
from tests.servers import ModelServer, Say, board_in

ROOT = Path(__file__).parents[2]
FLAVOURS = ("messages", "turns", "preference", "kto", "games")
MODELS = {
    "talker": "",
    "fresh": 'history = "board"',
    "keeper": 'reasoning_history = "keep"',
    "thinker": "",
    "silent": "",
}
"""Names, and what `models.toml` says of them: all thinking aloud but `keeper` and `thinker`, whose
thoughts come in a field of their own; `silent` sometimes says nothing at all."""
PERFECT = "minimax:tie=first"
GAMES = 12
"""Of each model."""

_THOUGHTS = (
    "I take {square}",
    "Ich nehme die {square} – schön für mich",
    "Überlegt: {square} 🙂👍🏽, «gut»",
    "Line one.\nLine two: {square}",
)


class Speaker:
    """Plays well and badly by turns, and few different games, so that there are pairs to compare.
    No two of its replies are alike, but for the blank ones.
    """

    def __init__(self) -> None:
        self._engine = parse(PERFECT)

    def __call__(self, body: dict[str, Any]) -> Say:
        chance = random.Random(body["seed"])
        board, name = board_in(body), body["model"]
        if name == "silent" and chance.random() < 0.3:
            return Say("")
        square = chance.choice((self._engine.choose(board, 0), board.free[-1]))
        thought = chance.choice(_THOUGHTS).format(square=square) + f" ({name} {body['seed']})"
        move = f"<move>{square}</move>"
        if chance.random() < 0.15:
            taken = [each for each in range(9) if each not in board.free]
            move = f"<move>{chance.choice([*taken, 9])}</move>"
        if chance.random() < 0.1:
            move = "Ich passe. 🙈"
        if name in ("thinker", "keeper"):
            return Say(move, reasoning=thought)
        return Say(f"<think>{thought}</think>{move}")


def arena(data: Path, *arguments: str) -> None:
    """Run `arena` with its data in a folder; it has to succeed."""
    command = [sys.executable, "-m", "cli", "--data-dir", str(data), *arguments]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "ARENA_DEMO": "0"})


def export(data: Path, out: Path, *arguments: str) -> None:
    """All flavours in one folder."""
    arena(data, "export", *FLAVOURS, "--out", str(out), *arguments)


def scripted(data: Path) -> None:
    """Play the games of the scripted models; each has seeds of its own."""
    data.mkdir()
    with ModelServer(Speaker()) as server:
        entries = (
            f'[[model]]\nname = "{name}"\nmodel = "{name}"\n{more}\nbase_url = "{server.base_url}"'
            for name, more in MODELS.items()
        )
        (data / "models.toml").write_text("\n".join(entries), "utf-8")
        for number, name in enumerate(MODELS):
            options = ("--games", str(GAMES), "--seed", str(GAMES * number), "--store")
            arena(data, "play", name, PERFECT, *options, "--opener", "alternate")


def main(folder: Path) -> None:
    models, demonstration, engines = (folder / name for name in ("models", "demo", "no-models"))
    scripted(models)
    for format in ("jsonl", "parquet"):
        export(models, folder / format, "--format", format, "--validation", "0.3")
    export(models, folder / "late", "--validation", "1")
    arena(demonstration, "import", str(ROOT / "storage/demo/games.jsonl.gz"))
    chosen = ("--player", "tiny-base", "--opponent", "random", "--format", "jsonl")
    export(demonstration, folder / "shipped", *chosen)
    arena(engines, "play", "random", "minimax", "--games", "3", "--store")
    export(engines, folder / "engines", "--format", "jsonl")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
