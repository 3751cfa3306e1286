"""A backup that is cut, altered or made by somebody else is refused, and the place is said."""

import io
import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from batchui.backup import archive
from batchui.backup.archive import MANIFEST, SEAL, Writer, check, is_name, opened, seal
from batchui.backup.problems import BadArchive

CONTENTS = {
    "database.sqlite3": b"facts " * 3000,
    "files/batches/b1/source/upload": b"",
    "files/batches/b1/parts/1/rows-0.jsonl.zst": bytes(range(256)) * 9,
    "keys/secret-key": b"swordfish",
}

FACTS: dict[str, Any] = {
    "made_at": "2026-11-22T08:00:00+00:00",
    "database": "sqlite",
    "migrations": [("teams", "0001_initial")],
    "missing": [],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "batchui.backup"
    with path.open("wb") as stream:
        writer = Writer(stream)
        for name, content in CONTENTS.items():
            writer.add(name, io.BytesIO(content), len(content))
        writer.close(**FACTS)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BadArchive) as refused:
        check(path)
    assert str(refused.value).startswith(str(path))
    return str(refused.value)


def test_what_was_written_is_read_again(path: Path) -> None:
    manifest = check(path)
    assert {name: manifest[name] for name in FACTS} == FACTS  # type: ignore[literal-required]
    assert list(manifest["members"]) == list(CONTENTS)
    with opened(path) as members:
        found = {name: content.read() for name, _, content in members}
    assert found.pop(MANIFEST)
    assert found == CONTENTS


def unpacked(path: Path, folder: Path) -> None:
    """Unpack a backup as anybody would."""
    folder.mkdir()
    subprocess.run(["tar", "-xf", path, "-C", folder], check=True)


def test_a_backup_can_be_unpacked_without_batchui(path: Path, tmp_path: Path) -> None:
    unpacked(path, tmp_path / "unpacked")
    for name, content in CONTENTS.items():
        assert (tmp_path / "unpacked" / name).read_bytes() == content


