"""Which models take the ready-made items of a file, by its first ones."""

from collections.abc import Mapping
from typing import Any

from batchui.batches.models import Batch
from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model
from batchui.prompts.ready_items import FORMATS, kind_of

MODELS = {
    "chat": "a model that answers questions",
    "input": "a model that takes “input”",
    "translation": "a translation model",
    "text": "an embedding model",
    "contexts": "a model that takes “contexts”",
}


def fitting_models(batch: Batch) -> tuple[Model, ...]:
    """The models that take the items of a draft, the usual one first; () if any or none does."""
    kind = kind_of(_items(batch))
    return catalogue.taking(FORMATS[kind]) if kind else ()


def misfit(batch: Batch, model: Model) -> str:
    """The sentence about a model that does not take the items of a draft; "" if it does."""
    kind = kind_of(_items(batch))
    if kind is None or model.item_format in FORMATS[kind]:
        return ""
    models = catalogue.taking(FORMATS[kind])
    choose = models[0].label if len(models) == 1 else f"one such as {models[0].label}"
    return f"These items are for {MODELS[kind]}. Choose {choose}."


def have_languages(batch: Batch) -> bool:
    """Whether the items of a draft say into which language each is translated."""
    return kind_of(_items(batch)) == "translation"


def _items(batch: Batch) -> list[Mapping[str, Any]]:
    return [row for row in batch.first_rows if isinstance(row, dict)] if batch.format.items else []
