"""Drawing completions, and the network that they are drawn from."""

from collections import Counter

import pytest

torch = pytest.importorskip("torch")

from models.training.network import Network  # noqa: E402
from models.training.sampling import sample  # noqa: E402
from models.training.settings import Shape  # noqa: E402
from models.training.tokens import END_ID, Sample, encode  # noqa: E402

PROMPTS = [encode(text) for text in ("X012", "O0X2", "X012", "longer than these")]


def drawn(
    network: Network,
    prompts: list[tuple[int, ...]],
    seed: int = 0,
    *,
    temperature: float = 1.0,
    max_tokens: int = 5,
) -> list[Sample]:
    generator = torch.Generator().manual_seed(seed)
    return sample(network, prompts, generator, temperature=temperature, max_tokens=max_tokens)


def test_logprobs_are_those_of_the_whole_sequence(network: Network) -> None:
    for each in drawn(network, PROMPTS, temperature=1.25):
        ids = torch.tensor([each.prompt + each.completion])
        logits = network.of_completions(ids, len(each.prompt))[0] / 1.25
        wanted = torch.log_softmax(logits, -1).gather(-1, ids[0, len(each.prompt) :, None])
        assert each.logprobs == pytest.approx(wanted.squeeze(-1).tolist(), abs=1e-5)


def test_answers_stand_in_the_order_of_the_prompts(network: Network) -> None:
    assert [each.prompt for each in drawn(network, PROMPTS)] == PROMPTS


def test_the_same_generator_gives_the_same_draws(network: Network) -> None:
    assert drawn(network, PROMPTS, 1) == drawn(network, PROMPTS, 1) != drawn(network, PROMPTS, 2)


def test_draws_follow_the_distribution(network: Network) -> None:
    n = 20_000
    with torch.no_grad():
        network.embedding.weight.mul_(2)
        logits = network(torch.tensor([PROMPTS[0]]))[0][0, -1]
    chances = torch.softmax(logits, -1)
    found = Counter(each.completion[0] for each in drawn(network, PROMPTS[:1] * n, max_tokens=1))
    expected = {token: n * float(chances[token]) for token in range(len(chances))}
    common = [token for token, count in expected.items() if count >= 20]
    squared = sum((found[token] - expected[token]) ** 2 / expected[token] for token in common)
    # Five standard deviations of chi-square above its mean; the draws are seeded.
    assert len(common) > 20
    assert squared < len(common) + 5 * (2 * len(common)) ** 0.5


def test_equal_prompts_are_drawn_independently(network: Network) -> None:
    assert len({each.completion for each in drawn(network, PROMPTS[:1] * 50)}) > 40


def test_at_temperature_zero_the_likeliest_token_is_taken(network: Network) -> None:
    for each in drawn(network, PROMPTS, temperature=0):
        ids = torch.tensor([each.prompt + each.completion])
        logits = network.of_completions(ids, len(each.prompt))[0]
        assert logits.argmax(-1).tolist() == list(each.completion)


def test_a_completion_ends_with_its_end_token_or_at_the_cap(network: Network) -> None:
    with torch.no_grad():
        network.embedding.weight[END_ID] += network.norm(torch.ones(32)) * 0.3
    found = drawn(network, PROMPTS[:1] * 200, max_tokens=9)
    assert {each.ended for each in found} == {True, False}
    for each in found:
        assert each.ended == (each.completion[-1] == END_ID)
        assert END_ID not in each.completion[:-1]
        assert each.ended or len(each.completion) == 9


def test_a_completion_ends_with_the_context(network: Network) -> None:
    long = (1,) * (network.shape.context - 2)
    assert len(drawn(network, [long], max_tokens=9)[0].completion) <= 2


def test_the_seed_makes_the_weights() -> None:
    shape = Shape(width=16, layers=1, heads=2, hidden=16)
    one, same, other = (Network(shape, seed).state_dict() for seed in (0, 0, 1))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["embedding.weight"], other["embedding.weight"])
