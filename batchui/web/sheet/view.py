"""What a sheet page shows, as its address says it. Only this module reads and writes that."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

from django.http import HttpRequest, QueryDict

from batchui.batches.models import Batch
from batchui.batches.sheet.selection import ALL, Selection, parse

# Digits of a number in an address; a longer one is no number of a page or row.
MOST_DIGITS = 9


@dataclass(frozen=True)
class SheetView:
    """Which rows and columns of a batch a page shows.

    selection: the rows, by a filter and a search. page: from 1. row: the row to go to, as the
    spreadsheet numbers it; the page is the one that has it. columns: the first column, from 1.
    names_show: an address of all rows says so, as another one begins, or may once the batch has
    ended, with the rows that need a person.
    """

    selection: Selection = ALL
    page: int = 1
    row: int | None = None
    columns: int = 1
    names_show: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, request: HttpRequest, batch: Batch) -> Self:
        """The view that a request asks for. What makes no sense is left out.

        A batch that has ended begins with the rows that need a person, if there are any.
        """
        asked = request.GET
        begins_with = "attention" if batch.can_retry else ""
        return cls(
            selection=parse(asked.get("show", begins_with), asked.get("q")),
            names_show=batch.can_retry or batch.is_active,
            page=_number(asked, "page") or 1,
            row=_number(asked, "row"),
            columns=min(_number(asked, "columns") or 1, max(1, len(batch.format.columns))),
        )

    @property
    def show(self) -> str:
        """The filter, as `?show=` has it; "" for all rows."""
        return self.selection.show

    @property
    def q(self) -> str:
        """The words of the search; "" for none."""
        return self.selection.words

    def but(self, *, show: str | None = None, q: str | None = None, **changes: Any) -> Self:
        """The view with these changes.

        Another filter or search begins at its first page, unless the changes name one; another
        page is not that of a row.
        """
        if show is not None or q is not None:
            words = self.q if q is None else q
            selection = parse(self.show if show is None else show, words)
            changes = {"selection": selection, "page": 1, "row": None} | changes
        elif "page" in changes:
            changes = {"row": None} | changes
        return replace(self, **changes)

    def query(self, **changes: Any) -> str:
        """The view with these changes, as `?show=…&page=…`; "" for the view without a choice."""
        changed = self.but(**changes)
        query = QueryDict(mutable=True)
        for name, nothing in (("show", ""), ("q", ""), ("page", 1), ("row", None), ("columns", 1)):
            value = getattr(changed, name)
            if value != nothing or (name == "show" and self.names_show):
                query[name] = str(value)
        return f"?{query.urlencode()}" if query else ""


def _number(asked: QueryDict, name: str) -> int | None:
    """A whole number above 0; None for anything else. 1,204 may be written with its comma."""
    text = asked.get(name, "").replace(",", "").strip()
    if not text.isascii() or not text.isdecimal() or len(text) > MOST_DIGITS:
        return None
    return int(text) or None
