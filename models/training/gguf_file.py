"""Export to GGUF, which llama.cpp serves: half-precision weights, tokenizer and chat template."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

from models.training.network import NORM_EPSILON, ROPE_BASE, Network
from models.training.tokens import END, END_ID, REPLY, TEMPLATE, TOKENS

_NAMES = {
    "embedding.weight": "token_embd.weight",
    "norm.weight": "output_norm.weight",
    "attention_norm": "attn_norm",
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "out": "attn_output",
    "feed_norm": "ffn_norm",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}


def export(network: Network, path: Path, name: str) -> Path:
    """Write a network as a GGUF file; the same weights give the same bytes.

    Args:
        network: what is exported.
        path: the file; its folder is made.
        name: the model's name inside the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.part")
    shape = network.shape
    writer = gguf.GGUFWriter(partial, "llama")
    writer.add_name(name)
    writer.add_license("apache-2.0")
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_block_count(shape.layers)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_layer_norm_rms_eps(NORM_EPSILON)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    _add_tokenizer(writer)
    for own, weights in network.state_dict().items():
        values = weights.numpy()
        # Norms stay as they are: a few hundred numbers, and llama.cpp wants them so.
        kind = np.float32 if values.ndim == 1 else np.float16
        writer.add_tensor(_exported(own), values.astype(kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(path)
    return path


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
    """Bytes, and words that are found before text is cut into bytes; no merges but the one that
    llama.cpp wants to see, of letters that are then two tokens all the same.
    """
    tokens = [_letter(each) if isinstance(each, int) else each for each in TOKENS]
    kinds = [
        gguf.TokenType.NORMAL
        if isinstance(each, int)
        else gguf.TokenType.CONTROL
        if each in (END, REPLY)
        else gguf.TokenType.USER_DEFINED
        for each in TOKENS
    ]
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(END_ID)
    writer.add_eos_token_id(END_ID)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def _exported(own: str) -> str:
    """What llama.cpp calls a tensor of ours."""
    if own in _NAMES:
        return _NAMES[own]
    _, layer, part, weight = own.split(".")
    return f"blk.{layer}.{_NAMES[part]}.{weight}"


def _letter(byte: int) -> str:
    """How a vocabulary of the kind `gpt2` writes a byte: printable ones as they are."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    if byte in printable:
        return chr(byte)
    return chr(256 + [each for each in range(256) if each not in printable].index(byte))
