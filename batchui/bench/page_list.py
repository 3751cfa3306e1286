"""The pages that `manage.py bench --pages` opens, with what each asks of a large batch."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.sheet import searches
from batchui.batches.sheet.glance import reasons_of
from batchui.batches.sheet.selection import parse, show_reason, show_value
from batchui.bench.full_team import FullTeam

# On a page of the sheet.
ROWS_A_PAGE = 100
# A word that many rows have, and one that hardly any has.
OFTEN, SELDOM = "breakfast", "zürich the"


@dataclass(frozen=True)
class Visit:
    """One page. fragment: the id of the element that htmx asks for alone; "" for a whole page."""

    name: str
    address: str
    fragment: str = ""


def visits(team: FullTeam) -> list[Visit]:
    """Every page whose work might grow with the rows, the parts or the batches; then the others."""
    return [
        *_history(),
        *_sheet(team.ended),
        *_found(team.ended),
        *_tabs(team.ended),
        *_compared(team.ended, team.running),
        *_running(team.running),
        *_draft(team.draft),
        *_others(),
    ]


def search(batch: Batch, words: str, *, show: str = "") -> float:
    """Look for words in the rows of a batch, as a worker does. Returns how many were found."""
    one = searches.search_for(batch, parse(show, words))
    searches.carry_out(one.pk, beat=lambda: None)
    one.refresh_from_db()
    return sum(map(len, one.hits.values()))


def _history() -> Iterator[Visit]:
    history = reverse("batches")
    yield Visit("batches", history)
    yield Visit("batches, page 200", f"{history}?page=200")
    yield Visit("batches, a name", f"{history}?q=Reviews+7")
    yield Visit("batches, stopped ones", f"{history}?status=stopped")
    yield Visit("batches, drafts", f"{history}?status=draft")
    yield Visit("the last 30 days", reverse("days"), "days")
    yield Visit("deleted batches", reverse("deleted"))


def _sheet(batch: Batch) -> Iterator[Visit]:
    here, last = batch.get_absolute_url(), -(-batch.rows // ROWS_A_PAGE)
    yield Visit("sheet, opened", here)
    for name, page in (("first", 1), ("middle", last // 2 or 1), ("last", last)):
        yield Visit(f"sheet, {name} page", f"{here}?show=&page={page}")
    yield Visit("sheet, its rows only", f"{here}?show=&page={last}", "grid-area")
    yield Visit("sheet, row in the middle", f"{here}?show=&row={batch.rows // 2}")
    middle = reverse("row", args=[batch.pk, batch.rows // 2])
    yield Visit("row in full", middle)
    yield Visit("row in full, alone", middle, "panel")
    yield Visit("row in full, failed ones", f"{middle}?show=failed", "panel")


def _found(batch: Batch) -> Iterator[Visit]:
    """The same filtered: its first page and one in the middle."""
    here = batch.get_absolute_url()
    reason = reasons_of(batch)[0][0].reason
    filters = {
        "answered": ("answered", batch.answered),
        "a reason": (show_reason(reason.key), batch.rows // 500),
        "a value": (show_value("tone", "bad"), batch.rows // 5),
    }
    for name, (show, rows) in filters.items():
        yield Visit(f"sheet, {name}", f"{here}?{urlencode({'show': show})}")
        middle = max(1, rows // ROWS_A_PAGE // 2)
        yield Visit(f"sheet, {name}, middle", f"{here}?{urlencode({'show': show, 'page': middle})}")
    for name, words in (("often", OFTEN), ("seldom", SELDOM)):
        yield Visit(f"sheet, words, {name}", f"{here}?{urlencode({'show': '', 'q': words})}")


def _tabs(batch: Batch) -> Iterator[Visit]:
    yield Visit("at a glance", reverse("glance", args=[batch.pk]), "glance")
    yield Visit("needs attention", reverse("attention", args=[batch.pk]))
    yield Visit("timeline", reverse("timeline", args=[batch.pk]))
    parts = reverse("parts", args=[batch.pk])
    yield Visit("parts", parts)
    yield Visit("parts, page 10", f"{parts}?page=10", "parts")
    yield Visit("a part", reverse("part", args=[batch.pk, 1]), "part")
    yield Visit("what was asked", reverse("asked", args=[batch.pk]))
    yield Visit("choose a download", reverse("choose_download", args=[batch.pk]))
    yield Visit("retry, confirm", reverse("confirm_retry", args=[batch.pk]), "confirm")
    yield Visit("delete, confirm", reverse("confirm_delete", args=[batch.pk]), "confirm")
    again = urlencode({"show": "failed"})
    yield Visit(
        "ask again, confirm", f"{reverse('confirm_ask_again', args=[batch.pk])}?{again}", "confirm"
    )


def _running(batch: Batch) -> Iterator[Visit]:
    here = batch.get_absolute_url()
    yield Visit("running sheet", here)
    middle = max(1, batch.rows // ROWS_A_PAGE // 2)
    yield Visit("running sheet, middle", f"{here}?page={middle}")
    yield Visit("running sheet, waiting", f"{here}?show=waiting")
    live = reverse("live", args=[batch.pk])
    yield Visit("its poll", f"{live}?seen=0&at=0&rows=", "live")
    yield Visit("its timeline", reverse("timeline", args=[batch.pk]))
    yield Visit("stop, confirm", reverse("confirm_stop", args=[batch.pk]), "confirm")


def _compared(one: Batch, other: Batch) -> Iterator[Visit]:
    here = reverse("compare", args=[one.pk, other.pk])
    yield Visit("two runs compared", here)
    yield Visit("two runs, all rows", f"{here}?show=all")
    yield Visit("choose a run", reverse("choose_run", args=[one.pk]))


def _draft(batch: Batch) -> Iterator[Visit]:
    here, last = batch.get_absolute_url(), -(-batch.rows // ROWS_A_PAGE)
    yield Visit("draft", here)
    yield Visit("draft, last page", f"{here}?page={last}")
    yield Visit("draft, row in the middle", reverse("row", args=[batch.pk, batch.rows // 2]))
    yield Visit("rows with problems", reverse("row_problems", args=[batch.pk]))


def _others() -> Iterator[Visit]:
    names = {
        "new batch": "new",
        "saved questions": "saved_questions",
        "labels": "labels",
        "people": "people",
        "account": "account",
    }
    for name, page in names.items():
        yield Visit(name, reverse(page))
