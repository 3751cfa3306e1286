"""The models the sandbox knows: names, prices and windows as of September 2026.

Which container a model answers in was seen for llama, bge, m2m100 and kimi-k2.6; for the others it
is the sandbox's choice, and so are the tasks and shapes of the models that do not queue.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from uuid import NAMESPACE_URL, uuid5


class Kind(StrEnum):
    """What a model takes and how its answer looks."""

    CHAT = "chat"  # prompt or messages -> {"response": …}
    COMPLETION = "completion"  # prompt or messages -> chat (or text) completion
    RESPONSES = "responses"  # input -> Responses object
    EMBEDDING = "embedding"  # text -> {"data": [[…]], "shape", "pooling"}
    RANKING = "ranking"  # the same, and query and contexts -> scores or vectors
    TRANSLATION = "translation"  # text, target_lang -> {"translated_text"}
    OTHER = "other"  # sound and images: listed, never answered here


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """`queues`: takes queued requests; `flagged`: the catalogue says so (`async_queue`).

    Prices are US dollars per million tokens, the context window is in tokens, `width` is the
    number of dimensions of an embedding. `container` is the array of a finished reply.
    """

    name: str
    kind: Kind
    task: str = "Text Generation"
    queues: bool = True
    flagged: bool = True
    container: str = "responses"
    context: int | None = None
    usd_input: float | None = None
    usd_output: float | None = None
    width: int = 0
    paid: bool = False
    reasons: bool = False
    text_completions: bool = False

    @property
    def id(self) -> str:
        """The UUID the catalogue lists it under (made up, but always the same)."""
        return str(uuid5(NAMESPACE_URL, f"sandbox:{self.name}"))


def _chat(name: str, context: int, usd_input: float, usd_output: float) -> Model:
    return Model(
        name=name, kind=Kind.CHAT, context=context, usd_input=usd_input, usd_output=usd_output
    )


def _completion(
    name: str, context: int, usd_input: float, usd_output: float, *, paid: bool = False
) -> Model:
    return Model(
        name=name,
        kind=Kind.COMPLETION,
        container="results",
        context=context,
        usd_input=usd_input,
        usd_output=usd_output,
        paid=paid,
        reasons=True,
    )


def _responses(name: str, usd_input: float, usd_output: float) -> Model:
    return Model(
        name=name,
        kind=Kind.RESPONSES,
        context=128_000,
        usd_input=usd_input,
        usd_output=usd_output,
        reasons=True,
    )


def _embedding(name: str, width: int, usd_input: float, context: int | None = None) -> Model:
    return Model(
        name=name,
        kind=Kind.EMBEDDING,
        task="Text Embeddings",
        context=context,
        usd_input=usd_input,
        width=width,
    )


def _others(task: str, *names: str, kind: Kind = Kind.OTHER, queues: bool = False) -> list[Model]:
    return [Model(name=n, kind=kind, task=task, queues=queues, flagged=queues) for n in names]


_QUEUED = [
    _chat("@cf/meta/llama-3.3-70b-instruct-fp8-fast", 24_000, 0.293, 2.253),
    _chat("@cf/meta/llama-4-scout-17b-16e-instruct", 131_000, 0.27, 0.85),
    Model(
        name="@cf/qwen/qwen3-30b-a3b-fp8",
        kind=Kind.COMPLETION,
        context=32_768,
        usd_input=0.0509,
        usd_output=0.335,
        reasons=True,
        text_completions=True,
    ),
    _completion("@cf/google/gemma-4-26b-a4b-it", 256_000, 0.1, 0.3),
    _completion("@cf/moonshotai/kimi-k2.6", 262_144, 0.95, 4.0, paid=True),
    _completion("@cf/qwen/qwen3.8-27b", 262_144, 0.45, 3.2),
    _completion("@cf/deepseek-ai/deepseek-v4-flash-0731", 1_048_576, 0.44, 1.32, paid=True),
    _responses("@cf/openai/gpt-oss-120b", 0.35, 0.75),
    _responses("@cf/openai/gpt-oss-20b", 0.2, 0.3),
    _embedding("@cf/baai/bge-small-en-v1.5", 384, 0.0202),
    _embedding("@cf/baai/bge-base-en-v1.5", 768, 0.0666, 153_600),
    _embedding("@cf/baai/bge-large-en-v1.5", 1024, 0.204),
    Model(
        name="@cf/meta/m2m100-1.2b",
        kind=Kind.TRANSLATION,
        task="Translation",
        usd_input=0.342,
        usd_output=0.342,
    ),
    # Every official example queues to this model, although the catalogue no longer flags it.
    Model(
        name="@cf/baai/bge-m3",
        kind=Kind.RANKING,
        task="Text Embeddings",
        flagged=False,
        context=60_000,
        usd_input=0.0118,
        width=1024,
    ),
    *_others(
        "Automatic Speech Recognition",
        "@cf/openai/whisper-large-v3-turbo",
        "@cf/deepgram/nova-3",
        queues=True,
    ),
    *_others(
        "Text-to-Speech",
        "@cf/deepgram/aura-1",
        "@cf/deepgram/aura-2-en",
        "@cf/deepgram/aura-2-es",
        queues=True,
    ),
]

_UNQUEUED = [
    *_others(
        "Text Generation",
        "@cf/meta/llama-3.1-8b-instruct-fp8",
        "@cf/meta/llama-3.2-1b-instruct",
        "@cf/meta/llama-3.2-3b-instruct",
        "@cf/mistralai/mistral-small-3.1-24b-instruct",
        "@cf/qwen/qwen2.5-coder-32b-instruct",
        "@cf/qwen/qwq-32b",
        "@cf/deepseek-ai/deepseek-r1-distill-qwen-32b",
        "@cf/ibm-granite/granite-4.0-h-micro",
        kind=Kind.CHAT,
    ),
    *_others(
        "Text Generation",
        "@cf/zai-org/glm-4.7-flash",
        "@cf/zai-org/glm-5.2",
        "@cf/zai-org/glm-5.3",
        "@cf/moonshotai/kimi-k2.7-code",
        "@cf/deepseek-ai/deepseek-v4-pro-0813",
        "@cf/nvidia/nemotron-3-120b-a12b",
        kind=Kind.COMPLETION,
    ),
    *_others("Automatic Speech Recognition", "@cf/openai/whisper", "@cf/openai/whisper-tiny-en"),
    *_others("Text-to-Speech", "@cf/myshell-ai/melotts"),
    *_others("Text Classification", "@cf/huggingface/distilbert-sst-2-int8"),
    *_others("Image Classification", "@cf/microsoft/resnet-50"),
    *_others(
        "Text-to-Image",
        "@cf/black-forest-labs/flux-1-schnell",
        "@cf/leonardo/lucid-origin",
        "@cf/leonardo/phoenix-1.0",
    ),
]

MODELS: dict[str, Model] = {model.name: model for model in _QUEUED + _UNQUEUED}
