"""What each model of the catalogue takes and costs, from Cloudflare's published schemas and prices.

Written by hand from the facts of September 2026; the catalogue is held against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SAMPLING = frozenset(
    {
        *("stream", "max_tokens", "temperature", "top_p", "seed", "repetition_penalty"),
        *("frequency_penalty", "presence_penalty", "response_format"),
    }
)
CHAT = SAMPLING | {"top_k", "tools", "functions", "raw"}
# The fields of OpenAI's chat completions that the newer models take besides.
COMPLETIONS = (CHAT - {"raw"}) | {
    *("max_completion_tokens", "reasoning_effort", "chat_template_kwargs", "tool_choice", "stop"),
    *("n", "user", "logit_bias", "logprobs", "top_logprobs", "parallel_tool_calls"),
}
# As the schema of llama-3.3 has them.
BOUNDS: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 5),
    "top_p": (0, 2),
    "seed": (1, 9_999_999_999),
    "repetition_penalty": (0, 2),
    "frequency_penalty": (0, 2),
    "presence_penalty": (0, 2),
}


@dataclass(frozen=True)
class Facts:
    """One model.

    required: the fields that an item must have, with their types. optional: what else it may have.
    limit: the field for the longest answer; "" for none. usd: for a million tokens read, and
    written. context: its window in tokens. width: numbers in an embedding. effort: how long it
    thinks by itself; "" if it does not.
    """

    required: Mapping[str, type]
    optional: frozenset[str]
    usd: tuple[float, float | None]
    limit: str = ""
    context: int | None = None
    width: int = 0
    effort: str = ""


def _chat(
    usd: tuple[float, float],
    context: int,
    optional: frozenset[str] = COMPLETIONS,
    *,
    effort: str = "medium",
) -> Facts:
    return Facts({"messages": list}, optional, usd, "max_tokens", context, effort=effort)


def _thinking(usd: tuple[float, float]) -> Facts:
    optional = frozenset({"reasoning", "max_output_tokens"})
    return Facts({"input": str}, optional, usd, "max_output_tokens", 128_000, effort="medium")


def _embedding(usd: float, width: int, context: int | None = None) -> Facts:
    return Facts({"text": str}, frozenset({"pooling"}), (usd, None), context=context, width=width)


FACTS: Mapping[str, Facts] = {
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast": Facts(
        {"prompt": str}, SAMPLING, (0.293, 2.253), "max_tokens", 24_000
    ),
    "@cf/meta/llama-4-scout-17b-16e-instruct": _chat(
        (0.27, 0.85), 131_000, CHAT | {"guided_json"}, effort=""
    ),
    "@cf/qwen/qwen3-30b-a3b-fp8": _chat((0.0509, 0.335), 32_768, CHAT | {"lora"}),
    "@cf/google/gemma-4-26b-a4b-it": _chat((0.1, 0.3), 256_000),
    "@cf/moonshotai/kimi-k2.6": _chat((0.95, 4.0), 262_144),
    "@cf/qwen/qwen3.8-27b": _chat((0.45, 3.2), 262_144, effort="high"),
    "@cf/deepseek-ai/deepseek-v4-flash-0731": _chat((0.44, 1.32), 1_048_576),
    "@cf/openai/gpt-oss-120b": _thinking((0.35, 0.75)),
    "@cf/openai/gpt-oss-20b": _thinking((0.2, 0.3)),
    "@cf/baai/bge-small-en-v1.5": _embedding(0.0202, 384),
    "@cf/baai/bge-base-en-v1.5": _embedding(0.0666, 768, 153_600),
    "@cf/baai/bge-large-en-v1.5": _embedding(0.204, 1_024),
    "@cf/meta/m2m100-1.2b": Facts(
        {"text": str, "target_lang": str}, frozenset({"source_lang"}), (0.342, 0.342)
    ),
    # Its listing has lost the flag of batches; every official example uses it in one.
    "@cf/baai/bge-m3": Facts(
        {"text": str}, frozenset({"truncate_inputs"}), (0.0118, None), context=60_000, width=1_024
    ),
}
# To these pictures can be shown. With Llama 4 Scout that was seen in a batch, as data URLs.
SEEING = {
    "@cf/meta/llama-4-scout-17b-16e-instruct",
    "@cf/google/gemma-4-26b-a4b-it",
    "@cf/moonshotai/kimi-k2.6",
    "@cf/qwen/qwen3.8-27b",
}
PAID = frozenset({"@cf/moonshotai/kimi-k2.6", "@cf/deepseek-ai/deepseek-v4-flash-0731"})
# The containers of replies that were seen (or are documented); of the others either may come.
RESPONSES = frozenset(
    {
        "@cf/meta/llama-3.3-70b-instruct-fp8-fast",
        "@cf/meta/llama-4-scout-17b-16e-instruct",
        "@cf/baai/bge-small-en-v1.5",
        "@cf/baai/bge-base-en-v1.5",
        "@cf/baai/bge-large-en-v1.5",
        "@cf/meta/m2m100-1.2b",
        "@cf/baai/bge-m3",
    }
)
RESULTS = frozenset({"@cf/moonshotai/kimi-k2.6"})
