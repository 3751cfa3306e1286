"""The one stylesheet and the one script that browsers are served.

The pieces are in `static/` and in the packages that bring some. `collectstatic` joins them, so that
a first visit asks for two files instead of five, and they are compressed together. Nothing else is
built: where `collectstatic` did not run (tests, DEBUG), pages link the pieces themselves.
"""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

# What is served: its pieces, in the order in which the browser meets them.
JOINED = {
    "batchui.css": ("css/base.css", "css/components.css", "css/pages.css"),
    "batchui.js": ("django_htmx/htmx-2.min.js", "app.js"),
}


class JoinedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Joins the pieces of each of `JOINED` before names get their digest and files are compressed.

    A missing piece raises KeyError with its name.
    """

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        """Like the parent's; `paths` maps each collected file to its storage and its path there."""
        if not dry_run:
            for name, pieces in JOINED.items():
                self.delete(name)
                self.save(name, ContentFile(b"\n".join(_content(*paths[p]) for p in pieces)))
                paths[name] = (self, name)
        yield from super().post_process(paths, dry_run=dry_run, **options)


def addresses(name: str) -> list[str]:
    """What a page links for one of `JOINED`: its one address, or those of its pieces."""
    is_joined = isinstance(staticfiles_storage, JoinedStaticFilesStorage) and not settings.DEBUG
    return [staticfiles_storage.url(file) for file in ([name] if is_joined else JOINED[name])]


def _content(storage: Any, path: str) -> bytes:
    with storage.open(path) as file:
        content: bytes = file.read()
    return content
