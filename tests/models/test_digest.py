"""Two files that differ anywhere are two models."""

import os

from arena.players import Identity
from models.digest import digest_of
from models.entries import Entry
from models.library import SHIPPED
from models.player import identity_of


def identity(path) -> Identity:
    return identity_of(Entry.model_validate({"name": "m", "gguf": str(path)}), SHIPPED["tags"])


def test_one_byte_in_the_middle_tells_two_files_apart(tmp_path):
    one, other = tmp_path / "a" / "model.gguf", tmp_path / "b" / "model.gguf"
    content = bytearray(os.urandom(3 << 20))
    for path in (one, other):
        path.parent.mkdir()
        path.write_bytes(content)
    assert identity(one) == identity(other)
    content[len(content) // 2] ^= 1
    other.write_bytes(content)
    assert digest_of(one) != digest_of(other)
    assert identity(one) != identity(other)


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    before = digest_of(path)
    path.write_bytes(b"three")
    assert digest_of(path) != before


def test_a_missing_file_is_somebody_all_the_same(tmp_path):
    assert identity(tmp_path / "none.gguf").settings["file"] is None
