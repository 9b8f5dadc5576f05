"""TRL's trainers take the exports and learn what the models said: all of it, once, nothing else."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

trl = pytest.importorskip("trl", reason="TRL is not installed here: `make trainers` runs this")

from trl.chat_template_utils import qwen3_chat_template  # noqa: E402

from tests.trainers.learning import (  # noqa: E402
    BATCH,
    END,
    Learnt,
    learn,
    tokenizer_of,
    write_model,
)

FOLDERS = ("parquet", "shipped")
WHOLE = ("talker", "fresh", "keeper", "tiny-base")
"""Models of which everything that they said went back to them, so that no reply stands twice."""
METHODS = {"messages": "SFT", "turns": "SFT", "preference": "DPO", "kto": "KTO"}
BY_ROLE = {"messages": {"assistant_only_loss": True}}
"""What the card says that a trainer is to be told."""

Written = Callable[[str, str | None], str]


def plain(reply: str, reasoning: str | None) -> str:
    """A reply as the marked template writes it."""
    return ("" if reasoning is None else f"<think>{reasoning}</think>") + reply + END


def as_qwen3(reply: str, reasoning: str | None) -> str:
    """A reply as Qwen3's template writes it: thinking apart from the rest, and always some."""
    if reasoning is None:
        thoughts, end, after = reply.rpartition("</think>")
        reasoning, reply = thoughts.removeprefix("<think>"), after if end else reply
    return f"<think>\n{reasoning}\n</think>\n\n{reply}{END}\n"


@pytest.fixture(scope="module")
def tokenizer(all_rows: Any) -> Any:
    rows = all_rows("parquet", "turns")
    return tokenizer_of(each["content"] for row in rows for each in row["prompt"])


