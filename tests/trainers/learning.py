"""A tiny model for TRL's trainers, and what they teach it: the text under the loss, read where the
model itself is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

BATCH = 8
END = "<|im_end|>"
IGNORED = -100
"""The label of a token that is not learnt."""
MARKED = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n"
    "{% if message.role == 'assistant' %}{% generation %}"
    "{% if message.reasoning_content is string %}"
    "<think>{{ message.reasoning_content }}</think>"
    "{% endif %}"
    "{{ message.content + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ message.content + '<|im_end|>' }}{% endif %}\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A chat template that marks what the assistant says, and changes none of it."""


class Learnt(NamedTuple):
    """What a trainer did with its rows, once through."""

    texts: Counter[str]
    """Each unbroken run of tokens under the loss, as text."""
    apart: Counter[str]
    """The same where the model was only asked: KTO's estimate of how far it has moved."""
    losses: list[float]
    """Of each step."""
    moved: bool
    """Whether any weight changed."""


def tokenizer_of(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """A tokenizer that can write every text, with merges learnt from some."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1000,
        special_tokens=["<|pad|>", "<|im_start|>", END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        eos_token=END,
        clean_up_tokenization_spaces=False,
        chat_template=MARKED,
    )


def write_model(folder: Path, tokenizer: Any) -> None:
    """An untrained model, which the trainers load by its path."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=8192,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def learn(
    trainer: type, config: type, model: Path, tokenizer: Any, rows: Any, out: Path, **more: Any
) -> Learnt:
    """Train on all rows, once.

    Args:
        trainer: one of TRL's.
        config: its arguments' class.
        model: the folder of `write_model`.
        tokenizer: the model's; its template lays out the chats.
        rows: the dataset.
        out: a folder for what the trainer writes.
        more: arguments of the trainer that are the point of a test.
    """
    settings = config(
        output_dir=str(out),
        num_train_epochs=1,
        per_device_train_batch_size=BATCH,
        learning_rate=1e-2,
        max_length=None,
        use_cpu=True,
        bf16=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **more,
    )
    teacher = trainer(
        model=str(model), args=settings, train_dataset=rows, processing_class=tokenizer
    )
    texts: Counter[str] = Counter()
    apart: Counter[str] = Counter()

    def note(_module: object, _positional: object, named: dict[str, Any]) -> None:
        seen = texts if torch.is_grad_enabled() else apart
        for tokens, labels in zip(named["input_ids"], named["labels"], strict=True):
            seen.update(map(tokenizer.decode, _runs(tokens.tolist(), labels.tolist())))

    before = {name: weight.clone() for name, weight in teacher.model.state_dict().items()}
    teacher.model.register_forward_pre_hook(note, with_kwargs=True)
    teacher.train()
    after = teacher.model.state_dict()
    return Learnt(
        texts,
        apart,
        [entry["loss"] for entry in teacher.state.log_history if "loss" in entry],
        any(not torch.equal(weight, after[name]) for name, weight in before.items()),
    )


def _runs(tokens: list[int], labels: list[int]) -> Iterator[list[int]]:
    """The tokens that have a label, cut wherever one has none."""
    run: list[int] = []
    for token, label in zip(tokens, labels, strict=True):
        if label != IGNORED:
            run.append(token)
        elif run:
            yield run
            run = []
    if run:
        yield run
