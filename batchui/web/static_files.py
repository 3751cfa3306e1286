"""The one stylesheet and the one script that browsers get.

Their pieces are in `static/` and in packages. `collectstatic` joins them, so that a first visit
asks for two files instead of fifteen, and minifies ours, which is a sixth of what travels. There is
no other build step: if `collectstatic` did not run (tests, DEBUG), pages link to the pieces.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage
from zopfli import gzip as zopfli

try:
    import minify  # tdewolff's
except ImportError:
    minify = None

# File -> its pieces, in order.
JOINED = {
    "batchui.css": (
        *("css/base.css", "css/components.css", "css/pages.css", "css/asking.css"),
        *("css/trying.css", "css/sheet.css", "css/panel.css", "css/finding.css"),
        *("css/history.css", "css/editing.css"),
    ),
    "batchui.js": (
        *("django_htmx/htmx-2.min.js", "app.js", "asking.js", "trying.js"),
        *("columns.js", "sheet.js", "live.js", "editing.js", "tell.js"),
    ),
}

# More of them find a byte or two.
_ITERATIONS = 5


class JoinedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Joins the pieces of `JOINED`, before file names get a digest and files are compressed.

    Raises KeyError, with its name, for a missing piece.
    """

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        """As in the parent class. `paths`: collected file -> its storage, and its path there."""
        if not dry_run:
            for name, pieces in JOINED.items():
                self.delete(name)
                self.save(name, ContentFile(b"\n".join(_piece(*paths[p]) for p in pieces)))
                paths[name] = (self, name)
        yield from super().post_process(paths, dry_run=dry_run, **options)
        if not dry_run:
            for name in JOINED:
                _compress(Path(self.path(self.stored_name(name))))


def _compress(file: Path) -> None:
    """Put a smaller one in the place of a file's gzip: zopfli's have 4 % less than those of zlib.

    It takes a fifth of a second. Brotli would make it smaller still, but browsers take that over
    HTTPS alone, and a team's own machine speaks HTTP.
    """
    compressed = zopfli.compress(file.read_bytes(), numiterations=_ITERATIONS)
    file.with_name(f"{file.name}.gz").write_bytes(compressed)


def addresses(name: str) -> list[str]:
    """The addresses that a page links to for a file of `JOINED`: its own, or its pieces'."""
    is_joined = isinstance(staticfiles_storage, JoinedStaticFilesStorage) and not settings.DEBUG
    return [staticfiles_storage.url(file) for file in ([name] if is_joined else JOINED[name])]


def _piece(storage: Any, path: str) -> bytes:
    with storage.open(path) as file:
        content: bytes = file.read()
    return content if ".min." in path else squeezed(content, path)


def squeezed(content: bytes, path: str) -> bytes:
    """A script or a stylesheet of ours without comments, white space and long names of variables.

    As it is where the minifier is not made for the system: that is 4 kB more to a page.
    """
    if minify is None:
        return content
    if path.endswith(".css"):
        return str(minify.string("text/css", content.decode())).encode() + b"\n"
    script = str(minify.string("application/javascript", content.decode()))
    return script.encode() + b";\n"  # or it would call what the next piece begins with
