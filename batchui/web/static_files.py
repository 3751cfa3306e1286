"""The stylesheets and scripts that browsers get: one of each, and one more of a kind of page.

Their pieces are in `static/` and in packages. `collectstatic` joins them, so that a first visit
asks for two to four files instead of twenty, and minifies ours; htmx is whole, as its authors
minified it. There is no other build step: if `collectstatic` did not run (tests, DEBUG), pages link
to the pieces.

A page that htmx puts in the place of another keeps the files of the first. So what answers a
button of a page by a whole page, and no redirect, must not need more of them than that page.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import brotli
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage
from zopfli import gzip as zopfli

from batchui.web.minifying import minified

# What the sheet of a draft has, and that of a started batch.
_SHEET = ("live.js", "columns.js", "sheet.js", "pictures.js")
_GRID = ("css/labels.css", "css/grid.css", "css/panel.css", "css/pictures.css")

# File -> its pieces, in order. Every page has the first two; the others are of a kind of page.
JOINED = {
    "batchui.css": (
        *("css/base.css", "css/controls.css", "css/tables.css", "css/states.css"),
        *("css/content.css", "css/messages.css", "css/pages.css"),
    ),
    "batchui.js": ("django_htmx/htmx-2.min.js", "app.js"),
    "batchui-connecting.css": ("css/connecting.css",),
    "batchui-history.css": ("css/labels.css", "css/history.css", "css/comparing.css"),
    "batchui-history.js": ("tell.js",),
    "batchui-people.css": ("css/people.css",),
    "batchui-new.css": ("css/dropping.css", "css/new.css"),
    "batchui-new.js": ("upload.js",),
    "batchui-draft.css": (*_GRID, "css/dropping.css", "css/asking.css", "css/trying.css"),
    "batchui-draft.js": ("asking.js", "trying.js", *_SHEET),
    "batchui-sheet.css": (
        *(*_GRID, "css/sheet.css", "css/strip.css", "css/answers.css", "css/finding.css"),
        "css/editing.css",
    ),
    "batchui-sheet.js": (*_SHEET, "around.js", "editing.js", "tell.js"),
}

# A file with a digest in its name never changes, and nobody asks whether it has; the others tell a
# browser something about pages and what they link.
_NOT_FOR_FILES = ("ETag", "Last-Modified", "Referrer-Policy", "Cross-Origin-Opener-Policy")

# More of them find a byte or two.
_ITERATIONS = 5


class JoinedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Joins the pieces of `JOINED`, before file names get a digest and files are compressed.

    Raises KeyError, with its name, for a missing piece.
    """

    _replaces = False

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        """As in the parent class. `paths`: collected file -> its storage, and its path there."""
        if not dry_run:
            for name, pieces in JOINED.items():
                content = joined(name, {piece: _read(*paths[piece]) for piece in pieces})
                self._save(name, ContentFile(content.encode()))
                paths[name] = (self, name)
        self._replaces = True
        try:
            yield from super().post_process(paths, dry_run=dry_run, **options)
        finally:
            self._replaces = False

    def delete(self, name: str) -> None:
        """As in the parent class; but a file that may be saved again stays until it is."""
        if not self._replaces:
            super().delete(name)

    def _save(self, name: str, content: Any) -> str:
        """Save a file in one step: a server may be sending it, and has its size."""
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as new:
            new.write_bytes(b"".join(content.chunks()))
            if self.file_permissions_mode is not None:
                new.chmod(self.file_permissions_mode)
        return name

    def create_compressor(self, **options: Any) -> Compressor:
        """As in the parent class."""
        return _Compressor(**options)

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """As in the parent class, with less in the files that pages link: see `_compress`."""
        linked = {self.stored_name(name) for name in JOINED}
        yield from super().compress_files(paths - linked)
        for name in linked:
            for compressed in _compress(Path(self.path(name))):
                yield name, f"{name}{compressed.suffix}"


class _Compressor(Compressor):  # type: ignore[misc]
    """Compresses the files that no page links alone."""

    def write_data(self, path: str, data: bytes, suffix: str, stat_result: os.stat_result) -> str:
        """As in the parent class, in one step."""
        written = Path(f"{path}{suffix}")
        with replacing(written) as new:
            new.write_bytes(data)
            os.utime(new, (stat_result.st_atime, stat_result.st_mtime))
        return str(written)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside this one, which takes its place once the block has written it."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


class ShortHeadsMiddleware:
    """Leaves out what says nothing in the head of a static file: 740 bytes of a first visit."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if "immutable" in response.headers.get("Cache-Control", ""):
            for name in _NOT_FOR_FILES:
                response.headers.pop(name, None)
        return response


def _compress(file: Path) -> Iterator[Path]:
    """Write what a browser gets of a file: in Brotli, and as gzip, for those who take no other.

    Browsers take Brotli over HTTPS and from their own machine; it has 7 % less. The gzip is made
    with zopfli, whose have 4 % less than those of zlib. It takes a fifth of a second.
    """
    content = file.read_bytes()
    gzipped = zopfli.compress(content, numiterations=_ITERATIONS)
    for kind, compressed in (("br", brotli.compress(content)), ("gz", gzipped)):
        written = file.with_name(f"{file.name}.{kind}")
        with replacing(written) as new:
            new.write_bytes(compressed)
        yield written


def addresses(name: str) -> list[str]:
    """The addresses that a page links to for a file of `JOINED`: its own, or its pieces'."""
    is_joined = isinstance(staticfiles_storage, JoinedStaticFilesStorage) and not settings.DEBUG
    return [staticfiles_storage.url(file) for file in ([name] if is_joined else JOINED[name])]


def _read(storage: Any, path: str) -> str:
    with storage.open(path) as file:
        return str(file.read().decode())


def joined(name: str, pieces: dict[str, str]) -> str:
    """The content of a file of `JOINED`. pieces: name -> text, in order; ours are minified."""
    ours = [piece for piece in pieces if ".min." not in piece]
    is_style = name.endswith(".css")
    kind = "text/css" if is_style else "application/javascript"
    small = dict(zip(ours, minified(kind, [pieces[piece] for piece in ours]), strict=True))
    # A script would call what the next piece begins with.
    end = "\n" if is_style else ";\n"
    return "\n".join(small[piece] + end if piece in small else pieces[piece] for piece in pieces)