@pytest.fixture(scope="module")
def model(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    write_model(folder, tokenizer)
    return folder


@pytest.fixture
def qwen3(tokenizer: Any) -> Iterator[Any]:
    """The tokenizer with Qwen3's own template, which marks nothing."""
    before, tokenizer.chat_template = tokenizer.chat_template, qwen3_chat_template
    yield tokenizer
    tokenizer.chat_template = before


@pytest.fixture
def teach(model: Path, tokenizer: Any, tmp_path: Path) -> Callable[[str, Any], Learnt]:
    """Train on a flavour's rows as its card says; every step has a loss, and the weights move."""

    def teach(flavour: str, rows: Any) -> Learnt:
        method, more = METHODS[flavour], BY_ROLE.get(flavour, {})
        trainer, config = (getattr(trl, f"{method}{end}") for end in ("Trainer", "Config"))
        learnt = learn(trainer, config, model, tokenizer, rows, tmp_path / "out", **more)
        assert len(learnt.losses) == math.ceil(len(rows) / BATCH)
        assert all(map(math.isfinite, learnt.losses))
        assert learnt.moved
        return learnt

    return teach


@pytest.fixture
def said(all_rows: Any) -> Callable[..., Counter[str]]:
    """What models said by the record of the games: the replies, or only the legal ones."""

    def said(
        folder: str,
        written: Written = plain,
        *,
        legal: bool = False,
        players: Collection[str] = (),
    ) -> Counter[str]:
        return Counter(
            written(attempt["reply"], attempt["reasoning"])
            for game in all_rows(folder, "games")
            if not players or {game["x"]["name"], game["o"]["name"]} & set(players)
            for attempts in [*(turn["attempts"] for turn in game["turns"]), game["unanswered"]]
            for attempt in attempts
            if attempt["verdict"] == "ok" or not legal
        )

    return said


def replies_in(rows: Any, *columns: str) -> Counter[str]:
    """The assistant's messages in some columns."""
    return Counter(
        plain(each["content"], each["reasoning_content"])
        for row in rows
        for column in columns
        for each in row[column]
        if each["role"] == "assistant"
    )


def card(folder: Path) -> str:
    return (folder / "README.md").read_text("utf-8")


def filtered(rows: Any, folder: Path) -> Any:
    """The rows of `messages` that the card says to train on, by the code in the card."""
    _, code, rest = card(folder).partition("```python\n")
    names: dict[str, Any] = {"rows": rows}
    if code:
        exec(rest.partition("```")[0], names)
    return names["rows"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_sft_on_messages(folder: str, exports: Path, all_rows: Any, said: Any, teach: Any) -> None:
    rows = filtered(all_rows(folder, "messages"), exports / folder)
    learnt = teach("messages", rows).texts
    assert learnt == replies_in(rows, "messages")
    assert said(folder, players=WHOLE) <= learnt <= said(folder)


def test_rows_that_repeat_replies(exports: Path, all_rows: Any, said: Any, teach: Any) -> None:
    """What the card warns of: of a mask by role alone, the model learns replies again, and without
    their thinking.
    """
    rows = all_rows("parquet", "messages")
    odd = len(rows) - len(filtered(rows, exports / "parquet"))
    assert 0 < odd < len(rows)
    assert f"In **{odd} of {len(rows)} rows**" in card(exports / "parquet")
    again = teach("messages", rows).texts - said("parquet")
    assert {text.startswith("<move>") for text in again} == {True, False}
    assert "In **" not in card(exports / "shipped")


@pytest.mark.parametrize("folder", FOLDERS)
def test_sft_on_turns(folder: str, all_rows: Any, said: Any, teach: Any) -> None:
    assert teach("turns", all_rows(folder, "turns")).texts == said(folder, legal=True)


@pytest.mark.parametrize("folder", FOLDERS)
def test_dpo_on_preference(folder: str, all_rows: Any, said: Any, teach: Any) -> None:
    rows = all_rows(folder, "preference")
    learnt = teach("preference", rows).texts
    assert learnt == replies_in(rows, "chosen", "rejected")
    assert learnt.total() == 2 * len(rows)
    assert learnt.keys() <= said(folder, legal=True).keys()


@pytest.mark.parametrize("folder", FOLDERS)
def test_kto_on_labelled_replies(folder: str, all_rows: Any, said: Any, teach: Any) -> None:
    rows = all_rows(folder, "kto")
    assert set(rows["label"]) == {True, False}
    learnt = teach("kto", rows)
    assert learnt.texts == said(folder)
    # Each reply also stands once where it is compared with another prompt.
    assert learnt.apart == learnt.texts


@pytest.mark.parametrize("flavour", ["messages", "turns"])
def test_a_template_that_marks_nothing(
    flavour: str, exports: Path, qwen3: Any, all_rows: Any, said: Any, teach: Any
) -> None:
    """TRL puts a marked one in its place; both write thinking their own way."""
    rows = filtered(all_rows("parquet", "messages"), exports / "parquet")
    if flavour == "turns":
        rows = all_rows("parquet", "turns")
        assert teach(flavour, rows).texts == said("parquet", as_qwen3, legal=True)
    else:
        learnt = teach(flavour, rows).texts
        whole = said("parquet", as_qwen3, players=WHOLE)
        assert whole <= learnt <= said("parquet", as_qwen3)


@pytest.mark.parametrize("flavour", METHODS)
def test_a_set_with_its_roles_swapped_is_seen(
    flavour: str, exports: Path, load: Any, said: Any, teach: Any, tmp_path: Path
) -> None:
    shutil.copytree(exports / "jsonl", tmp_path / "swapped")
    for path in (tmp_path / "swapped" / flavour).iterdir():
        text = path.read_text("utf-8").replace('"role": "user"', '"role": "?"')
        text = text.replace('"role": "assistant"', '"role": "user"')
        path.write_text(text.replace('"role": "?"', '"role": "assistant"'), "utf-8")
    rows = load(tmp_path / "swapped", flavour, split="train").select(range(2 * BATCH))
    assert not teach(flavour, rows).texts <= said("jsonl")


@pytest.mark.parametrize("method", ["SFT", "DPO", "KTO"])
def test_the_length_that_the_card_warns_of(method: str) -> None:
    assert getattr(trl, f"{method}Config").max_length == 1024
