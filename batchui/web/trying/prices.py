"""What a try costs, in words: before it is made, and afterwards."""

from math import floor

from batchui.batches import references, tries
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.rows import encode_row


def price_before(batch: Batch, ask: Ask) -> str:
    """“under $0.01”, “under $0.03”: what trying the usual number of rows may cost.

    "" where the model or its price is not known.
    """
    try:
        model = of_batch(batch).find(ask.model)
    except UnknownModel:
        return ""
    most = tries.most_usd(model, ask, _sizes(batch, ask), rows=min(tries.USUAL_ROWS, batch.rows))
    if most is None:
        return ""
    return f"under ${(floor(most * 100) + 1) / 100:.2f}"


def _sizes(batch: Batch, ask: Ask) -> list[int]:
    """The sizes of the requests of the first rows, in bytes; [] if nothing can be asked."""
    try:
        writer = references.checked_writer(batch, ask)
    except BadInput:
        return []
    sizes = []
    for number, cells in enumerate(batch.first_rows, batch.format.first_row):
        stored = len(encode_row(cells))
        try:
            sizes.append(writer.size(number, cells, stored=stored, enough=0))
        except BadInput:
            continue
    return sizes
