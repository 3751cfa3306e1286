"""Planted faults on the disk: files of nobody, lost files, secrets."""

import os
import time
from base64 import b64encode, urlsafe_b64encode
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches.compressed import Compressed, read_compressed
from batchui.batches.models import Batch, Event
from batchui.doctor import disk
from batchui.teams import crypto
from batchui.teams.models import Connection
from tests.doctor.conftest import Find, places

pytestmark = pytest.mark.django_db

SECRET = "a-token/with+odd \\letters\" of Ana's"
DAY = 24 * 60 * 60


def made_old(path: Path, *, days: float) -> None:
    long_ago = time.time() - days * DAY
    os.utime(path, (long_ago, long_ago))


# -- 8 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["parts/2/answers-7-9.jsonl.zst", "parts/2/.writing-x", "other"])
def test_a_file_that_nothing_points_to_is_found_after_a_day(
    finished: Batch, find: Find, files_in: Path, name: str
) -> None:
    path = files_in / "batches" / str(finished.pk) / name
    path.write_bytes(b"left behind")
    for each in path.parent.iterdir():
        made_old(each, days=0.9)
    assert find() == []
    for each in path.parent.iterdir():
        made_old(each, days=1.1)
    (found,) = find()
    assert (found.invariant, found.batch) == (8, finished.pk)
    assert found.where == f"batches/{finished.pk}/{name}"


@pytest.mark.parametrize("kind", ["answers", "reply"])
def test_an_old_file_is_of_nobody_only_a_day_after_it_was_overtaken(
    finished: Batch, find: Find, files_in: Path, kind: str
) -> None:
    """A slow worker's file is as old as its writing; it was current until the faster one's came."""
    part = finished.parts.get(number=2)
    current = part.answers_file if kind == "answers" else part.attempts.get().reply_file
    old = files_in / Path(current).with_name(f"{kind}-0-0.zst")
    old.write_bytes(b"overtaken")
    made_old(old, days=3)
    made_old(files_in / part.rows_file, days=3)
    assert find() == []
    made_old(files_in / current, days=1.1)
    (found,) = find()
    assert found.where == str(old.relative_to(files_in))
    assert found.since is not None
    assert timedelta(days=1) < timezone.now() - found.since < timedelta(days=1.2)


def test_a_folder_of_no_batch_is_found_after_a_day(find: Find, files_in: Path, db: None) -> None:
    folder = files_in / "batches" / "6dbf1a08-9d4e-4a52-8d2c-0c2b6b3b1e11" / "source"
    folder.mkdir(parents=True)
    (folder / "upload").write_bytes(b"an upload that was cut off")
    assert find() == []
    made_old(folder / "upload", days=2)
    assert places(find()) == [(8, "file of nobody", None)]


def test_old_files_that_are_pointed_to_are_no_fault(
    finished: Batch, find: Find, files_in: Path
) -> None:
    for path in files_in.rglob("*"):
        made_old(path, days=30)
    assert find() == []


def test_a_file_that_is_lost_is_found(finished: Batch, find: Find, files_in: Path) -> None:
    attempt = finished.parts.get(number=2).attempts.get()
    (files_in / attempt.reply_file).unlink()
    assert (8, f"lost: {attempt.reply_file}", 2) in places(find())


# -- 10 -------------------------------------------------------------------------------------------


@pytest.fixture
def secret(settings: Any) -> str:
    settings.CLOUDFLARE_API_TOKEN = SECRET
    return SECRET


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        SECRET.encode().hex(),
        "a-token/with+odd \\\\letters\\\" of Ana's",
        "a-token%2Fwith%2Bodd%20%5Cletters%22%20of%20Ana%27s",
        *(b64encode(b"x" * before + SECRET.encode() + b"more").decode() for before in range(3)),
        "".join(f"\\u{ord(letter):04x}" for letter in SECRET),
    ],
)
def test_a_secret_in_a_stored_file_is_found_however_it_is_written(
    finished: Batch, find: Find, secret: str, written: str
) -> None:
    attempt = finished.parts.get(number=2).attempts.get()
    body = b"".join(read_compressed(attempt.reply_file))
    body = body[:-1] + b" " * 10 + written.encode() + b" " * 10 + body[-1:]
    Compressed.of_lines([body]).store(f"batches/{finished.pk}/parts/2/kept.zst")
    (found,) = find()
    assert (found.invariant, found.where) == (10, f"batches/{finished.pk}/parts/2/kept.zst")
    assert secret not in str(found)


