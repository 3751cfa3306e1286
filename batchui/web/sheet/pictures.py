"""The picture of a row: small for the grid, larger for its panel.

What was sent is shown as it was sent. Before that, a picture is fetched when a page shows it.
"""

from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any

from django.http import Http404, HttpResponse

from batchui.batches import one_row, part_pictures, pictures
from batchui.batches.models import Batch
from batchui.batches.states import STARTED
from batchui.pictures.fetching import is_address
from batchui.pictures.problems import NoPicture
from batchui.pictures.scaling import media_type, thumbnail
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest
from batchui.web.sheet.columns import pictures_of
from batchui.web.sheet.draft_grid import row_of_draft

# In pixels: twice those of the page, for dense screens.
SMALL, LARGE = 160, 800
# How many are fetched from elsewhere at a time in a web process, and how long a page waits for one.
FETCHED_AT_ONCE, SECONDS = 4, 8
# Browsers keep them; an address of its own says which pictures are meant.
KEPT = "private, max-age=3600"
BUSY = "Other pictures are being fetched. This one is shown when the page is loaded again."

_fetching = BoundedSemaphore(FETCHED_AT_ONCE)


@dataclass(frozen=True)
class ShownPicture:
    """The picture of a row in its panel. address: of the picture. link: where it was fetched from.

    named: what the row says of it.
    """

    address: str
    named: str
    link: str


def picture_of(batch: Batch, cells: Any, number: int) -> ShownPicture | None:
    """The picture that a row is asked with; None if there is none."""
    named = pictures.named_in(batch, cells)
    if not named:
        return None
    address = pictures_of(batch).format(number)
    return ShownPicture(f"{address}&large", named, named if is_address(named) else "")


@with_batch
def row_picture(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """The picture of a row: small, or with `?large` larger. 404 has the reason why not."""
    try:
        content = _content(batch, number)
        small = thumbnail(content, side=LARGE if "large" in request.GET else SMALL)
    except NoPicture as problem:
        return HttpResponse(str(problem), status=404, content_type="text/plain; charset=utf-8")
    return HttpResponse(small, content_type=media_type(small), headers={"Cache-Control": KEPT})


def _content(batch: Batch, number: int) -> bytes:
    if batch.status in STARTED:
        found = one_row.find(batch, number) if number < 2**31 else None
        if found is None:
            raise Http404
        if sent := part_pictures.of_row(found.part, found.position):
            return sent
        cells = found.result.cells
    else:
        row = row_of_draft(batch, number)
        if row is None:
            raise Http404
        cells = row.cells
    return _fetched(batch, pictures.named_in(batch, cells))


def _fetched(batch: Batch, named: str) -> bytes:
    if not named:
        raise Http404
    if not is_address(named):
        return pictures.picture(batch, named)
    if not _fetching.acquire(timeout=SECONDS):
        raise NoPicture(BUSY, passes=True)
    try:
        return pictures.picture(batch, named, seconds=SECONDS)
    finally:
        _fetching.release()
