"""Exported checkpoints in the arena's own llama.cpp: the same prompts, the same answers."""

import random
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("xllamacpp")

from arena.board import Mark, boards  # noqa: E402
from arena.game import Attempt, Game, Turn, Verdict  # noqa: E402
from models.completion import Completion  # noqa: E402
from models.library import TAGS  # noqa: E402
from models.prompt import History, messages  # noqa: E402
from models.registry import Registry  # noqa: E402
from models.training.gguf_file import export  # noqa: E402
from models.training.lessons import lessons  # noqa: E402
from models.training.network import Network  # noqa: E402
from models.training.sampling import sample  # noqa: E402
from models.training.settings import Shape, Teacher  # noqa: E402
from models.training.supervised import loss_of  # noqa: E402
from models.training.tokens import decode, encode, prompt_text  # noqa: E402

GREEDY = {"max_tokens": 24, "temperature": 0}
TEACHER = Teacher(
    kind="teacher", games=300, optimal=0.8, opponents={"minimax": 1}, epsilon=[0.5, 0.5]
)


@pytest.fixture(scope="module")
def taught() -> Network:
    """A network that has learnt a little, so that its likeliest tokens stand out."""
    found = lessons(TEACHER, 0)
    network = Network(Shape(width=48, layers=2, heads=4, hidden=64))
    optimiser = torch.optim.AdamW(network.parameters(), 4e-3)
    generator = random.Random(0)
    for _ in range(80):
        total, _, count = loss_of(network, generator.choices(found, k=64))
        optimiser.zero_grad()
        (total / count).backward()
        optimiser.step()
    return network


def games(count: int) -> list[tuple[Game, tuple[Attempt, ...]]]:
    """Games that wait for a model's move, some of them after an invalid reply."""
    generator = random.Random(1)
    chosen = generator.sample([b for b in boards(Mark.X) if b.outcome is None], count)
    made = []
    for number, board in enumerate(chosen):
        game = Game()
        squares = {mark: [s for s, m in enumerate(board.squares) if m is mark] for mark in Mark}
        while any(squares.values()):
            said = (Attempt((), "<move>0</move>", Verdict.OK, 0, True, False),)
            game.add(Turn(game.to_move, squares[game.to_move].pop(), said))
        wrong = Attempt(
            (), "<think>hm</think><move>9</move>", Verdict.OUT_OF_RANGE, None, True, True
        )
        made.append((game, (wrong,) * (number % 4 == 3)))
    return made


async def test_llama_cpp_answers_as_torch_does(taught: Network, tmp_path: Path) -> None:
    path = export(taught, tmp_path / "taught.gguf", "taught")
    registry = Registry()
    name = registry.add_file(path).name
    different, exact = [], 0
    try:
        for number, (game, attempts) in enumerate(games(40)):
            history = list(History)[number % 2]
            chat = messages(game, game.to_move, attempts, TAGS, history)
            found = await registry.endpoint(name).complete(chat, 1, GREEDY)
            assert isinstance(found, Completion)
            prompt = encode(prompt_text(chat))
            own = sample(taught, [prompt], torch.Generator(), temperature=0, max_tokens=24)[0]
            assert found.prompt_tokens == len(prompt) == 10 + len(attempts)
            exact += found.finish_reason == "stop"
            if found.message["content"] != decode(own.completion):
                different.append((found.message["content"], decode(own.completion)))
    finally:
        await registry.close()
    # Half-precision weights may turn one near-tie.
    assert len(different) <= 1, different
    assert exact >= 39


def test_the_same_weights_give_the_same_bytes(taught: Network, tmp_path: Path) -> None:
    one, same = (export(taught, tmp_path / f"{n}.gguf", "taught") for n in "ab")
    assert one.read_bytes() == same.read_bytes()
    assert not list(tmp_path.glob("*.part"))