def test_a_content_that_is_shorter_than_it_was_said_to_be_is_an_error(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as stream, pytest.raises(OSError, match="unexpected end"):
        Writer(stream).add("database.sqlite3", io.BytesIO(b"short"), 6)


@pytest.mark.parametrize("tenth", range(1, 10))
def test_a_backup_that_was_cut_is_refused(path: Path, tenth: int) -> None:
    whole = path.read_bytes()
    end = whole.rindex(b"}") + 1  # after it there is only padding
    path.write_bytes(whole[: end * tenth // 10])
    said = refusal(path)
    assert "is not whole" in said


def test_the_place_where_a_backup_was_cut_is_said(path: Path) -> None:
    whole = path.read_bytes()
    at = whole.index(bytes(range(256)))
    path.write_bytes(whole[: at + 100])
    begins = at - tarfile.BLOCKSIZE
    assert f"(in {list(CONTENTS)[2]}, which begins at byte {begins:,} of {at + 100:,})" in refusal(
        path
    )
    path.write_bytes(whole[: begins + 100])
    assert "nothing that can be read comes after files/batches/b1/source/upload." in refusal(path)


@pytest.mark.parametrize("name", [name for name, content in CONTENTS.items() if content])
def test_a_single_changed_byte_is_found_and_its_member_named(path: Path, name: str) -> None:
    whole = bytearray(path.read_bytes())
    at = whole.index(CONTENTS[name])
    whole[at + len(CONTENTS[name]) // 2] ^= 1
    path.write_bytes(whole)
    assert f"is damaged: {name} is not what was written" in refusal(path)


@pytest.mark.parametrize(
    ("written", "changed"), [(b"2026-11-22", b"2026-11-23"), (b'"seal"', b'"sear"')]
)
def test_a_change_of_what_is_said_about_a_backup_is_found(
    path: Path, written: bytes, changed: bytes
) -> None:
    path.write_bytes(path.read_bytes().replace(written, changed))
    assert "is damaged: manifest.json cannot be read" in refusal(path)


def test_a_damaged_head_of_a_member_is_found(path: Path) -> None:
    whole = path.read_bytes().replace(b"keys/secret-key", b"keys/secret-kez", 1)
    path.write_bytes(whole)
    assert "comes after files/batches/b1/parts/1/rows-0.jsonl.zst" in refusal(path)


@pytest.mark.parametrize(
    "content", [b"", b"a", b"no archive " * 1000, b"\0" * 20_000, b"\x1f\x8b" * 600]
)
def test_a_file_that_is_no_backup_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "holiday.jpg"
    path.write_bytes(content)
    refusal(path)


def test_a_file_that_is_not_there_is_no_bad_archive(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "nothing")


# -- what somebody else may have made ------------------------------------------------------------


def pack(path: Path, *entries: tarfile.TarInfo, **manifest: Any) -> None:
    """A tar of these entries, each of five bytes if it is a file, and of a manifest."""
    with tarfile.open(path, "w") as tar:
        for entry in entries:
            entry.size = 5 if entry.isreg() else 0
            tar.addfile(entry, io.BytesIO(b"12345"))
        manifest = FACTS | {"format": 1, "members": {}} | manifest
        content = json.dumps(manifest | {SEAL: seal(manifest)}).encode()
        add_manifest(tar, content)


def add_manifest(tar: tarfile.TarFile, content: bytes) -> None:
    entry = tarfile.TarInfo(MANIFEST)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


HOSTILE = [
    "../outside",
    "/etc/cron.d/job",
    "files/../../outside",
    "files/batches/../../../outside",
    "files/batches/b1/..",
    "files/batches//b1",
    "files/batches/b1/.writing-1",
    "files/installation",
    "files",
    "database/../../x.csv",
    "database/a b.csv",
    "keys/authorized_keys",
    "keys/../secret-key",
    "./database.sqlite3",
    "database.sqlite3-wal",
    "files/batches/b1\\..\\x",
    "files/batches/b1/x\n",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "batchui.backup"
    pack(path, tarfile.TarInfo(name))
    assert "does not belong into it. Nothing of it is used." in refusal(path)
    assert not is_name(name)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_what_is_no_plain_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "batchui.backup"
    entry = tarfile.TarInfo("database.sqlite3")
    entry.type, entry.linkname = kind, "/etc/passwd"
    pack(path, entry)
    assert "does not belong into it" in refusal(path)


def test_a_member_that_the_manifest_does_not_know_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "batchui.backup"
    pack(path, tarfile.TarInfo("keys/secret-key"))
    assert "keys/secret-key is not what was written" in refusal(path)


def test_a_member_that_is_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "batchui.backup"
    pack(path, members={name: {"size": 1, "sha256": ""} for name in "abc"})
    assert "a and 2 more is not what was written" in refusal(path)


def test_a_member_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "batchui.backup"
    pack(path, tarfile.TarInfo("keys/secret-key"), tarfile.TarInfo("keys/secret-key"))
    assert "keys/secret-key is in it twice" in refusal(path)


def test_a_backup_of_a_newer_version_says_so(tmp_path: Path) -> None:
    path = tmp_path / "batchui.backup"
    pack(path, format=2)
    assert "was made by a newer batchui" in refusal(path)


@pytest.mark.parametrize("name", ["database.sqlite3", MANIFEST])
def test_a_member_with_holes_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    """Some kilobytes could be unpacked to fill the disk, or the memory."""
    path = tmp_path / "batchui.backup"
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.GNUTYPE_SPARSE
    head = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    for at, number in ((386, 1 << 20), (398, 0), (483, 1 << 20)):  # one hole, and the size with it
        head[at : at + 12] = tarfile.itn(number, 12, tarfile.GNU_FORMAT)  # type: ignore[attr-defined]
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    path.write_bytes(bytes(head) + bytes(tarfile.RECORDSIZE))
    assert f"{name!r} does not belong into it" in refusal(path)


@pytest.mark.parametrize(
    "manifest",
    [
        *({"format": "1"}, {"format": None}, {"members": []}, {"members": {"a": {}}}),
        *({"made_at": "x"}, {"made_at": None}, {"database": 1}, {"missing": None}),
        *({"migrations": [1]}, {"migrations": [["teams"]]}),
    ],
)
def test_a_manifest_of_another_shape_is_refused(tmp_path: Path, manifest: Any) -> None:
    path = tmp_path / "batchui.backup"
    pack(path, **manifest)
    assert "manifest.json cannot be read" in refusal(path)


@pytest.mark.parametrize("name", FACTS)
def test_a_manifest_that_does_not_say_everything_is_refused(path: Path, name: str) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole.replace(f'"{name}"'.encode(), f'"{name[:-1]}x"'.encode()))
    assert "manifest.json cannot be read" in refusal(path)


def test_a_manifest_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "batchui.backup"
    with tarfile.open(path, "w") as tar:
        add_manifest(tar, b'{"format": 1, "members": ' + b"[" * 100_000)
    assert "manifest.json cannot be read" in refusal(path)


def test_no_more_is_read_of_a_manifest_than_its_members_need(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = path.read_bytes()
    length = whole.rindex(b"}") + 1 - whole.index(b'{\n "format"')
    monkeypatch.setattr(archive, "FACTS_BYTES", length - 4 * archive.MEMBER_BYTES)
    assert check(path)
    monkeypatch.setattr(archive, "FACTS_BYTES", length - 4 * archive.MEMBER_BYTES - 1)
    assert "manifest.json cannot be read" in refusal(path)
