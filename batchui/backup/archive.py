"""One file with everything: a tar whose last member says what is in it, with checksums.

database.sqlite3          or   database/<table>.csv: the database
files/<name>              what the database points to
keys/<name>               the keys, only if they were asked for
manifest.json             the size and the SHA-256 of each of these
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

FORMAT = 1
MANIFEST = "manifest.json"
CHUNK_BYTES = 1024 * 1024


class BadArchive(Exception):
    """A file that is no whole backup. str() is a sentence that says why."""


class Writer:
    """Writes an archive. `close` adds the manifest; without it the archive is not whole."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT
        )
        self._members: dict[str, dict[str, Any]] = {}

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Add a member of `size` bytes. Raises OSError where the content is shorter."""
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o600
        watched = _Hashed(content)
        self._tar.addfile(entry, watched)
        self._members[name] = {"size": size, "sha256": watched.sha256.hexdigest()}

    def close(self, **facts: Any) -> None:
        """Add the manifest, with facts about the backup, and end the archive."""
        manifest = {"format": FORMAT, **facts, "members": self._members}
        content = json.dumps(manifest, indent=1).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size, entry.mode = len(content), 0o600
        self._tar.addfile(entry, io.BytesIO(content))
        self._tar.close()


class _Hashed:
    """A stream whose content is hashed while it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.sha256.update(data)
        return data


class Reader:
    """Reads an archive that was checked to be whole. Use it in `with`."""

    def __init__(self, path: Path) -> None:
        self.manifest = check(path)
        self._tar = tarfile.open(path, mode="r:")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tar.close()

    def names(self, folder: str) -> list[str]:
        """The names of the members below a folder."""
        return [name for name in self.manifest["members"] if name.startswith(f"{folder}/")]

    def open(self, name: str) -> IO[bytes]:
        """A member, open for reading."""
        found = self._tar.extractfile(name)
        if found is None:
            raise BadArchive(f"The backup has no {name}.")
        return found


def check(path: Path) -> dict[str, Any]:
    """Read an archive to its end, compare every checksum, and return its manifest.

    Raises BadArchive for a file that is not whole, OSError for one that cannot be read.
    """
    found: dict[str, dict[str, Any]] = {}
    manifest: dict[str, Any] | None = None
    try:
        with tarfile.open(path, mode="r:") as tar:
            for entry in tar:
                stream = tar.extractfile(entry)
                if stream is None:
                    raise BadArchive(f"{path} is no backup of batchui: {entry.name} is no file.")
                if entry.name == MANIFEST:
                    manifest = json.load(stream)
                else:
                    found[entry.name] = {"size": entry.size, "sha256": _sha256(_pieces(stream))}
    except (tarfile.TarError, ValueError) as problem:
        raise BadArchive(f"{path} is no backup of batchui, or is damaged: {problem}.") from None
    if manifest is None:
        raise BadArchive(f"{path} is not whole: its end is missing. Make the backup again.")
    if manifest.get("format") != FORMAT:
        raise BadArchive(f"{path} was made by a newer batchui. Restore it with that version.")
    if found != manifest["members"]:
        wrong = sorted(
            name for name in manifest["members"] if found.get(name) != manifest["members"][name]
        )
        raise BadArchive(
            f"{path} is damaged: {', '.join(wrong[:3]) or 'it has more than it says'}."
        )
    return manifest


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    while piece := stream.read(CHUNK_BYTES):
        yield piece


def _sha256(pieces: Iterable[bytes]) -> str:
    sha256 = hashlib.sha256()
    for piece in pieces:
        sha256.update(piece)
    return sha256.hexdigest()
