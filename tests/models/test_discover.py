"""What a server lists becomes entries that load."""

from __future__ import annotations

import tomllib
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError, ConfigError, NotFoundError
from models.discover import _Proposal, discover
from models.endpoint import Endpoint
from models.listing import Listed
from models.registry import Registry
from tests.servers import Json, Page, Reset, Say, closed_port, payload

CANARY = "sk-canary-9f8e7d6c5b4a"
URL = "http://localhost:8000/v1"
ADAPTERS = [
    {"id": "base", "max_model_len": 2048},
    *({"id": f"ttt-{step}", "parent": "base"} for step in (100, 50, 1000)),
]


@pytest.fixture
def load(tmp_path):
    """The entries of a proposal, by name."""

    def loaded(toml: str):
        path = tmp_path / "models.toml"
        path.write_text(toml, "utf-8")
        return {entry.name: entry for entry in Registry.load(path).entries}

    return loaded


def propose(*models: str | Listed):
    proposal = _Proposal(URL, None)
    proposal.add([Listed(each) if isinstance(each, str) else each for each in models])
    return proposal


async def test_a_base_model_and_its_adapters(serve, load):
    server = serve(Say("x"), models=ADAPTERS)
    found = await discover(server.base_url + "/")
    assert found.base_url == server.base_url
    assert [(model.id, model.parent, model.context) for model in found.models] == [
        ("base", None, 2048),
        ("ttt-100", "base", 2048),
        ("ttt-50", "base", 2048),
        ("ttt-1000", "base", 2048),
    ]
    entries = load(found.toml)
    assert {
        name: (entry.model, entry.family, entry.step, entry.base_url)
        for name, entry in entries.items()
    } == {
        "base": ("base", None, None, server.base_url),
        "ttt-50": ("ttt-50", "ttt", 50, server.base_url),
        "ttt-100": ("ttt-100", "ttt", 100, server.base_url),
        "ttt-1000": ("ttt-1000", "ttt", 1000, server.base_url),
    }
    assert "# an adapter of base\n# context: 2048 tokens\n" in found.toml
    assert found.toml.count("[[model]]") == 2
    assert (found.notes, found.to_json()["models"][1]["parent"]) == ((), "base")


async def test_the_key_is_named_and_never_shown(serve, load):
    server = serve(Say("x"), models=["m", f"named-{CANARY}"], key=CANARY)
    make = partial(Endpoint, environ={"KEY": CANARY})
    found = await discover(server.base_url, "KEY", make)
    assert {entry.api_key_env for entry in load(found.toml).values()} == {"KEY"}
    assert "canary" not in repr(found)
    with pytest.raises(ArenaError, match="the server refused the key") as raised:
        await discover(server.base_url, "KEY", partial(Endpoint, environ={"KEY": "wrong"}))
    assert "wrong" not in str(raised.value)
    with pytest.raises(ConfigError, match="the environment variable KEY is not set"):
        await discover(server.base_url, "KEY", partial(Endpoint, environ={}))


async def test_an_address_without_v1(serve, load):
    server = serve(Say("x"))
    base = server.base_url.removesuffix("/v1")
    found = await discover(base)
    assert found.base_url == server.base_url
    assert found.notes == (f"There is no list at {base}, but there is one at {base}/v1.",)
    assert load(found.toml)["m"].base_url == server.base_url


@pytest.mark.parametrize(
    ("models", "error", "words"),
    [
        ((), NotFoundError, "list of models is empty"),
        (Json(404, {}), ArenaError, "a base URL usually ends in /v1"),
        (Page(200, "<html>Hello</html>"), ArenaError, "lists no models there"),
        (Json(200, {"data": 7}), ArenaError, "lists no models there"),
        (payload("bad_key"), ArenaError, "refused the key"),
        (payload("html_from_proxy"), ArenaError, "status 502"),
        (payload("server_error"), ArenaError, "status 500"),
        (Json(307, {}, {"location": "/elsewhere"}), ArenaError, "redirects elsewhere"),
        (Reset(), ArenaError, "broke off"),
    ],
)
async def test_there_is_no_list(models, error, words, serve):
    server = serve(Say("x"), models=models)
    with pytest.raises(error) as raised:
        await discover(server.base_url)
    assert words in str(raised.value)
    assert server.base_url in str(raised.value)
    assert "<html>" not in str(raised.value)


async def test_nobody_listens():
    with pytest.raises(ArenaError, match="the connection was refused"):
        await discover(f"http://127.0.0.1:{closed_port()}/v1")


