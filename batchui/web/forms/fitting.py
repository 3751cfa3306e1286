"""Which models take the ready-made items of a file, by its first ones."""

from batchui.batches.catalogues import Catalogue
from batchui.batches.models import Batch
from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model
from batchui.prompts.ready_items import FORMATS, Kind, kind_of, reference_in_contexts

MODELS: dict[Kind, str] = {
    "chat": "a model that answers questions",
    "input": "a model that takes “input”",
    "translation": "a translation model",
    "text": "an embedding model",
    "contexts": "a model that takes “contexts”",
}


def items_kind(batch: Batch) -> Kind | None:
    """What the items of a draft ask for; None if it has none, or they ask for different things."""
    if not batch.format.items:
        return None
    return kind_of(row for row in batch.first_rows if isinstance(row, dict))


def has_references_inside(batch: Batch) -> bool:
    """Whether the first items of a draft have an external_reference inside their contexts."""
    items = batch.first_rows if batch.format.items else ()
    return any(isinstance(item, dict) and reference_in_contexts(item) for item in items)


def fitting_models(kind: Kind | None, known: Catalogue) -> tuple[Model, ...]:
    """The models that take items of a kind, the usual one first; () if any or none does."""
    return known.taking(FORMATS[kind]) if kind else ()


def misfit(kind: Kind | None, model: Model) -> str:
    """The sentence about a model that does not take items of a kind; "" if it does."""
    if kind is None or model.item_format in FORMATS[kind]:
        return ""
    models = catalogue.taking(FORMATS[kind])
    choose = models[0].label if len(models) == 1 else f"one such as {models[0].label}"
    return f"These items are for {MODELS[kind]}. Choose {choose}."
