"""The card of a dataset: what is in it, where it is from, how it is trained on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from storage.datasets.folder import MARK, Recipe, Written
from storage.datasets.schema import features
from storage.datasets.splits import ALWAYS_TRAIN, Split
from storage.datasets.stream import Flavour

_SHOWN = 50
"""Players and opponents that are listed by name."""
_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_SIZE_NAMES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M")

_WHAT = {
    Flavour.MESSAGES: "one chat a row, from a model's seat, each reply as it was received. Where a "
    "prompt was begun anew on the way, a row is one piece of it, and `ply` says of which turn.",
    Flavour.TURNS: "one move of a model a row: `prompt`, and the `completion` that became a move.",
    Flavour.PREFERENCE: "one pair a row: a `prompt`, a `rejected` reply that gave up a win or a "
    "draw, and a `chosen` one to the same question that did not. `same_prompt` says whether the "
    "chosen reply answered the very same messages, or only the same last one on the same board.",
    Flavour.KTO: "one reply of a model a row, with a `label`: true for a reply that names a free "
    "square, keeps what was held and follows the format.",
    Flavour.GAMES: "one game a row, with everything that the arena stores of it. "
    "`arena import` takes it back.",
}
_HOW = {
    Flavour.MESSAGES: """\
The opponent's moves stand in the user's messages and are never to be trained on.

- TRL: `SFTTrainer` with `SFTConfig(assistant_only_loss=True)`. The chat template must mark what the
  assistant says (`{% generation %}`); for the templates that TRL knows, such as Qwen's and Llama's,
  it takes a marked one by itself. With any other, take the flavour `turns`.
- prime-rl: its SFT reads the column `messages`; its loss mask takes the assistant's messages alone
  unless told otherwise.

Replies that were no move are the assistant's too, and are trained on: export with `--no-invalid` to
leave such games out.
""",
    Flavour.TURNS: """\
Everything in `prompt` is masked, the opponent's moves and the model's own earlier replies too.

- TRL: `SFTTrainer`; its loss is on the completion alone for this kind of dataset.
- prime-rl: its SFT reads the columns `prompt` and `completion`. Its loss mask goes by the role, so
  that earlier replies in the prompt are trained on as well.
""",
    Flavour.PREFERENCE: """\
- TRL: `DPOTrainer` compares `chosen` with `rejected`; the prompt is masked.
""",
    Flavour.KTO: """\
- TRL: `KTOTrainer` takes `prompt`, `completion` and `label`; the prompt is masked. It weighs the
  two labels by `desirable_weight` and `undesirable_weight`: their numbers are below. Shuffle the
  rows first (`rows.shuffle()`): each prompt is also compared with a neighbour's completion, and
  neighbours are of one game.
""",
    Flavour.GAMES: """\
No rows to train on as they are: the other flavours are made from them.
""",
}
_REPEATING = """\
In **{repeating:,} of {rows:,} rows** the chat repeats replies that have rows of their own, as they
were sent back: without a thinking that came in a field of its own, for one. Only the last `replies`
of the assistant's messages are such a row's own; a mask by role learns the others once more. Take
`turns` instead, which has every move once, or leave these rows out:

```python
rows = rows.filter(
    lambda row: row["replies"] == sum(each["role"] == "assistant" for each in row["messages"])
)
```
"""
_TRAINING = """\
## Length and thinking

TRL cuts off what is beyond `max_length`, which is 1,024 tokens unless it is set: the last replies
of a long chat, or a whole completion. Set it above the longest row, or to `None`.

A chat template that knows of thinking, such as Qwen3's, writes `<think>` its own way, adds an empty
one where there is none, and may leave earlier thoughts out of a prompt. Look at a row as it is
tokenized before training on many.
"""
_TEXTS = """\
## Texts and numbers

Settings and a request's parameters are JSON in strings. A lone surrogate (half of a character,
which JSON can hold and UTF-8 cannot) stands as U+FFFD. In `games`, `replaced` says in JSON what
stood where, and numbers beyond 64 bits too, so that nothing is lost; in the other flavours
`replaced` counts the characters of the row that were replaced. Rows with any: {replaced}.
"""


def card(recipe: Recipe, written: Sequence[Written]) -> str:
    """The text of a dataset's README.md, its metadata included."""
    parts = [
        "---",
        _metadata(recipe, written),
        "---",
        MARK,
        "",
        "# Games of tic-tac-toe",
        "",
        "Games of language models, engines and people, from a Tic-Tac-Toe Arena.",
        "",
    ]
    for each in written:
        parts += [*_about(recipe, each), ""]
    if any(_rows(each) and each.flavour is not Flavour.GAMES for each in written):
        parts += [_TRAINING]
    replaced = sum(each.replaced for each in written)
    parts += [_TEXTS.format(replaced=replaced), *_origin(recipe)]
    return "\n".join(parts).rstrip() + "\n"


