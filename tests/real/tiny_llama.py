"""A llama model of one layer and random weights in a GGUF file of about 120 kB, written on the spot.

Its tokens are the 256 bytes and three signs. In its output the rows of printable ones are random and all others 0, so
it says printable nonsense; a chat template makes it a chat model.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

WIDTH, HEADS, INNER, CONTEXT = 32, 2, 48, 16_384
SIGNS = ("<unk>", "<s>", "</s>")
TEMPLATE = (
    "{% for turn in messages %}<{{ turn['role'] }}>{{ turn['content'] or '' }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
PRINTABLE = range(0x20, 0x7F)


def write_model(path: Path, seed: int = 0) -> Path:
    """Write the model to `path`."""
    import gguf

    draws = np.random.default_rng(seed)

    def weights(*shape: int) -> np.ndarray:
        return (draws.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    tokens = [*SIGNS, *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, *[gguf.TokenType.CONTROL] * 2, *[gguf.TokenType.BYTE] * 256]
    output = np.zeros((len(tokens), WIDTH), dtype=np.float32)
    output[[len(SIGNS) + byte for byte in PRINTABLE]] = weights(len(PRINTABLE), WIDTH) * 4

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    writer.add_tensor("token_embd.weight", weights(len(tokens), WIDTH))
    writer.add_tensor("output.weight", output)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, dtype=np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", weights(WIDTH, WIDTH))
    for name in ("ffn_gate", "ffn_up"):
        writer.add_tensor(f"blk.0.{name}.weight", weights(INNER, WIDTH))
    writer.add_tensor("blk.0.ffn_down.weight", weights(WIDTH, INNER))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
