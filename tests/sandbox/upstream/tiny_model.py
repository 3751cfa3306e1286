"""A language model of 115 kB with random weights, which llama.cpp loads: it writes nonsense.

The file is written as GGUF describes it (github.com/ggml-org/ggml, docs/gguf.md): a head, facts,
a list of tensors, and their numbers, each at a multiple of 32 bytes. The architecture is that of
Llama, with one layer; each byte is a token.
"""

import random
import struct
from collections.abc import Sequence
from pathlib import Path

WIDTH = 32
CONTEXT = 512
_HEADS, _INNER = 2, 64
_TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
# Unknown, control, control, 256 of a byte each, usual.
_KINDS = [2, 3, 3, *[6] * 256, 1]
END_OF_TEXT = 2
_INT, _FLOAT, _TEXT, _ARRAY, _SIGNED = 4, 6, 8, 9, 5


def write(path: Path) -> None:
    """Write the model to a file. It is always the same."""
    tensors, numbers = _tensors()
    facts = _facts()
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts)) + b"".join(facts)
    head += b"".join(tensors)
    path.write_bytes(_padded(head) + numbers)


def _facts() -> list[bytes]:
    numbers = {
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": _INNER,
        "llama.attention.head_count": _HEADS,
        "llama.rope.dimension_count": WIDTH // _HEADS,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": END_OF_TEXT,
    }
    texts = {"general.architecture": "llama", "tokenizer.ggml.model": "llama"}
    return [
        *(_fact(name, _TEXT, _text(value)) for name, value in texts.items()),
        *(_fact(name, _INT, struct.pack("<I", value)) for name, value in numbers.items()),
        _fact("llama.attention.layer_norm_rms_epsilon", _FLOAT, struct.pack("<f", 1e-5)),
        _array("tokenizer.ggml.tokens", _TEXT, [_text(token) for token in _TOKENS]),
        _array("tokenizer.ggml.scores", _FLOAT, [struct.pack("<f", 0)] * len(_TOKENS)),
        _array("tokenizer.ggml.token_type", _SIGNED, [struct.pack("<i", kind) for kind in _KINDS]),
    ]


def _tensors() -> tuple[list[bytes], bytes]:
    """The list of tensors, and their numbers."""
    shapes = {
        "token_embd.weight": [WIDTH, len(_TOKENS)],
        "output_norm.weight": [WIDTH],
        "output.weight": [WIDTH, len(_TOKENS)],
        "blk.0.attn_norm.weight": [WIDTH],
        "blk.0.ffn_norm.weight": [WIDTH],
        **{f"blk.0.attn_{name}.weight": [WIDTH, WIDTH] for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": [WIDTH, _INNER],
        "blk.0.ffn_up.weight": [WIDTH, _INNER],
        "blk.0.ffn_down.weight": [_INNER, WIDTH],
    }
    chance = random.Random(1)
    listed, numbers = [], b""
    for name, shape in shapes.items():
        sides = struct.pack(f"<{len(shape)}Q", *shape)
        listed.append(
            _text(name)
            + struct.pack("<I", len(shape))
            + sides
            + struct.pack("<IQ", 0, len(numbers))
        )
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = [1.0 if "norm" in name else chance.gauss(0, 0.3) for _ in range(count)]
        numbers += _padded(struct.pack(f"<{count}f", *values))
    return listed, numbers


def _fact(name: str, kind: int, value: bytes) -> bytes:
    return _text(name) + struct.pack("<I", kind) + value


def _array(name: str, kind: int, values: Sequence[bytes]) -> bytes:
    return _fact(name, _ARRAY, struct.pack("<IQ", kind, len(values)) + b"".join(values))


def _text(text: str) -> bytes:
    coded = text.encode()
    return struct.pack("<Q", len(coded)) + coded


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 32)
