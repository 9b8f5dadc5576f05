"""The first contact: servers, keys and models that are not there."""

from __future__ import annotations

import json

import pytest

from models.doctor import examine
from models.registry import Registry
from tests.models.doctor.conftest import NOTE, OK, PROBLEM, UNKNOWN, outcomes, probe, refusing
from tests.servers import Drip, Json, Page, Reset, Say, Silence, Talker, closed_port, payload

CANARY = "sk-canary-9f8e7d6c5b4a"


async def test_nobody_listens(doctor):
    card = await doctor(f"http://127.0.0.1:{closed_port()}/v1")
    assert not card.ok
    assert card.summary == "cannot play: The connection was refused."
    assert outcomes(card) == {"reachable": PROBLEM}
    assert "base_url" in str(card.probes[0].change)
    assert card.requests == 2


async def test_no_such_host(doctor):
    card = await doctor("http://no-such-host.invalid/v1")
    assert (card.ok, outcomes(card)) == (False, {"reachable": PROBLEM})


@pytest.mark.parametrize("fault", [Silence(), Drip(), Say("x", delay_s=9)])
async def test_a_server_that_never_answers(fault, serve, doctor):
    card = await doctor(serve(fault), "max_tries = 1", "timeout_s = 0.2")
    assert card.stopped == "No whole answer came within 0.2 s."


async def test_a_server_that_breaks_off(serve, doctor):
    server = serve(Reset())
    card = await doctor(server)
    assert "broke off within the answer" in str(card.stopped)
    assert len(server.requests) == 3


async def test_a_wrong_key(serve, doctor):
    server = serve(Talker(), key="right")
    card = await doctor(server, 'api_key_env = "KEY"', environ={"KEY": CANARY})
    assert outcomes(card) == {"reachable": OK, "key": PROBLEM}
    assert str(card.stopped).startswith("The server refused the key (status 401)")
    assert "KEY" in str(probe(card, "key").change)
    assert (await doctor(server, 'api_key_env = "KEY"', environ={"KEY": "right"})).ok


async def test_a_key_that_is_wanted(serve, doctor):
    card = await doctor(serve(Talker(), key="right"))
    assert "api_key_env" in str(probe(card, "key").change)


async def test_a_missing_variable(serve, doctor):
    server = serve(Talker())
    card = await doctor(server, 'api_key_env = "KEY"')
    assert card.stopped == "The environment variable KEY is not set."
    assert outcomes(card) == {"key": PROBLEM}
    assert server.requests == []


async def test_a_server_without_v1(serve, doctor):
    server = serve(Talker())
    base = server.base_url.removesuffix("/v1")
    card = await doctor(base)
    assert card.stopped == f"There is no API at {base}, but there is one at {base}/v1."
    assert probe(card, "reachable").change == f'base_url, to "{base}/v1"'


async def test_a_page_where_an_api_should_be(serve, doctor):
    card = await doctor(serve(Page(404, "<html>Nothing here</html>"), models=Page(404, "<html>")))
    assert "no chat completions at this address" in str(card.stopped)
    assert "html" not in str(card.to_json())
    card = await doctor(serve(payload("html_from_proxy"), models=payload("html_from_proxy")))
    assert "status 502" in str(card.stopped)
    page = Page(200, "<html>Welcome</html>", {"content-type": "text/html"})
    assert "no JSON" in str((await doctor(serve(page, models=page))).stopped)


@pytest.mark.parametrize("name", ["unknown_model", "vllm_unknown_model_wrapped"])
async def test_an_unknown_model(name, serve, doctor):
    models = [f"step-{number}" for number in range(12)]
    card = await doctor(serve(payload(name), models=models), 'model = "stp-7"')
    assert outcomes(card) == {"reachable": OK, "model": PROBLEM}
    assert "offers step-0, step-1" in str(card.stopped)
    assert "and 2 more" in str(card.stopped)
    assert "'step-7'" in str(probe(card, "model").change)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("server_error", "status 500"),
        ("model_loading", "Loading model"),
        ("rate_limited", "status 429"),
        ("overloaded_529", "status 529"),
        ("not_json_200", "no JSON"),
        ("choices_empty", "no reply"),
        ("choices_null", "no reply"),
        ("timeout_error_408", "status 408"),
    ],
)
async def test_a_server_that_only_fails(name, words, serve, doctor):
    server = serve(payload(name))
    card = await doctor(server)
    assert not card.ok
    assert words in str(card.stopped)
    assert len(server.requests) <= 3


async def test_no_quota(serve, doctor):
    card = await doctor(serve(payload("quota_gone")))
    assert "no quota left" in str(card.stopped)
    assert card.requests == 2


async def test_a_parameter_of_the_entry_that_is_refused(serve, doctor):
    refusal = Json(400, {"error": {"message": "Unknown parameter: 'top_a'", "param": "top_a"}})
    card = await doctor(serve(refusal), "extra_body = { top_a = 1 }")
    assert "the parameter top_a of the model's entry is refused" in str(card.stopped).lower()


async def test_a_first_prompt_that_does_not_fit(serve, doctor):
    game = lambda body: "tic-tac-toe" in json.dumps(body)  # noqa: E731
    card = await doctor(serve(refusing(payload("context_exceeded"), game)))
    assert not card.ok
    assert "first prompt gets no reply" in str(card.stopped)
    assert "4096" in str(card.stopped)


async def test_a_broken_gguf_file(tmp_path):
    pytest.importorskip("xllamacpp")
    (tmp_path / "broken.gguf").write_bytes(b"GGML nonsense")
    (tmp_path / "models.toml").write_text('[[model]]\nname = "g"\ngguf = "broken.gguf"\n')
    registry = Registry.load(tmp_path / "models.toml")
    try:
        card = await examine(registry, "g")
    finally:
        await registry.close()
    assert card.stopped == "This is not a GGUF file."
    assert "gguf" in str(card.probes[0].change)
    assert str(tmp_path) not in str(card.to_json())


async def test_a_server_that_does_not_list_what_it_plays(serve, doctor):
    card = await doctor(serve(Talker(), models=["other"]), 'model = "any"')
    assert card.ok
    assert "plays whatever it has loaded. It lists other." in probe(card, "model").seen
    assert outcomes(card)["model"] is NOTE


@pytest.mark.parametrize(
    "listing", [Json(404, {}), Json(200, {"data": None}), Json(200, []), Page(200, "<html>")]
)
async def test_a_server_that_lists_nothing(listing, serve, doctor):
    card = await doctor(serve(Talker(), models=listing))
    assert (card.ok, outcomes(card)["model"]) == (True, UNKNOWN)
