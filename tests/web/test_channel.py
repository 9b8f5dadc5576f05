"""What a viewer of a game is told, in which order."""

from __future__ import annotations

import pytest

from web import channel as module
from web.channel import Channel, Delta, Ping, Thought, Turned


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FLUSH_SECONDS", 0)


async def test_a_turn_comes_first_and_what_was_said_before_it_is_old() -> None:
    channel = Channel()
    channel.say("content", "old", 0)
    channel.turned()
    events = channel.events()
    assert await anext(events) == Turned()
    channel.turned()
    assert await anext(events) == Turned()
    await events.aclose()


async def test_what_is_said_comes_once() -> None:
    channel = Channel()
    events = channel.events()
    await anext(events)
    channel.think(Thought(0))
    assert await anext(events) == Delta(True, 1, "", "", "")
    channel.say("reasoning", "let me ", 0)
    channel.say("reasoning", "see", 0)
    assert await anext(events) == Delta(False, 1, "let me see", "", "")
    channel.say("content", "<move>", 0)
    assert await anext(events) == Delta(False, 1, "", "<move>", "")
    await events.aclose()


async def test_who_comes_late_gets_all_that_was_said() -> None:
    channel = Channel()
    channel.think(Thought(0, attempt=2))
    channel.say("content", "so far", 0)
    events = channel.events()
    assert await anext(events) == Turned()
    assert await anext(events) == Delta(True, 2, "", "so far", "")
    await events.aclose()


async def test_a_reply_begins_anew() -> None:
    channel = Channel()
    events = channel.events()
    await anext(events)
    channel.say("content", "half", 0)
    assert await anext(events) == Delta(True, 1, "", "half", "")
    channel.think(Thought(0, trouble="the connection broke"))
    channel.say("content", "whole", 0)
    assert await anext(events) == Delta(True, 1, "", "whole", "the connection broke")
    await events.aclose()


async def test_every_viewer_gets_everything() -> None:
    channel = Channel()
    viewers = [channel.events() for _ in range(3)]
    assert [await anext(viewer) for viewer in viewers] == [Turned()] * 3
    channel.say("content", "hello", 0)
    assert [await anext(viewer) for viewer in viewers] == [Delta(True, 1, "", "hello", "")] * 3
    assert len(channel.listeners) == 3
    for viewer in viewers:
        await viewer.aclose()
    assert not channel.listeners


async def test_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PING_SECONDS", 0.01)
    events = Channel().events()
    assert [await anext(events) for _ in range(3)] == [Turned(), Ping(), Ping()]
    await events.aclose()


async def test_signs_of_life_while_a_model_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PING_SECONDS", 0.01)
    channel = Channel()
    channel.think(Thought(0))
    events = channel.events()
    seen = [await anext(events) for _ in range(4)]
    assert seen[:3] == [Turned(), Delta(True, 1, "", "", ""), Ping()]
    await events.aclose()