def _metadata(recipe: Recipe, written: Sequence[Written]) -> str:
    """The head of the card. JSON values are YAML too."""
    total = sum(map(_rows, written))
    size = _SIZE_NAMES[sum(total >= bound for bound in _SIZES)]
    configs, infos = [], []
    # A flavour without rows has no files, and whoever loaded it would fail.
    for number, each in enumerate(filter(_rows, written)):
        filled = [split for split in Split if each.rows[split]]
        configs.append(
            {
                "config_name": each.flavour,
                "default": number == 0,
                "data_files": [
                    {"split": split, "path": f"{each.flavour}/{split}-*.{recipe.format}"}
                    for split in filled
                ],
            }
        )
        infos.append(
            {
                "config_name": each.flavour,
                "features": features(each.flavour),
                "splits": [
                    {
                        "name": split,
                        "num_bytes": each.bytes[split],
                        "num_examples": each.rows[split],
                    }
                    for split in filled
                ],
            }
        )
    entries = {
        "license": recipe.licence,
        "pretty_name": "Games of tic-tac-toe",
        "language": ["en"],
        "task_categories": ["text-generation"],
        "tags": ["tic-tac-toe", "reinforcement-learning", "games"],
        "size_categories": [size],
        "configs": configs,
        "dataset_info": infos,
    }
    return "\n".join(f"{key}: {json.dumps(value)}" for key, value in entries.items())


def _rows(each: Written) -> int:
    return sum(each.rows.values())


def _about(recipe: Recipe, each: Written) -> Iterator[str]:
    yield f"## `{each.flavour}`"
    yield ""
    yield f"{_WHAT[each.flavour][0].upper()}{_WHAT[each.flavour][1:]}"
    yield ""
    if not _rows(each):
        yield "No game gave such a row: there is no such configuration to load."
        return
    yield _HOW[each.flavour]
    if each.repeating:
        yield _REPEATING.format(repeating=each.repeating, rows=_rows(each))
    yield "| split | rows | bytes |"
    yield "| --- | ---: | ---: |"
    for split in Split:
        yield f"| {split} | {each.rows[split]:,} | {each.bytes[split]:,} |"
    yield ""
    between = f", ended from {each.first_at} to {each.last_at}" if each.first_at else ""
    what = "pairs of games" if each.flavour is Flavour.PREFERENCE else "games"
    yield f"From {each.games:,} {what}{between}."
    if each.labels:
        yield f"Labels: {each.labels[True]:,} true, {each.labels[False]:,} false."
    yield ""
    yield from _leak(recipe, each)
    yield from _listed("Player (prompt format's hash)", each.players)
    yield from _listed("Opponent", each.opponents)


def _leak(recipe: Recipe, each: Written) -> Iterator[str]:
    """What training and validation share."""
    leak = each.leak
    empty = [split for split in Split if not each.rows[split]]
    if empty:
        yield f"There are no rows for {empty[0]}, and so there is no such split to load."
    else:
        of_rows = each.rows[Split.VALIDATION] / sum(each.rows.values())
        by_game = each.flavour in (Flavour.MESSAGES, Flavour.GAMES)
        whose = "whole game" if by_game else "position"
        except_few = "" if by_game else f" (with fewer than {ALWAYS_TRAIN} marks it always trains)"
        yield (
            f"**Leak report.** Split by the class of the {whose} under the eight symmetries of the "
            f"board: by its hash, a class is for validation with a chance of "
            f"{recipe.validation:.0%}{except_few}, which came to {of_rows:.1%} of the rows. "
            f"Validation shows {leak.classes} different positions (under symmetry), of which "
            f"training shows {leak.shared} too; {leak.share:.1%} of validation's positions, each "
            "counted as often as it comes, are also in training."
        )
    yield ""


def _listed(head: str, counted: Counter[Any]) -> Iterator[str]:
    if not counted:
        return
    yield f"| {head} | rows |"
    yield "| --- | ---: |"
    by_rows = sorted(counted.items(), key=lambda item: (-item[1], str(item[0])))
    for name, rows in by_rows[:_SHOWN]:
        yield f"| {_name(name)} | {rows:,} |"
    if len(by_rows) > _SHOWN:
        rest = sum(rows for _, rows in by_rows[_SHOWN:])
        yield f"| {len(by_rows) - _SHOWN} more | {rest:,} |"
    yield ""


def _name(name: str | tuple[str, str | None]) -> str:
    """A name as text that is no markup."""
    text, mark = name if isinstance(name, tuple) else (name, None)
    shown = " ".join(text.replace("`", "'").replace("|", "/").split())
    return (f"`{shown}`" if shown else "a person without a name") + (f" ({mark})" if mark else "")


def _origin(recipe: Recipe) -> Iterator[str]:
    """Where the rows are from, and by which terms they may be used."""
    asked = {
        key: value for key, value in asdict(recipe.filter).items() if value not in (None, False)
    }
    said = json.dumps(asked, default=_as_text, sort_keys=True)
    yield "## Origin"
    yield ""
    yield "Played and recorded by Tic-Tac-Toe Arena, exported by `arena export`."
    yield f"Filters: `{said}`." if asked else "No filters: every finished game of this kind."
    yield (
        "Each row carries the game, the players, the prompt format and the settings that it is "
        "from. Names of people are what they typed."
    )
    yield ""
    yield (
        f"Licence: {recipe.licence}. Replies of models may be under terms of their own: those of "
        "the models that are listed above."
    )


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
