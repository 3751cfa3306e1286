"""Visiting the pages about batches, as a browser does."""

import re
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from batchui.batches import checking
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.batches.whole_files import KINDS
from batchui.teams.models import User
from tests.batches.conftest import MODEL, TEMPLATE

# Downloads that are made while they are sent.
STREAMED = [word for word, kind in KINDS.items() if not kind.is_whole]
HTMX = {"HX-Request": "true"}
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "path", "source", "wbr"}


def signed_in(person: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(person)
    return client


def session_cookie(person: User, url: str) -> dict[str, str]:
    """The cookie of somebody who is signed in, for a real browser."""
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": signed_in(person).cookies[name].value, "url": url}


def upload(web: Client, content: bytes, name: str = "texts.csv", **extra: Any) -> Any:
    """Choose a file on the New batch page."""
    return web.post(reverse("new"), {"file": SimpleUploadedFile(name, content)}, **extra)


def nothing_is_left(folder: Path) -> bool:
    """Whether an upload that was refused left neither a batch nor a stored file."""
    return not Batch.objects.exists() and not [p for p in folder.rglob("*") if p.is_file()]


def drafted(web: Client, content: bytes, name: str = "texts.csv") -> Batch:
    """Choose a file that is fine; returns its batch, read to its end."""
    response = upload(web, content, name)
    assert response.status_code == 302, said(response)
    pk = response["Location"].split("/")[-2]
    checking.check_file(pk)
    return Batch.objects.get(pk=pk)


def answers(batch: Batch, **changes: Any) -> dict[str, Any]:
    """The form of a draft, filled in, as its page sends it once the file is read."""
    filled = {"model": MODEL, "template": TEMPLATE, "max_tokens": "1024"}
    if batch.status == BatchStatus.DRAFT:
        filled["read_as"] = batch.format_key
    return {name: value for name, value in (filled | changes).items() if value is not None}


def listed_models(web: Client, batch: Batch) -> str:
    """The list from which the model of a draft is chosen."""
    return html(web.get(reverse("models", args=[batch.pk])))


def press_start(web: Client, batch: Batch, **changes: Any) -> Any:
    return web.post(reverse("start", args=[batch.pk]), answers(batch, **changes))


def answer_cells_of(page: str, number: int) -> list[str]:
    """The cells of the answers of a row of the sheet, in order, as HTML."""
    row = page.split(f'id="row-{number}"')[1].split("</tr>")[0]
    return [cell for cell in row.split("<td ")[1:] if re.match(r'class="[^"]*\banswer\b', cell)]


def html(response: Any) -> str:
    content: str = response.content.decode()
    return content


def said(response: Any) -> str:
    """The words of a page, on one line, without the banner and the menus around them."""
    main = re.search(r"<main.*?</main>", html(response), re.DOTALL)
    text = re.sub(r"<(svg|template).*?</\1>", "", main[0] if main else html(response), flags=re.S)
    text = re.sub(r"(</(?:td|th|dt|dd|li|p|h1|h2|option|label|button)>)", r"\1 ", text)
    return " ".join(unescape(strip_tags(text)).split())


def page(web: Client, batch: Batch, name: str = "batch", query: str = "", *args: object) -> str:
    return said(web.get(f"{reverse(name, args=[batch.pk, *args])}{query}"))


def press(web: Client, batch: Batch, name: str, *args: object) -> str:
    """Press a button; returns the page it leads to, messages included."""
    response = web.post(reverse(name, args=[batch.pk, *args]), follow=True)
    assert response.status_code == 200
    return html(response)


def watch(web: Client, batch: Batch) -> Callable[[], str]:
    """Polls the page of a batch as a browser does; "" while nothing changed."""
    address = [_polled(html(web.get(batch.get_absolute_url())))]

    def poll() -> str:
        response = web.get(address[0], headers=HTMX)
        if response.status_code == 204:
            return ""
        address[0] = _polled(html(response))
        return said(response)

    return poll


def _polled(markup: str) -> str:
    found = re.search(r'hx-get="([^"]*/live/[^"]*)"', markup)
    assert found
    return unescape(found[1])


class _Roots(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.roots: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.depth == 0:
            self.roots.append({"tag": tag, **dict(attrs)})
        if tag not in VOID:
            self.depth += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.depth == 0:
            self.roots.append({"tag": tag, **dict(attrs)})

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.depth -= 1


def roots(markup: str) -> list[dict[str, str | None]]:
    """The outermost elements, each with its tag and attributes."""
    parser = _Roots()
    parser.feed(markup)
    parser.close()
    assert parser.depth == 0, "an element is not closed"
    return parser.roots


def element(page: str, identity: str) -> str:
    """The opening tag of the element with this id."""
    found = re.search(rf'<[^<>]*\bid="{re.escape(identity)}"[^<>]*>', page)
    assert found, f"nothing has the id {identity}"
    return found[0]
