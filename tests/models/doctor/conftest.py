"""What the tests of the doctor share: an entry examined at a server, and ways to look at a card."""

from __future__ import annotations

import json
import random
from functools import partial

import pytest

from models.doctor import Card, Outcome, examine
from models.doctor.card import Probe
from models.endpoint import Endpoint
from models.registry import Registry
from tests.servers import Talker

OK, NOTE, PROBLEM, UNKNOWN = Outcome


@pytest.fixture
def doctor(tmp_path, time):
    """Examine the model of an entry at a server; pauses are only counted."""

    async def examined(server, *lines: str, on_step=None, environ=None, **options) -> Card:
        base_url = server if isinstance(server, str) else server.base_url
        entry = ['name = "tiny"', f'base_url = "{base_url}"', "timeout_s = 5"]
        if any(line.startswith("timeout_s") for line in lines):
            del entry[-1]
        if not any(line.startswith("model =") for line in lines):
            entry.append('model = "m"')
        path = tmp_path / "models.toml"
        path.write_text("\n".join(["[[model]]", *entry, *lines]), "utf-8")
        make = partial(
            Endpoint,
            environ=environ or {},
            generator=random.Random(1),
            sleep=time.sleep,
            clock=time,
        )
        registry = Registry.load(path, make_endpoint=make)
        card = await examine(registry, "tiny", on_step, **({"clock": time} | options))
        assert card.requests <= 40
        assert json.loads(json.dumps(card.to_json())) == card.to_json()
        return card

    return examined


def outcomes(card: Card) -> dict[str, Outcome]:
    return {probe.name: probe.outcome for probe in card.probes}


def probe(card: Card, name: str) -> Probe:
    found = [each for each in card.probes if each.name == name]
    assert len(found) == 1
    return found[0]


def refusing(answer, *when):
    """A talker that gives one answer to the requests for which all conditions hold."""
    talker = Talker()
    return lambda body: answer if all(each(body) for each in when) else talker(body)


def roles_of(body):
    return [message["role"] for message in body["messages"]]


def has(name):
    """Whether a request says anything of a parameter."""
    return lambda body: name in body
