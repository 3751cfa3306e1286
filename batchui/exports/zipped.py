"""Zips one file while it is made."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

# Of deflate, for every file of ours. Where there is much text, level 6, which is usual, makes 7 to
# 12 % less and takes two and a half times as long.
LEVEL = 4
# What a person may read and its owner change, as any other downloaded file.
_RIGHTS = 0o644 << 16


class _Pieces:
    """What zipfile has written, until it is taken. It cannot go back in it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def zip_chunks(chunks: Iterable[bytes], name: str, *, made: datetime) -> Iterator[bytes]:
    """A zip with one file of these chunks, called `name` and dated `made`, in chunks of its own.

    The file may have any size, as it is in ZIP64. If the chunks break off with an error, the zip
    has no end, and no program takes it for whole.
    """
    info = ZipInfo(name, made.timetuple()[:6])
    info.compress_type = ZIP_DEFLATED
    info._compresslevel = LEVEL  # type: ignore[attr-defined]  # has a public name from Python 3.13 on
    info.external_attr = _RIGHTS
    pieces = _Pieces()
    with ZipFile(pieces, "w") as archive, archive.open(info, "w", force_zip64=True) as file:
        for chunk in chunks:
            file.write(chunk)
            if piece := pieces.take():
                yield piece
    yield pieces.take()
