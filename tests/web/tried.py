"""A draft that is tried on its page."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from batchui.batches.models import Batch
from tests.batches.conftest import rows
from tests.web.visiting import (
    HTMX,
    answers,
    drafted,
    element,
    html,
)

GRID = {"HX-Target": "grid-area"}


@pytest.fixture
def draft(web: Client) -> Batch:
    return drafted(web, rows(40))


def press(web: Client, draft: Batch, which: str = "first", **typed: Any) -> Any:
    """Press Try. Returns the answer, which is the new button."""
    ticked = typed.pop("rows", [])
    body = {**answers(draft, **typed), "which": which, "rows": ticked}
    return web.post(reverse("try", args=[draft.pk]), body, headers=HTMX)


def page(web: Client, draft: Batch) -> str:
    return html(web.get(draft.get_absolute_url()))


def part(page: str, identity: str) -> str:
    """The element with this id, with what is in it."""
    begins = page.index(opening := element(page, identity))
    name = opening[1:].split()[0]
    depth = 0
    for tag in re.finditer(rf"<(/?){name}\b", page[begins:]):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return f"{page[begins : begins + tag.end()]}>"
    raise AssertionError(f"{identity} is not closed")


def words(page: str, identity: str) -> str:
    """The words of the element with this id, on one line."""
    spaced = re.sub(r"(</[a-z]+>)", r"\1 ", part(page, identity))
    return " ".join(unescape(strip_tags(spaced)).split())


def live(web: Client, draft: Batch, seen: str = "") -> Any:
    return web.get(f"{reverse('try_live', args=[draft.pk])}?seen={seen}", headers=HTMX)


def seen(fragment: str) -> str:
    """What the poll of a page says that it knows."""
    return re.findall(r"live/\?seen=([^\"]*)", fragment)[0]
