"""Where the pictures of a batch's rows are: at addresses, or in a ZIP archive that goes with it."""

import threading
from typing import Any, BinaryIO, NamedTuple

from django.conf import settings

from batchui.batches import files
from batchui.batches.models import Batch
from batchui.pictures.fetching import fetch, is_address
from batchui.pictures.packed import PackedPictures
from batchui.pictures.problems import NoPicture
from batchui.pictures.scaling import scaled
from batchui.prompts.problems import quoted
from batchui.prompts.reading.rows import as_list, shown_text

NO_ARCHIVE = (
    "is no address of a picture, and this batch has no ZIP archive with pictures. Write an address "
    "that begins with https://, or add the archive to the draft"
)


class _Opened(NamedTuple):
    name: str
    file: BinaryIO
    pictures: PackedPictures


# The archive that was read last stays open: its list of files may be long.
_lock = threading.Lock()
_last: _Opened | None = None


def named_in(batch: Batch, cells: Any) -> str:
    """What a row says of its picture: an address, or the name of a file; "" if it says nothing."""
    column = batch.ask.picture_column
    if not batch.ask.shows_pictures or column not in batch.columns or cells is None:
        return ""
    return shown_text(as_list(cells, batch.columns)[batch.columns.index(column)]).strip()


def picture(batch: Batch, named: str, *, seconds: float = 20) -> bytes:
    """The picture that a row names, scaled for a model: see `scaling.scaled`.

    Takes up to `seconds`, and a little. Raises NoPicture, with a sentence.
    """
    if is_address(named):
        content = fetch(named, allowed=settings.PICTURE_HOSTS, seconds=seconds)
    elif batch.pictures_file:
        content = _packed(batch.pictures_file, named)
    else:
        raise NoPicture(f"{quoted(named)} {NO_ARCHIVE}.")
    return scaled(content)


def _packed(name: str, named: str) -> bytes:
    """A file of a stored archive. Threads take turns: they share the place that is read."""
    with _lock:
        try:
            return _opened(name).pictures.find(named)
        except OSError as problem:
            why = "The ZIP archive with the pictures cannot be read now."
            raise NoPicture(why, passes=True) from problem


def _opened(name: str) -> _Opened:
    global _last
    if _last is None or _last.name != name:
        close()
        file = files.open_file(name)
        try:
            _last = _Opened(name, file, PackedPictures(file))
        except BaseException:
            file.close()
            raise
    return _last


def close() -> None:
    """Close the archive that was read last."""
    global _last
    if _last is not None:
        _last.file.close()
    _last = None
