"""What `models.toml` and the command line may say of a GGUF file. No process is started here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.errors import ConfigError, NotFoundError
from models.local import CONTEXT
from tests.models import tiny_gguf

FILE = 'name = "tiny"\ngguf = "tiny.gguf"\n'


def test_a_path_starts_where_the_file_lies(registry, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    entry = registry(FILE).get("tiny")
    assert entry.gguf == entry.address == str(tmp_path / "tiny.gguf")
    assert (entry.model, entry.threads, entry.context) == ("tiny.gguf", 1, CONTEXT)
    elsewhere = str(tmp_path.parent / "x.gguf")
    absolute = registry(f'name = "tiny"\ngguf = {json.dumps(elsewhere)}\n')
    assert absolute.get("tiny").gguf == elsewhere
    home = registry(FILE.replace("tiny.gguf", "~/tiny.gguf")).get("tiny")
    assert home.gguf == str(Path.home() / "tiny.gguf")


def test_the_name_may_be_another_and_the_path_is_no_part_of_who_it_is(registry, tmp_path):
    models = registry(FILE + 'model = "mine"\nthreads = 2\ncontext = 4096\n')
    settings = models.player("tiny").identity.settings
    assert settings["model"] == "mine"
    assert not {"gguf", "threads", "context"} & set(settings)
    assert str(tmp_path) not in json.dumps(dict(settings))


def test_steps_make_a_family_of_files(registry, tmp_path):
    models = registry('name = "tiny-{step}"\ngguf = "runs/{step}/model.gguf"\nsteps = [20, 10]\n')
    assert [(e.name, e.family, e.step, e.model, e.gguf) for e in models.entries] == [
        ("tiny-10", "tiny", 10, "model.gguf", str(tmp_path / "runs/10/model.gguf")),
        ("tiny-20", "tiny", 20, "model.gguf", str(tmp_path / "runs/20/model.gguf")),
    ]
    named = registry('name = "tiny-{step}"\ngguf = "tiny-{step}.gguf"\nsteps = [20]\n')
    assert named.entries[0].model == "tiny-20.gguf"


def test_files_of_one_name_in_two_folders_have_two_endpoints(registry):
    one = FILE.replace("tiny.gguf", "one/tiny.gguf")
    two = FILE.replace("tiny.gguf", "two/tiny.gguf").replace('"tiny"', '"two"')
    models = registry(one, two, one.replace('"tiny"', '"again"'))
    assert models.endpoint("tiny") is not models.endpoint("two")
    assert models.endpoint("tiny") is models.endpoint("again")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('base_url = "http://localhost/v1"', "'base_url' and 'gguf' exclude each other"),
        ('api_key_env = "KEY"', "'api_key_env' goes with 'base_url' only"),
        ('headers_env = { X-A = "KEY" }', "'headers_env' goes with 'base_url' only"),
        ("threads = 0", "'threads'"),
        ("context = 10", "'context'"),
        ("thread = 2", "did you mean 'threads'"),
        ("steps = [1]", "and in 'model', 'base_url' or 'gguf'"),
    ],
)
def test_a_mistake_is_named(more, said, registry):
    with pytest.raises(ConfigError) as raised:
        registry(f"{FILE}{more}\n")
    assert said in str(raised.value)


def test_an_entry_needs_a_file_or_a_server(registry):
    with pytest.raises(ConfigError, match="one of the keys 'base_url' and 'gguf' is missing"):
        registry('name = "tiny"\nmodel = "tiny"\n')
    with pytest.raises(ConfigError, match="'threads' goes with 'gguf' only"):
        registry('name = "t"\nmodel = "t"\nbase_url = "http://localhost/v1"\nthreads = 2\n')
    with pytest.raises(ConfigError, match="'gguf'"):
        registry('name = "tiny"\ngguf = ""\n')


def test_a_file_from_the_command_line_is_known_by_its_content(tiny, tmp_path, registry):
    models = registry()
    entry = models.add_file(tiny)
    assert entry.name.startswith("tiny.gguf ")
    assert entry.name in models
    assert models.entries[-1] is entry
    assert models.add_file(tiny) is entry
    moved = tmp_path / "tiny.gguf"
    moved.write_bytes(tiny.read_bytes())
    assert models.add_file(moved) is entry
    assert models.add_file(tiny_gguf.write(moved, seed=1)).name != entry.name
    assert models.endpoint(entry.name).base_url == str(tiny)


def test_a_file_that_is_not_there_is_named(tmp_path, registry):
    with pytest.raises(NotFoundError, match=r"there is no file 'none\.gguf'"):
        registry().add_file(Path("none.gguf"))
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        registry().add_file(tmp_path)
    (tmp_path / "a\nb.gguf").write_bytes(b"GGUF")
    with pytest.raises(ConfigError, match="'name' has to be 1 to 80 printable characters"):
        registry().add_file(tmp_path / "a\nb.gguf")
