"""One file with everything: a tar whose last member says what is in it, with checksums.

    database.sqlite3      the database; of PostgreSQL database/<table>.csv, one for each table
    files/batches/…       the files that the database points to
    keys/…                the keys, only if they were asked for
    manifest.json         the size and the SHA-256 of each of these, and when it was made

A tar, so that it can be opened without batchui. It is not compressed: nearly all in it is.
"""

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple, TypedDict, cast

import msgspec

from batchui.backup.problems import BadArchive

FORMAT = 1
MANIFEST, SEAL = "manifest.json", "seal"
SQLITE, TABLES, FILES, KEYS = "database.sqlite3", "database/", "files/", "keys/"
CHUNK_BYTES = 1024 * 1024
# The longest manifest, in bytes: for each member, and for all that it says besides.
MEMBER_BYTES, FACTS_BYTES = 1_000, 16 * 1024**2
# Nothing leads out of the folder into which a backup is unpacked.
_PART = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_NAME = re.compile(
    rf"database\.sqlite3|database/\w+\.csv|files/batches(/{_PART})+|keys/(secret|encryption)-key",
    re.ASCII,
)


class Described(TypedDict):
    """What a manifest says of a member."""

    size: int
    sha256: str


class Manifest(TypedDict):
    """What a backup says of itself. made_at: ISO 8601. missing: the names of files."""

    format: int
    made_at: str
    database: str
    migrations: list[tuple[str, str]]
    missing: list[str]
    members: dict[str, Described]
    seal: str


class _AnyFormat(msgspec.Struct):
    format: int


def seal(manifest: Mapping[str, Any]) -> str:
    """The checksum of a manifest itself, without its seal."""
    facts = {name: fact for name, fact in manifest.items() if name != SEAL}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


class Member(NamedTuple):
    """One member of an archive. `content` can be read until the next member is asked for."""

    name: str
    size: int
    content: IO[bytes]


def is_name(name: str) -> bool:
    """Whether a member may have this name."""
    return _NAME.fullmatch(name) is not None


class Writer:
    """Writes an archive. `close` adds the manifest; without it the archive is not whole."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._tar = tarfile.open(  # noqa: SIM115
            fileobj=stream, mode="w", format=tarfile.PAX_FORMAT
        )
        self._members: dict[str, Described] = {}

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Add a member of `size` bytes. Raises OSError where the content is shorter."""
        if not is_name(name):
            raise ValueError(f"{name} is no name for a member of a backup.")
        hashed = _Hashed(content)
        self._add(name, hashed, size)
        self._members[name] = {"size": size, "sha256": hashed.sha256.hexdigest()}

    def add_file(self, name: str, path: Path) -> None:
        """Add a file of this machine."""
        with path.open("rb") as content:
            self.add(name, content, path.stat().st_size)

    def close(self, **facts: Any) -> None:
        """Add the manifest, with facts about the backup, and end the archive."""
        manifest = {"format": FORMAT, **facts, "members": self._members}
        content = json.dumps({**manifest, SEAL: seal(manifest)}, indent=1).encode()
        self._add(MANIFEST, io.BytesIO(content), len(content))
        self._tar.close()

    def _add(self, name: str, content: "IO[bytes] | _Hashed", size: int) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o600
        self._tar.addfile(entry, cast(IO[bytes], content))


class _Hashed:
    """A stream whose content is hashed while it is read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.sha256.update(data)
        return data


@contextmanager
def opened(path: Path) -> Iterator[Iterator[Member]]:
    """The members of an archive, in order, the manifest last.

    Raises BadArchive, also for what the context reads of them, OSError.
    """
    place = ["at its beginning"]
    try:
        with tarfile.open(path, mode="r:") as archive:
            yield _members(path, archive, place)
    except (tarfile.TarError, EOFError) as problem:
        raise BadArchive(
            f"{path} is no backup of batchui, or is not whole: {problem} ({place[0]})."
        ) from None


def check(path: Path) -> Manifest:
    """Read an archive to its end, compare every checksum, and return its manifest.

    Raises BadArchive for a file that is not a whole backup, OSError for one that cannot be read.
    """
    found: dict[str, Described] = {}
    content, last = b"", "its beginning"
    with opened(path) as members:
        for name, size, stream in members:
            last = name
            if name == MANIFEST:
                content = stream.read(FACTS_BYTES + MEMBER_BYTES * len(found))
            elif name in found:
                raise BadArchive(f"{path} is no backup of batchui: {name} is in it twice.")
            else:
                found[name] = {"size": size, "sha256": _sha256(stream)}
    if last != MANIFEST:
        raise BadArchive(f"{path} is not whole: nothing that can be read comes after {last}.")
    return _compared(path, _manifest(path, content), found)


def _compared(path: Path, manifest: Manifest, found: dict[str, Described]) -> Manifest:
    written = manifest["members"]
    wrong = [name for name in {**written, **found} if written.get(name) != found.get(name)]
    if wrong:
        more = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        raise BadArchive(
            f"{path} is damaged: {wrong[0]}{more} is not what was written. Take another backup."
        )
    return manifest


def _manifest(path: Path, content: bytes) -> Manifest:
    try:
        number = msgspec.json.decode(content, type=_AnyFormat).format
        if number > FORMAT:
            raise BadArchive(f"{path} was made by a newer batchui. Restore it with that version.")
        manifest = msgspec.json.decode(content, type=Manifest)
        datetime.fromisoformat(manifest["made_at"])
        is_good = number == FORMAT and manifest["seal"] == seal(manifest)
    except (msgspec.DecodeError, RecursionError, ValueError):
        is_good = False
    if not is_good:
        raise BadArchive(f"{path} is damaged: {MANIFEST} cannot be read. Take another backup.")
    return manifest


def _members(path: Path, archive: tarfile.TarFile, place: list[str]) -> Iterator[Member]:
    size = path.stat().st_size
    for entry in archive:
        place[0] = f"in {entry.name}, which begins at byte {entry.offset:,} of {size:,}"
        is_plain = entry.isreg() and not entry.issparse()
        content = archive.extractfile(entry) if is_plain else None
        if content is None or not (entry.name == MANIFEST or is_name(entry.name)):
            raise BadArchive(
                f"{path} is no backup of batchui, or was changed: {entry.name!r} does not belong "
                "into it. Nothing of it is used."
            )
        yield Member(entry.name, entry.size, content)


def _sha256(content: IO[bytes]) -> str:
    sha256 = hashlib.sha256()
    while piece := content.read(CHUNK_BYTES):
        sha256.update(piece)
    return sha256.hexdigest()
