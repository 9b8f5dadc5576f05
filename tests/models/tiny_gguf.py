"""A GGUF file that llama.cpp loads in no time: a llama of 18,624 random weights, tokens bytes."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

WIDTH, HIDDEN, HEADS, CONTEXT = 32, 64, 2, 4096
TEMPLATE = (
    "{% for message in messages %}<s>{{ message['role'] }}\n{{ message['content'] }}</s>"
    "{% endfor %}{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)


def write(path: Path, *, template: str | None = TEMPLATE, seed: int = 0) -> Path:
    """Write the file: the same arguments give the same bytes."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    # A byte is a token, and one merge is the least that llama.cpp takes.
    tokens = [*map(_letter, range(256)), "<s>", "</s>", "ab"]
    kinds = [gguf.TokenType.NORMAL] * len(tokens)
    kinds[256:258] = [gguf.TokenType.CONTROL] * 2
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(256)
    writer.add_eos_token_id(257)
    writer.add_add_bos_token(False)
    if template is not None:
        writer.add_chat_template(template)
    generator = np.random.default_rng(seed)
    shapes = {
        "token_embd": (len(tokens), WIDTH),
        **{f"blk.0.attn_{name}": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate": (HIDDEN, WIDTH),
        "blk.0.ffn_up": (HIDDEN, WIDTH),
        "blk.0.ffn_down": (WIDTH, HIDDEN),
    }
    for name, shape in shapes.items():
        weights = generator.standard_normal(shape) / 10
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _letter(byte: int) -> str:
    """How a byte is written in a vocabulary of bytes: printable ones as they are."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    if byte in printable:
        return chr(byte)
    return chr(256 + [each for each in range(256) if each not in printable].index(byte))
