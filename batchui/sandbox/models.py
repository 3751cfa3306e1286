"""The models that the sandbox knows: names, prices and context windows as of September 2026.

The container of the answers was seen for llama, bge, m2m100 and kimi-k2.6; for the others it is the
sandbox's choice. All models for text that have a queue are here, and some others.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import NAMESPACE_URL, uuid5


class Kind(StrEnum):
    """The form of a model's items and the shape of its answers."""

    CHAT = "chat"  # prompt or messages -> {"response": …}
    COMPLETION = "completion"  # prompt or messages -> chat (or text) completion
    RESPONSES = "responses"  # input -> Responses object
    EMBEDDING = "embedding"  # text -> {"data": [[…]], "shape", "pooling"}
    TRANSLATION = "translation"  # text, target_lang -> {"translated_text"}
    OTHER = "other"  # sound and images: listed, never answered here


@dataclass(frozen=True, slots=True)
class Model:
    """One model.

    context: its window in tokens. usd_input, usd_output: US dollars per million tokens.
    queues: it accepts queued requests. flagged: the catalogue says so (`async_queue`).
    container: the name of the array in a finished reply. width: dimensions of an embedding.
    contexts: it accepts `contexts` too, and scores them if the item has a `query`.
    text_completions: it answers a `prompt` with a text completion. paid: it needs Workers Paid.
    withdrawn_on: the day of its planned end, as 2026-12-31; "" for none.
    """

    name: str
    kind: Kind
    context: int | None = None
    usd_input: float | None = None
    usd_output: float | None = None
    task: str = "Text Generation"
    queues: bool = True
    flagged: bool = True
    container: str = "responses"
    width: int = 0
    contexts: bool = False
    text_completions: bool = False
    paid: bool = False
    withdrawn_on: str = ""

    @property
    def id(self) -> str:
        """The UUID in the catalogue (made up, but always the same)."""
        return str(uuid5(NAMESPACE_URL, f"sandbox:{self.name}"))

    @property
    def sees(self) -> bool:
        """Whether it takes pictures."""
        return self.name in _SEEING

    @property
    def is_reasoning(self) -> bool:
        """Whether its answers contain its reasoning too."""
        return self.kind in {Kind.COMPLETION, Kind.RESPONSES}


def _results(
    name: str, context: int, usd_input: float, usd_output: float, *, paid: bool = False
) -> Model:
    """A model that answers with chat completions in `results[]`."""
    return Model(
        name, Kind.COMPLETION, context, usd_input, usd_output, container="results", paid=paid
    )


def _embedding(name: str, width: int, usd_input: float, context: int | None = None) -> Model:
    return Model(name, Kind.EMBEDDING, context, usd_input, task="Text Embeddings", width=width)


_SEEING = frozenset(
    {
        "@cf/meta/llama-4-scout-17b-16e-instruct",
        "@cf/google/gemma-4-26b-a4b-it",
        "@cf/moonshotai/kimi-k2.6",
        "@cf/qwen/qwen3.8-27b",
    }
)
_QUEUED = [
    Model("@cf/meta/llama-3.3-70b-instruct-fp8-fast", Kind.CHAT, 24_000, 0.293, 2.253),
    Model("@cf/meta/llama-4-scout-17b-16e-instruct", Kind.CHAT, 131_000, 0.27, 0.85),
    Model(
        "@cf/qwen/qwen3-30b-a3b-fp8", Kind.COMPLETION, 32_768, 0.0509, 0.335, text_completions=True
    ),
    _results("@cf/google/gemma-4-26b-a4b-it", 256_000, 0.1, 0.3),
    _results("@cf/moonshotai/kimi-k2.6", 262_144, 0.95, 4.0, paid=True),
    _results("@cf/qwen/qwen3.8-27b", 262_144, 0.45, 3.2),
    _results("@cf/deepseek-ai/deepseek-v4-flash-0731", 1_048_576, 0.44, 1.32, paid=True),
    Model("@cf/openai/gpt-oss-120b", Kind.RESPONSES, 128_000, 0.35, 0.75),
    Model("@cf/openai/gpt-oss-20b", Kind.RESPONSES, 128_000, 0.2, 0.3),
    _embedding("@cf/baai/bge-small-en-v1.5", 384, 0.0202),
    _embedding("@cf/baai/bge-base-en-v1.5", 768, 0.0666, 153_600),
    _embedding("@cf/baai/bge-large-en-v1.5", 1024, 0.204),
    Model("@cf/meta/m2m100-1.2b", Kind.TRANSLATION, None, 0.342, 0.342, task="Translation"),
    # Every official example uses the queue of this model, but the catalogue no longer flags it.
    Model(
        "@cf/baai/bge-m3",
        Kind.EMBEDDING,
        60_000,
        0.0118,
        task="Text Embeddings",
        flagged=False,
        width=1024,
        contexts=True,
    ),
    Model("@cf/openai/whisper-large-v3-turbo", Kind.OTHER, task="Automatic Speech Recognition"),
    Model("@cf/deepgram/aura-1", Kind.OTHER, task="Text-to-Speech"),
]

_UNQUEUED = [
    Model(name, kind, task=task, queues=False, flagged=False)
    for name, kind, task in (
        ("@cf/meta/llama-3.1-8b-instruct", Kind.CHAT, "Text Generation"),
        ("@cf/meta/llama-3.2-1b-instruct", Kind.CHAT, "Text Generation"),
        ("@cf/meta/llama-3.2-3b-instruct", Kind.CHAT, "Text Generation"),
        ("@cf/zai-org/glm-5.3", Kind.COMPLETION, "Text Generation"),
        ("@cf/openai/whisper", Kind.OTHER, "Automatic Speech Recognition"),
        ("@cf/huggingface/distilbert-sst-2-int8", Kind.OTHER, "Text Classification"),
        ("@cf/black-forest-labs/flux-1-schnell", Kind.OTHER, "Text-to-Image"),
    )
]

MODELS: dict[str, Model] = {model.name: model for model in _QUEUED + _UNQUEUED}
