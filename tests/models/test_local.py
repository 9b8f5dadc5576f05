"""GGUF files as models: a real llama.cpp with a tiny file, killed, misled and shared."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from arena.game import Game, Message, Termination
from arena.match import finish
from arena.opponents import parse
from arena.players import EnginePlayer
from models.completion import Completion, Fault
from models.local import LocalServer, StartError, connector
from models.registry import Registry
from tests.models import tiny_gguf

pytest.importorskip("xllamacpp")

ROOT = Path(__file__).parents[2]
CHAT = (Message("system", "Be brief."), Message("user", "Your move."))
FEW = {"max_tokens": 4, "temperature": 1, "top_p": 1}
GONE_WITHIN_S = 30


def server_of(registry: Registry, name: str = "tiny") -> LocalServer:
    """The server behind an entry: the registry hands out the same one to each that asks."""
    entry = registry.get(name)
    assert entry.gguf is not None
    return registry._servers.get(Path(entry.gguf), entry.threads, entry.context)


def lives(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state not in "ZX"


async def until_gone(pid: int) -> None:
    bound = time.monotonic() + GONE_WITHIN_S
    while lives(pid):
        assert time.monotonic() < bound, "the process is still there"
        await asyncio.sleep(0.05)


async def fault_of(registry: Registry) -> Fault:
    fault = await registry.endpoint("tiny").complete(CHAT, 1, FEW)
    assert isinstance(fault, Fault)
    return fault


async def start_failure(path: Path) -> StartError:
    server = LocalServer(path)
    try:
        with pytest.raises(StartError) as raised:
            await server.running()
    finally:
        server.close()
    return raised.value


async def test_it_plays_a_game(registry, tiny, capfd):
    """Its replies are noise: a forfeit is what it has earned."""
    player = registry().player("tiny")
    game = await finish(Game(seed=1), player, EnginePlayer(parse("random")))
    assert game.termination in (Termination.FORFEIT_INVALID, Termination.FORFEIT_TRUNCATED)
    attempts = game.unanswered
    assert len(attempts) == 8
    assert all(a.prompt_tokens and a.completion_tokens for a in attempts)
    assert [request.status for a in attempts for request in a.requests] == [200] * 8
    assert player.identity.settings["model"] == "tiny.gguf"
    assert str(tiny.parent) not in json.dumps(dict(player.identity.settings))
    assert capfd.readouterr() == ("", "")


async def test_a_seed_is_honoured_and_the_reply_streams(registry):
    endpoint = registry().endpoint("tiny")
    pieces: list[str] = []
    whole, again = [await endpoint.complete(CHAT, 7, FEW) for _ in range(2)]
    streamed = await endpoint.complete(
        CHAT, 7, FEW, on_delta=lambda _kind, text: pieces.append(text)
    )
    other = await endpoint.complete(CHAT, 8, FEW)
    replies = [
        reply.message.get("content")
        for reply in (whole, again, streamed, other)
        if isinstance(reply, Completion)
    ]
    assert replies[0] == replies[1] == replies[2] == "".join(pieces) != replies[3]
    assert endpoint.adaptations == ()


async def test_a_game_that_outgrows_the_context_is_void(registry):
    player = registry(context=256).player("tiny")
    game = await finish(Game(seed=1), player, EnginePlayer(parse("random")))
    assert game.termination is Termination.CONTEXT_EXCEEDED


async def test_killed_in_mid_game_it_is_started_again(registry):
    killed: list[int] = []

    def kill_once(_attempt: object) -> None:
        if not killed:
            killed.append(server.pid or 0)
            os.kill(killed[0], signal.SIGKILL)

    models = registry()
    server = server_of(models)
    player = models.player("tiny", on_attempt=kill_once)
    game = await finish(Game(seed=1), EnginePlayer(parse("random")), player)
    assert game.termination in (Termination.FORFEIT_INVALID, Termination.FORFEIT_TRUNCATED)
    assert len(game.unanswered) == 8
    assert server.pid not in (None, *killed)
    assert not lives(killed[0])


@pytest.mark.parametrize("end", ["wait", "leave"])
async def test_no_orphan_is_left_by_a_parent_that_is_killed_or_forgets(end, tiny):
    command = (sys.executable, "-m", "tests.models.local_parent", str(tiny), end)
    parent = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    if end == "wait":
        assert lives(pid)
        parent.kill()
    assert await parent.communicate() == (b"", b"")
    assert parent.returncode == (-signal.SIGKILL if end == "wait" else 0)
    await until_gone(pid)


async def test_the_end_of_its_input_alone_ends_it(tiny):
    server = LocalServer(tiny)
    await server.running()
    pid = server.pid
    assert pid is not None
    assert server._child is not None
    assert server._child.process.stdin is not None
    server._child.process.stdin.close()
    await until_gone(pid)
    server.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        (b"", "not a GGUF file"),
        (b"GG", "not a GGUF file"),
        (b"hello, world", "not a GGUF file"),
        (b"GGUF", "cannot load the file"),
        (20, "cannot load the file"),
        (3_000, "cannot load the file"),
        # Its own words may follow, where its log got as far before it ended.
        (40_000, "cannot load the file"),
    ],
)
async def test_a_file_that_cannot_be_played_is_one_sentence(
    content, said, tiny, tmp_path, registry
):
    models = registry('name = "tiny"\ngguf = "broken.gguf"\n')
    path, whole = tmp_path / "broken.gguf", tiny.read_bytes()
    if content is not None:
        path.write_bytes(whole[:content] if isinstance(content, int) else content)
    fault = await fault_of(models)
    assert fault.fatal
    assert fault.kind is Termination.PROVIDER_ERROR
    assert fault.message.startswith(f"broken.gguf at {path}: ")
    assert said in fault.message
    assert fault.message.endswith(".")
    assert "\n" not in fault.message
    assert len(fault.requests) == 1
    # Once it is mended, it is played.
    path.write_bytes(whole)
    assert isinstance(await models.endpoint("tiny").complete(CHAT, 1, FEW), Completion)


async def test_a_folder_is_no_file(registry, tmp_path):
    (tmp_path / "folder.gguf").mkdir()
    fault = await fault_of(registry('name = "tiny"\ngguf = "folder.gguf"\n'))
    assert fault.fatal
    assert "a folder, not a GGUF file" in fault.message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ModuleNotFoundError('no xllamacpp', name='xllamacpp')", "which is not installed"),
        ("raise ImportError('libgomp.so.1: not found')", "cannot be loaded here: libgomp.so.1"),
        ("class CommonParams: pass", "could not be started: AttributeError"),
    ],
)
async def test_without_a_working_xllamacpp_the_model_says_so(
    source, said, tmp_path, monkeypatch, registry
):
    (tmp_path / "xllamacpp.py").write_text(source, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    fault = await fault_of(registry())
    assert fault.fatal
    assert said in fault.message


async def test_what_dies_as_it_starts_is_tried_twice(tmp_path, monkeypatch, registry):
    (tmp_path / "xllamacpp.py").write_text("import os; os.abort()", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    fault = await fault_of(registry())
    assert fault.fatal
    assert "ended with signal 6 (SIGABRT) as it loaded the file" in fault.message
    assert len(fault.requests) == 2


async def test_a_start_that_takes_too_long_is_given_up(tmp_path, monkeypatch, tiny):
    (tmp_path / "xllamacpp.py").write_text("import time; time.sleep(600)", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = LocalServer(tiny, start_s=0.05)
    with pytest.raises(StartError, match=r"was not ready within 0\.05 s") as raised:
        await server.running()
    assert not raised.value.fatal
    server.close()


async def test_nothing_is_imported_for_those_who_play_no_file():
    script = "import sys, models.registry; sys.exit('xllamacpp' in sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, cwd=ROOT)
    assert await process.wait() == 0


async def test_entries_with_one_file_share_a_process(tiny, registry, tmp_path):
    (tmp_path / "tiny.gguf").symlink_to(tiny)
    one = f'name = "tiny"\ngguf = {json.dumps(str(tiny))}\n'
    models = registry(
        one,
        'name = "board"\nhistory = "board"\ngguf = "./tiny.gguf"\n',
        one.replace('"tiny"', '"wide"') + "context = 512\n",
    )
    assert server_of(models) is server_of(models, "board")
    assert server_of(models) is not server_of(models, "wide")
    for name in ("tiny", "board"):
        assert isinstance(await models.endpoint(name).complete(CHAT, 1, FEW), Completion)
    assert server_of(models).pid is not None
    assert server_of(models, "wide").pid is None


async def test_first_uses_at_once_start_one_process(registry):
    models = registry()
    server, endpoint = server_of(models), models.endpoint("tiny")
    addresses = await asyncio.gather(*(server.running() for _ in range(10)))
    assert len(set(addresses)) == 1
    replies = await asyncio.gather(*(endpoint.complete(CHAT, n, FEW) for n in range(20)))
    assert all(isinstance(reply, Completion) for reply in replies)
    assert set(addresses) == {await server.running()}


async def test_who_gives_up_waiting_takes_nothing_from_the_others(tiny):
    server = LocalServer(tiny)
    waiting = [asyncio.create_task(server.running()) for _ in range(2)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    assert (await waiting[1]).base_url.startswith("http://127.0.0.1:")
    server.close()


async def test_close_ends_it_and_it_can_be_used_again(registry):
    models = registry()
    server, endpoint = server_of(models), models.endpoint("tiny")
    await endpoint.complete(CHAT, 1, FEW)
    pid = server.pid
    assert pid is not None
    await models.close()
    assert not lives(pid)
    assert server.pid is None
    assert isinstance(await endpoint.complete(CHAT, 1, FEW), Completion)
    assert server.pid not in (None, pid)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")
async def test_it_is_told_no_secret_and_handed_no_file(registry, monkeypatch, tmp_path):
    secrets = {"OPENAI_API_KEY": "canary-1", "ARENA_OPERATOR_PASSWORD": "canary-2", "X": "canary-3"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    with (tmp_path / "arena.db").open("wb") as database:
        os.set_inheritable(database.fileno(), True)
        server = server_of(registry())
        address = await server.running()
    proc = Path(f"/proc/{server.pid}")
    told = (proc / "environ").read_bytes() + (proc / "cmdline").read_bytes()
    assert b"PATH=" in told
    assert b"canary" not in told
    assert address.key.encode() not in told
    assert address.key not in repr(address)
    held = [os.readlink(link) for link in (proc / "fd").iterdir()]  # noqa: PTH115 - no path
    assert not [name for name in held if "arena.db" in name]


async def test_nobody_else_can_use_it(tiny):
    server = LocalServer(tiny)
    address = await server.running()

    def status(key: str) -> int:
        body = json.dumps({"messages": [{"role": "user", "content": "x"}], "max_tokens": 1})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        url = f"{address.base_url}/chat/completions"
        try:
            with build_opener(ProxyHandler({})).open(
                Request(url, body.encode(), headers), timeout=30
            ) as response:
                return response.status
        except HTTPError as error:
            with error:
                return error.code

    assert address.base_url.startswith("http://127.0.0.1:")
    assert await asyncio.to_thread(status, "none") == 401
    assert await asyncio.to_thread(status, address.key) == 200
    server.close()


async def test_it_is_listed_by_its_files_name(tiny, tmp_path):
    server, missing = LocalServer(tiny), LocalServer(tmp_path / "none.gguf")
    listing = connector(server)(30)
    assert await listing.models({}) == ("tiny.gguf",)
    assert await connector(missing)(30).models({}) == ()
    await listing.aclose()
    server.close()
    missing.close()


async def test_a_proxy_is_not_asked(registry, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert isinstance(await registry().endpoint("tiny").complete(CHAT, 1, FEW), Completion)


async def test_its_noise_goes_to_the_log(tiny, caplog):
    caplog.set_level(logging.DEBUG, "models.local")
    server = LocalServer(tiny)
    address = await server.running()
    async with asyncio.timeout(30):
        # A thread of its own reads what the child says.
        while "loading model" not in caplog.text:  # noqa: ASYNC110 - it sets no event
            await asyncio.sleep(0.05)
    server.close()
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}
    assert address.key not in caplog.text


async def test_a_file_without_a_chat_template_is_warned_of(tmp_path, caplog):
    server = LocalServer(tiny_gguf.write(tmp_path / "base.gguf", template=None))
    await server.running()
    server.close()
    assert [record.getMessage() for record in caplog.records] == [
        "base.gguf has no chat template: it is asked in ChatML"
    ]


def test_the_file_is_the_same_each_time(tiny, tmp_path):
    assert tiny_gguf.write(tmp_path / "other.gguf").read_bytes() == tiny.read_bytes()
    assert tiny.stat().st_size < 100_000
