"""A stylesheet and few scripts are served, joined by `collectstatic`; tests link the pieces."""

import gzip
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import brotli
import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command
from django.test import Client
from django.test.utils import override_settings
from django.urls import reverse

from batchui import settings as batchui_settings
from batchui.batches.models import Batch
from batchui.bench.surroundings import ROOT
from batchui.teams.models import User
from batchui.web.static_files import JOINED, joined
from tests.batches.conftest import MakeBatch, rows
from tests.teams.people import join
from tests.web.visiting import html, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def collected(settings: Any, tmp_path: Path) -> Iterator[Path]:
    """The folder of static files, gathered as for a deployment."""
    with override_settings(
        STORAGES=settings.STORAGES | {"staticfiles": batchui_settings.STORAGES["staticfiles"]},
        STATIC_ROOT=tmp_path,
    ):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield tmp_path


def linked(page: Any = None) -> list[str]:
    """The stylesheets and scripts of a page; without one, of that to sign in."""
    head = html(page or Client().get(reverse("account_login"))).split("</head>")[0]
    return re.findall(r'(?:rel="stylesheet" href|<script src)="([^"]*)">', head)


def test_a_page_links_one_stylesheet_and_one_script(collected: Path) -> None:
    addresses = linked()
    assert [re.sub(r"\.\w{12}\.", ".", address) for address in addresses] == [
        "/static/batchui.css",
        "/static/batchui.js",
    ]
    for address in addresses:
        file = collected / address.removeprefix("/static/")
        content, zipped = file.read_bytes(), Path(f"{file}.gz").read_bytes()
        assert gzip.decompress(zipped) == content
        assert len(zipped) < 0.98 * len(gzip.compress(content, 9))
        assert brotli.decompress(smaller := Path(f"{file}.br").read_bytes()) == content
        assert len(smaller) < 0.94 * len(zipped)


def test_a_browser_gets_the_smallest_that_it_takes(collected: Path, web: Client) -> None:
    address = linked()[0]
    for takes, gets in (("gzip, deflate, br, zstd", "br"), ("gzip, deflate", "gzip")):
        answer = web.get(address, headers={"Accept-Encoding": takes})
        assert answer["Content-Encoding"] == gets
        assert "Accept-Encoding" in answer["Vary"]
        answer.close()


def test_the_head_of_a_file_has_only_what_is_about_files(collected: Path, web: Client) -> None:
    for_pages = {"Referrer-Policy", "Cross-Origin-Opener-Policy"}
    for_changes = {"ETag", "Last-Modified"}
    for address in linked():
        answer = web.get(address)
        assert not (for_pages | for_changes) & set(answer.headers)
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "immutable" in answer["Cache-Control"]
        answer.close()
    assert for_pages <= set(web.get(reverse("batches")).headers)
    assert for_pages <= set(web.get("/static/none.css").headers), "an error is a page"


def test_a_page_has_its_icon_with_it() -> None:
    head = html(Client().get(reverse("account_login"))).split("</head>")[0]
    (icon,) = re.findall(r'rel="icon" href="data:image/svg\+xml,([^"#]*)"', head)
    drawing = (ROOT / "static" / "favicon.svg").read_text().strip()
    assert unquote(icon) == drawing.replace('"', "'")


def test_a_page_has_the_files_of_its_kind(
    collected: Path, web: Client, ana: User, batch: Batch, receive: MakeBatch
) -> None:
    draft = receive(rows(3))
    Batch.objects.filter(pk=draft.pk).update(created_by=ana)
    ben = signed_in(join(ana))
    theirs = ben.get(draft.get_absolute_url())
    assert "id_template" not in html(theirs)
    of_draft = ("batchui-draft.css", "batchui-draft.js")
    for page, more in (
        (web.get(reverse("saved_questions")), ()),
        *((web.get(reverse(name)), ("batchui-people.css",)) for name in ("people", "account")),
        (web.get(reverse("connections")), ("batchui-connecting.css",)),
        (web.get(reverse("labels")), ("batchui-history.css",)),
        (web.get(reverse("batches")), ("batchui-history.css", "batchui-history.js")),
        (web.get(reverse("new")), ("batchui-new.css", "batchui-new.js")),
        (web.get(draft.get_absolute_url()), of_draft),
        (theirs, of_draft),
        (web.get(batch.get_absolute_url()), ("batchui-sheet.css", "batchui-sheet.js")),
    ):
        names = {re.sub(r"\.\w{12}\.", ".", address) for address in linked(page)}
        assert names == {f"/static/{file}" for file in ("batchui.css", "batchui.js", *more)}