@pytest.mark.parametrize("before", range(3))
def test_a_secret_in_the_base64_of_addresses_is_found(
    finished: Batch, find: Find, files_in: Path, settings: Any, before: int
) -> None:
    settings.CLOUDFLARE_API_TOKEN = "????>>>>token~~~~"
    written = urlsafe_b64encode(b"x" * before + settings.CLOUDFLARE_API_TOKEN.encode() + b"more")
    assert {*b"-_"} < {*written}
    (files_in / "batches" / str(finished.pk) / "note").write_bytes(written)
    assert [(one.invariant, one.where) for one in find()] == [(10, f"batches/{finished.pk}/note")]


def test_the_token_of_a_connection_is_a_secret(finished: Batch, find: Find, files_in: Path) -> None:
    token = crypto.decrypt(Connection.objects.get().token_encrypted)
    (files_in / "batches" / str(finished.pk) / "note").write_text(f"Bearer {token}")
    assert [(one.invariant, one.where) for one in find()] == [(10, f"batches/{finished.pk}/note")]


def test_a_secret_in_the_data_folder_or_the_database_is_found(
    finished: Batch, find: Find, secret: str, settings: Any, tmp_path: Path
) -> None:
    settings.DATA = tmp_path
    (tmp_path / "server.log").write_text(f"Authorization: Bearer {secret}")
    Event.objects.create(batch=finished, kind="note", text=f"The token is {secret}.")
    found = {one.where for one in find() if one.invariant == 10}
    assert str(tmp_path / "server.log") in found
    needles = [(secret.encode(), "it")]
    columns = [where for where, text in disk._in_tables() if disk._first(text, needles)]
    assert columns == ["table batches_event, column text"]


def test_the_files_of_the_keys_are_no_fault(
    finished: Batch, find: Find, settings: Any, tmp_path: Path
) -> None:
    settings.DATA = tmp_path
    settings.SECRET_KEY_FILE = tmp_path / "secret-key"
    settings.SECRET_KEY_FILE.write_text(settings.SECRET_KEY)
    assert find() == []
    (tmp_path / "copy-of-secret-key").write_text(settings.SECRET_KEY)
    assert [one.where for one in find()] == [str(tmp_path / "copy-of-secret-key")]


def test_the_keys_that_a_restore_kept_are_no_fault(
    finished: Batch, find: Find, settings: Any, tmp_path: Path
) -> None:
    settings.DATA = tmp_path
    kept = tmp_path / "before-restore-20261122-100000"
    for folder in (kept, kept / "files", tmp_path / "elsewhere"):
        folder.mkdir()
        (folder / "secret-key").write_text(settings.SECRET_KEY)
        (folder / "encryption-key").write_text(settings.ENCRYPTION_KEYS[0])
    (kept / "note").write_text(settings.SECRET_KEY)
    found = {one.where.removeprefix(f"{tmp_path}/") for one in find()}
    assert found == {
        f"{kept.name}/note",
        *(f"{kept.name}/files/{name}" for name in disk.KEYS),
        *(f"elsewhere/{name}" for name in disk.KEYS),
    }


def test_a_secret_across_two_pieces_of_a_file_is_found() -> None:
    needles = [(b"secret", "it")]
    assert disk._first([b"...sec", b"ret..."], needles) == "it"
    assert disk._first([b"...sec", b"rot..."], needles) == ""
