"""What embeddings and rankings are for: the nearest rows, and the passages in order of score."""

from dataclasses import dataclass
from typing import Any

import msgspec
from django.http import HttpResponse
from django.shortcuts import render

from batchui.batches import references
from batchui.batches.models import Batch
from batchui.batches.nearest import MOST_COMPARED, nearest
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.problems import BadInput
from batchui.prompts.ranking import RankWriter
from batchui.prompts.reading.rows import as_list, cell_text, shown_text
from batchui.prompts.template import Template
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest
from batchui.web.sheet.in_short import scores_of
from batchui.web.sheet.view import SheetView

# Of a text, in characters, and of a ranking the passages.
LONGEST, MOST_PASSAGES = 300, 100


@dataclass(frozen=True)
class NearRow:
    """A row in the list of the nearest. likeness: “0.87”."""

    number: int
    text: str
    likeness: str


@dataclass(frozen=True)
class Passage:
    """A passage with its place, from 1, and its score."""

    place: int
    text: str
    score: str


@with_batch
def nearest_rows(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """The rows nearest to one, for its panel."""
    found = nearest(batch, number)
    rows = [
        NearRow(near.row.result.row, _text_of(batch, near.row.result.cells), f"{near.likeness:.2f}")
        for near in (found.near if found else ())
    ]
    context = {
        "batch": batch,
        "number": number,
        "near": rows,
        "compared": found.compared if found else 0,
        "is_all": found is not None and found.compared < MOST_COMPARED,
        "view": SheetView.of(request, batch),
    }
    return render(request, "sheet/_nearest.html", context)


def _text_of(batch: Batch, cells: Any) -> str:
    """What was embedded of a row, or the beginning of its cells."""
    if cells is None:
        return ""
    try:
        return Template(batch.ask.template).bind(batch.columns).fill(cells, LONGEST)
    except BadInput:
        as_text = cell_text if isinstance(cells, dict) else shown_text
        return " · ".join(map(as_text, as_list(cells, batch.columns)))[:LONGEST]


def ranked(batch: Batch, answer: bytes | None, cells: Any) -> list[Passage]:
    """The passages of a row in the order of their scores; [] if the answer ranks none."""
    scores = scores_of(answer)
    texts = _passages(batch, cells) if scores else []
    best = [one for one in scores if 0 <= one.id < len(texts)][:MOST_PASSAGES]
    return [
        Passage(place, texts[one.id][:LONGEST], f"{one.score:.3f}")
        for place, one in enumerate(best, 1)
    ]


def _passages(batch: Batch, cells: Any) -> list[str]:
    """The passages as they were sent: of ready-made requests, the texts of their contexts."""
    if cells is None:
        return []
    if batch.ask.as_items:
        contexts = cells.get("contexts") if isinstance(cells, dict) else None
        if isinstance(contexts, msgspec.Raw):
            contexts = msgspec.json.decode(contexts)
        found = contexts if isinstance(contexts, list) else []
        return [str(one.get("text", "")) for one in found if isinstance(one, dict)]
    try:
        writer = references.item_writer(batch)
    except (BadInput, UnknownModel):
        return []
    return writer.passages(cells) if isinstance(writer, RankWriter) else []