def test_what_is_served_is_its_pieces_in_order(collected: Path) -> None:
    for name, pieces in JOINED.items():
        contents = {piece: (collected / piece).read_text() for piece in pieces}
        expected = [
            one if "min" in piece else joined(name, {piece: one}) for piece, one in contents.items()
        ]
        assert (collected / name).read_text() == "\n".join(expected)


def test_a_piece_is_served_minified() -> None:
    script = "/* Why. */\n(() => {\n  const words = 1; // one\n  f(words, `a\n  // b`);\n})();\n"
    assert joined("all.js", {"a.js": script}) == "(()=>{const e=1;f(e,`a\n  // b`)})();\n"
    style = "/* Why. */\n.a :is(b) {\n  color: var(--c);\n}\n"
    assert joined("all.css", {"a.css": style}) == ".a :is(b){color:var(--c)}\n"


def test_the_minifier_never_comes_into_a_process_that_may_fork(collected: Path) -> None:
    assert (collected / "batchui.js").exists()
    assert "minify" not in sys.modules


def test_where_there_is_no_minifier_a_piece_is_served_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "minify", None)
    assert joined("all.js", {"a.js": "a( 1 );\n"}) == "a( 1 );\n;\n"


def test_gathering_again_follows_a_change(collected: Path, settings: Any) -> None:
    before = staticfiles_storage.url("batchui.js")
    changed = collected.parent / "changed"
    changed.mkdir()
    (changed / "app.js").write_text("window.changed = 1;\n")
    with override_settings(STATICFILES_DIRS=[changed, *settings.STATICFILES_DIRS]):
        call_command("collectstatic", interactive=False, verbosity=0)
    assert (collected / "batchui.js").read_text().count("\nwindow.changed=1;\n") == 1
    assert staticfiles_storage.url("batchui.js") != before


def test_no_file_that_pages_link_is_gone_or_half_written_while_they_are_gathered_again(
    collected: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other processes send them: one that is cut short would leave a page without its styles."""
    hashed = [path for path in collected.rglob("*.*") if re.search(r"\.[0-9a-f]{12}\.", path.name)]
    assert {path.suffix for path in hashed} >= {".css", ".js", ".br", ".gz", ".svg"}
    deleted: list[str] = []
    monkeypatch.setattr(FileSystemStorage, "delete", lambda _, name: deleted.append(name))
    with ExitStack() as held:
        # Open, so that no other file gets the number of one that was replaced.
        before = {path: os.fstat(held.enter_context(path.open("rb")).fileno()) for path in hashed}
        call_command("collectstatic", interactive=False, verbosity=0)
        after = {path: path.stat() for path in hashed}
    assert deleted == []
    for path, old in before.items():
        is_the_same = after[path].st_ino == old.st_ino
        assert not is_the_same or after[path].st_ctime_ns == old.st_ctime_ns, path
        assert (after[path].st_size, after[path].st_mode) == (old.st_size, old.st_mode), path
    assert not list(collected.rglob(".*"))


PIECES = [f"/static/{piece}" for name in ("batchui.css", "batchui.js") for piece in JOINED[name]]


def test_without_collectstatic_pages_link_the_pieces() -> None:
    assert linked() == PIECES


def test_somebody_who_changes_a_piece_sees_it_at_once(collected: Path) -> None:
    with override_settings(DEBUG=True):
        assert linked() == PIECES
