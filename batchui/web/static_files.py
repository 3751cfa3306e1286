"""The one stylesheet and the one script that browsers get.

Their pieces are in `static/` and in packages. `collectstatic` joins them, so that a first visit
asks for two files instead of five. There is no other build step: if `collectstatic` did not run
(tests, DEBUG), pages link to the pieces.
"""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# File -> its pieces, in order.
JOINED = {
    "batchui.css": ("css/base.css", "css/components.css", "css/pages.css"),
    "batchui.js": ("django_htmx/htmx-2.min.js", "app.js"),
}


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
                self.save(name, ContentFile(b"\n".join(_content(*paths[p]) for p in pieces)))
                paths[name] = (self, name)
        yield from super().post_process(paths, dry_run=dry_run, **options)


def addresses(name: str) -> list[str]:
    """The addresses that a page links to for a file of `JOINED`: its own, or its pieces'."""
    is_joined = isinstance(staticfiles_storage, JoinedStaticFilesStorage) and not settings.DEBUG
    return [staticfiles_storage.url(file) for file in ([name] if is_joined else JOINED[name])]


def _content(storage: Any, path: str) -> bytes:
    with storage.open(path) as file:
        content: bytes = file.read()
    return content