@pytest.mark.parametrize(
    ("address", "variable", "words"),
    [
        ("localhost:8000", None, "'base_url'"),
        (f"http://me:{CANARY}@localhost/v1", None, "no user, password"),
        (URL, CANARY, "never the secret itself"),
    ],
)
async def test_what_cannot_be_asked(address, variable, words):
    with pytest.raises(ConfigError, match=words) as raised:
        await discover(address, variable)
    assert CANARY not in str(raised.value)


@pytest.mark.parametrize(
    ("ids", "families"),
    [
        (["a-1", "a-2", "b-1", "b-2"], {"a-{step}": [1, 2], "b-{step}": [1, 2]}),
        (["r1-50", "r1-100", "r2-50", "r2-100"], {"r1-{step}": [50, 100], "r2-{step}": [50, 100]}),
        (["s10/v2", "s20/v2", "s30/v2", "s30/v3"], {"s{step}/v2": [10, 20, 30]}),
        (["50", "100"], {"{step}": [50, 100]}),
        (["org/m-step-5-rl", "org/m-step-15-rl"], {"org/m-step-{step}-rl": [5, 15]}),
        (["m-8b", "m-70b", "m-0.6B", "m-1.7B", "m:7b-chat", "m:13b-chat"], {}),
        (["m-3.1", "m-3.2", "m4.5", "m4.6"], {}),
        (["step-0050", "step-0100"], {}),
        (["x-2024-08-06", "x-2024-11-20"], {}),
        (["only-7"], {}),
    ],
)
def test_families(ids, families, load):
    proposal = propose(*ids)
    tables = tomllib.loads(proposal.toml)["model"]
    assert {table["model"]: table["steps"] for table in tables if "steps" in table} == families
    assert sorted(entry.model for entry in load(proposal.toml).values()) == sorted(ids)


def test_numbers_with_leading_zeros_are_steps_too(load):
    entries = load(propose("ttt-0050", "ttt-0100", "008", "016").toml)
    assert [(e.name, e.family, e.step) for e in entries.values()] == [
        ("ttt-0050", "ttt", 50),
        ("ttt-0100", "ttt", 100),
        ("008", "checkpoint", 8),
        ("016", "checkpoint", 16),
    ]


def test_adapters_of_two_models_are_two_families(load):
    models = [Listed(f"x-{step}", f"base{step % 2}") for step in (1, 2, 3, 4)]
    tables = tomllib.loads(propose(*models).toml)["model"]
    assert [table["steps"] for table in tables] == [[1, 3], [2, 4]]
    assert len(load(propose(*models).toml)) == 4


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("random", "llm-random"),
        ("minimax:tie=first", "minimax-tie=first"),
        ("llama3.2:latest", "llama3.2:latest"),
        (" padded ", "padded"),
        ('quote " \\ back', 'quote " \\ back'),
        ("line\n[[model]]\nbreak", "line-[[model]]-break"),
        ("nul\0 del\x7f", "nul- del-"),
        ("\u2028", "-"),
        ("日本 ♟", "日本 ♟"),
        ("[m]#x = 'y'", "[m]#x = 'y'"),
        (" ", "model-without-a-name"),
    ],
)
def test_names_and_quotes(name, entry, load):
    assert {each.name: each.model for each in load(propose(name).toml).values()} == {entry: name}


def test_names_that_would_be_the_same(load):
    long = [f"{letter}{'x' * 100}" for letter in "abc"]
    names = ["a:1x", "a\n", "a\r", "t-1", "t-2", "t-1 ", *long]
    entries = load(propose(*names).toml)
    assert sorted(entry.model for entry in entries.values()) == sorted(names)


@pytest.mark.parametrize("name", ["", "x" * 301, "with-{step}", "\ud800"])
def test_what_no_entry_can_name_is_left_out_with_a_note(name, load):
    proposal = propose(name, "other")
    assert list(load(proposal.toml)) == ["other"]
    assert len(proposal.notes) == 1


@given(
    st.lists(st.text(max_size=90) | st.from_regex(r"[a-c{}]{1,3}-?[0-9]{1,3}[a-b]?"), max_size=8)
)
def test_every_proposal_loads(tmp_path_factory, ids):
    proposal = propose(*dict.fromkeys(ids))
    path = tmp_path_factory.mktemp("proposal") / "models.toml"
    path.write_text(proposal.toml, "utf-8")
    entries = Registry.load(path).entries
    assert len(entries) + len(proposal.notes) == len(set(ids))
    assert {entry.model for entry in entries} <= set(ids)


async def test_a_very_long_list(serve, load):
    server = serve(Say("x"), models=[f"m\n{number}b" for number in range(1500)])
    found = await discover(server.base_url)
    assert len(load(found.toml)) == 1000
    assert found.notes == ("Only the first 1000 of 1500 models are proposed.",)
