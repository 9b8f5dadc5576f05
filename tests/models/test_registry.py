"""`models.toml`: what it may say, and how each mistake in it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError, NotFoundError
from models.entries import Prices
from models.prompt import History
from models.registry import LADDER, Registry

GOOD = """
[[model]]
name = "tiny/rl3"
base_url = "http://localhost:8000/v1/"
model = "rl3"
api_key_env = "TINY_KEY"
family = "tiny"
step = 3
prompt = "tags"
history = "board"
public = true
headers_env = { X-Tenant = "TENANT" }
extra_body = { top_a = 1, chat_template_kwargs = { enable_thinking = false } }
[model.sampling]
temperature = 0
top_k = 20
"""
KEY = "sk-9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def write(tmp_path, text):
    path = tmp_path / "models.toml"
    path.write_text(text, "utf-8")
    return path


def refusal(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        Registry.load(path)
    assert str(path) in str(raised.value)
    return str(raised.value)


def test_a_missing_file_is_an_empty_registry(tmp_path):
    registry = Registry.load(tmp_path / "models.toml")
    assert registry.entries == ()
    with pytest.raises(NotFoundError, match="no model is called 'x': there is none"):
        registry.get("x")


def test_prices_change_nothing_about_who_a_model_is(tmp_path):
    path = write(tmp_path, GOOD)
    unpriced = Registry.load(path).player("tiny/rl3").identity
    assert Registry.load(path).get("tiny/rl3").prices is None
    write(tmp_path, GOOD.replace("step = 3", "step = 3\nprices = { input = 0.15, output = 1 }"))
    registry = Registry.load(path)
    assert registry.get("tiny/rl3").prices == Prices(input=0.15, output=1, currency="USD")
    assert registry.player("tiny/rl3").identity == unpriced


def test_an_entry_and_its_player(tmp_path):
    registry = Registry.load(write(tmp_path, GOOD))
    entry = registry.get("tiny/rl3")
    assert (entry.history, entry.public, entry.max_games) == (History.BOARD, True, 4)
    assert entry.base_url == "http://localhost:8000/v1"
    identity = registry.player("tiny/rl3").identity
    assert (identity.name, identity.family, identity.step) == ("tiny/rl3", "tiny", 3)
    assert (identity.prompt, identity.deterministic) == ("tags", True)
    assert identity.settings == {
        "model": "rl3",
        "history": "board",
        "reasoning_history": "drop",
        "max_replies": 8,
        "sampling": {"temperature": 0, "top_p": 1, "max_tokens": 1024, "top_k": 20},
        "extra_body": {"top_a": 1, "chat_template_kwargs": {"enable_thinking": False}},
    }
    with pytest.raises(NotFoundError, match="did you mean 'tiny/rl3'"):
        registry.get("tiny/rl2")


def test_steps_make_a_family(tmp_path):
    text = """
    [[model]]
    name = "tiny-{step}"
    base_url = "http://localhost:8000/v1"
    model = "lora-{step}"
    steps = [100, 50]
    """
    registry = Registry.load(write(tmp_path, text))
    assert [(e.name, e.model, e.family, e.step) for e in registry.entries] == [
        ("tiny-50", "lora-50", "tiny", 50),
        ("tiny-100", "lora-100", "tiny", 100),
    ]


def test_entries_that_are_reached_alike_share_an_endpoint(tmp_path):
    other = GOOD.replace("tiny/rl3", "tiny/greedy")
    far = GOOD.replace("tiny/rl3", "tiny/far").replace("localhost", "far.example")
    registry = Registry.load(write(tmp_path, GOOD + other + far))
    assert registry.endpoint("tiny/rl3") is registry.endpoint("tiny/greedy")
    assert registry.endpoint("tiny/rl3") is not registry.endpoint("tiny/far")


def test_a_users_formats_lie_beside_the_file(tmp_path):
    (tmp_path / "formats.toml").write_text(
        '[format.mine]\nfirst = "{mark}{board}"\nnext = "{board}"\ninvalid = "no"\n', "utf-8"
    )
    text = GOOD.replace('prompt = "tags"', 'prompt = "mine"')
    assert Registry.load(write(tmp_path, text)).player("tiny/rl3").form.name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("public =", "pubic =", ["unknown key 'pubic'", "did you mean 'public'"]),
        ("temperature =", "temprature =", ["'sampling.temprature'", "did you mean 'temperature'"]),
        ('model = "rl3"\n', "", ["the key 'model' is missing"]),
        ("public = true", "public = 1", ["'public'", "boolean"]),
        ("step = 3", 'step = "3"', ["'step'", "integer"]),
        ("step = 3", "step = 3\nprices = 2", ["'prices'"]),
        ("step = 3", "step = 3\nprices = { input = 1 }", ["'prices.output' is missing"]),
        ("step = 3", "step = 3\nprices = { input = -1, output = 1 }", ["'prices.input'", "0"]),
        (
            "step = 3",
            'step = 3\nprices = { input = 1, output = 1, currency = "€" }',
            ["'prices.currency'", "such as USD or EUR"],
        ),
        ("step = 3", "steps = [3]", ["{step}"]),
        ("step = 3", "steps = []", ["'steps'"]),
        ('"tiny/rl3"', '"tiny-{step}"', ["'name' holds {step}"]),
        ("temperature = 0", "temperature = -1", ["'sampling.temperature'", "0"]),
        ("temperature = 0", "temperature = nan", ["'sampling.temperature'", "finite"]),
        ("[[model]]", "[[models]]", ["unknown key 'models'", "did you mean 'model'"]),
        ("[[model]]", "[model]", ["[[model]]"]),
        ("step = 3", "step = ", ["not valid TOML", "line 8"]),
        ('"board"', '"bord"', ["'history'", "'full' or 'board'"]),
        ('"tags"', '"tag"', ["'prompt'", "did you mean 'tags'"]),
        ('"tiny/rl3"', '"minimax:tie=first"', ["'name'", "an engine"]),
        ('"tiny/rl3"', '"random"', ["'name'", "an engine"]),
        ('"tiny/rl3"', '"Human"', ["'name'", "a person"]),
        ('"tiny/rl3"', '" x"', ["'name'", "printable"]),
        ("http://localhost:8000/v1/", "localhost:8000", ["'base_url'", "http://"]),
        ("http://localhost", f"http://me:{KEY}@localhost", ["'base_url'", "user, password"]),
        ("/v1/", f"/v1?key={KEY}", ["'base_url'", "query"]),
        ('"TINY_KEY"', f'"{KEY}"', ["'api_key_env'", "never the secret itself"]),
        ('"TINY_KEY"', '"hf_abcdefgh0123456789ABCDEFGH"', ["'api_key_env'", "never the secret"]),
        ("api_key_env =", "api_key =", ["unknown key 'api_key'", "did you mean 'api_key_env'"]),
        ('"TENANT"', f'"{KEY}"', ["'headers_env'", "never the secret itself"]),
        ("X-Tenant", '"X Tenant"', ["'headers_env'", "header"]),
        ("top_a = 1", "temperature = 1", ["'extra_body'", "under sampling"]),
        ("top_a = 1", "stream = true", ["'extra_body'", "the arena sets it"]),
        ("top_a = 1", "top_a = 2020-01-01", ["'extra_body'", "JSON"]),
        ("top_a = 1", "top_a = inf", ["'extra_body'", "JSON"]),
    ],
)
def test_a_mistake_is_named_with_file_entry_and_key(tmp_path, old, new, said):
    text = refusal(tmp_path, GOOD.replace(old, new, 1))
    for words in said:
        assert words in text
    assert KEY not in text
    assert "hf_" not in text


def test_the_entry_is_named_by_number_and_name(tmp_path):
    second = GOOD.replace("tiny/rl3", "second").replace("public", "pubic")
    assert "model 2 ('second')" in refusal(tmp_path, GOOD + second)
    assert "model 1: the key 'name' is missing" in refusal(
        tmp_path, GOOD.replace('name = "tiny/rl3"\n', "")
    )


def test_names_are_unique_after_expansion_too(tmp_path):
    assert "two models are called 'tiny/rl3'" in refusal(tmp_path, GOOD + GOOD)
    family = """
    [[model]]
    name = "tiny/rl{step}"
    base_url = "http://localhost:8000/v1"
    model = "{step}"
    steps = [3]
    """
    assert "two models are called 'tiny/rl3'" in refusal(tmp_path, GOOD + family)


def test_the_example_file_is_valid_once_uncommented(tmp_path):
    example = Path(__file__).parents[2] / "models.example.toml"
    lines = example.read_text("utf-8").splitlines()
    assert all(not line or line.startswith(("# ", "##")) for line in lines)
    text = "\n".join(line.removeprefix("# ") for line in lines if not line.startswith("##"))
    names = {entry.name for entry in Registry.load(write(tmp_path, text)).entries}
    assert len(names) >= 6


def test_the_ladder_comes_with_the_arena(tmp_path):
    registry = Registry.load(tmp_path / "models.toml", shipped=LADDER)
    steps = {entry.name: entry.step or 0 for entry in registry.entries}
    rungs = ["tiny-base", "tiny-sft", "tiny-rl1", "tiny-rl2", "tiny-rl3"]
    assert sorted(steps) == sorted([*rungs, "tiny-memoriser"])
    assert [steps[name] for name in rungs] == sorted(steps[name] for name in rungs)
    assert all(entry.public and entry.family == "tiny" for entry in registry.entries)
    for entry in registry.entries:
        file = Path(entry.address)
        assert file.parent == LADDER.parent
        assert file.stat().st_size < 1_000_000
        assert file.with_suffix(".md").exists()


def test_a_model_of_the_operators_own_counts_before_a_shipped_one(tmp_path):
    own = write(tmp_path, GOOD.replace("tiny/rl3", "tiny-rl3"))
    registry = Registry.load(own, shipped=LADDER)
    assert registry.get("tiny-rl3").base_url == "http://localhost:8000/v1"
    assert [entry.name for entry in registry.entries].count("tiny-rl3") == 1
    assert len(registry.entries) == 6
