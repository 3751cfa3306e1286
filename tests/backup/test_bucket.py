"""With a bucket the files are in the backup, too, and go back into an empty place of a bucket."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.utils import timezone
from moto.server import ThreadedMotoServer
from storages.backends.s3 import S3Storage

from batchui.backup import restoring
from batchui.backup.archive import FILES, check
from batchui.backup.making import make
from batchui.backup.problems import NotPossible
from batchui.backup.restoring import put_back
from batchui.batches import files
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import Question
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import generation, installation_mark, overtaken, sweep, tick
from batchui.worker.installation_mark import Mark
from batchui.worker.models import Installation
from tests.batches.conftest import counted, in_files, posts, work
from tests.worker.copies import copied

BUCKET = "answers"
CREDENTIALS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """An S3 server with an empty bucket; its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    client = boto3.client("s3", endpoint_url=address, region_name="us-east-1", **CREDENTIALS)
    with closing(client):
        client.create_bucket(Bucket=BUCKET)
    try:
        yield address
    finally:
        server.stop()


@pytest.fixture
def client(address: str) -> Iterator[Any]:
    """The bucket as its owner sees it."""
    client = boto3.client("s3", endpoint_url=address, region_name="us-east-1", **CREDENTIALS)
    with closing(client):
        yield client


class Bucket:
    """Where the files are: a folder in the bucket."""

    def __init__(self, address: str, settings: Any) -> None:
        self.address, self.settings = address, settings

    def use(self, prefix: str) -> None:
        self.prefix = prefix
        options = {"bucket_name": BUCKET, "location": prefix, "endpoint_url": self.address}
        keys = {"access_key": "testing", "secret_key": "testing", "region_name": "us-east-1"}
        backend = {
            "BACKEND": "storages.backends.s3.S3Storage",
            "OPTIONS": {**options, **keys, "file_overwrite": True},
        }
        self.settings.STORAGES = self.settings.STORAGES | {"default": backend}


@pytest.fixture
def bucket(address: str, settings: Any, files_in: Path, tmp_path: Path) -> Bucket:
    """The files of a test are in a folder of the bucket that is its own."""
    settings.S3_BUCKET = BUCKET
    bucket = Bucket(address, settings)
    bucket.use(tmp_path.name)
    return bucket


def names(client: Any, prefix: str) -> set[str]:
    """What is in a folder of the bucket."""
    listed = client.list_objects_v2(Bucket=BUCKET, Prefix=f"{prefix}/").get("Contents", [])
    return {found["Key"].removeprefix(f"{prefix}/") for found in listed}


@pytest.fixture
def ended(bucket: Bucket, sandbox: RunningSandbox, batch: Batch) -> Batch:
    """A batch whose files are in the bucket."""
    return work(batch)


def test_the_files_of_a_bucket_go_into_another_folder_of_it(
    bucket: Bucket, client: Any, ended: Batch, to: Path, tmp_path: Path
) -> None:
    before = names(client, tmp_path.name)
    made = make(to)
    assert made.missing == []
    in_backup = {name.removeprefix(FILES) for name in check(to)["members"]}
    assert before <= in_backup
    bucket.use("another")
    # An empty installation was started there before.
    files.save(installation_mark.MARK, ContentFile(b"another-database 7"))
    put_back(to, replace=True)
    assert not installation_mark.belong_to_another()
    assert names(client, "another") == before | {installation_mark.MARK}
    assert names(client, tmp_path.name) == before
    assert counted(ended) == in_files(ended) == {"answered": 60}


def test_what_is_in_a_bucket_is_never_written_over(
    bucket: Bucket, client: Any, ended: Batch, to: Path
) -> None:
    make(to)
    with pytest.raises(NotPossible, match=r"The bucket answers is not empty.*BATCHUI_S3_PREFIX"):
        put_back(to, replace=True)


def test_a_restore_that_fails_leaves_an_empty_bucket(
    bucket: Bucket, client: Any, ended: Batch, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(to)
    bucket.use("failed")
    monkeypatch.setattr(restoring, "_become_a_copy", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        put_back(to, replace=True)
    assert names(client, "failed") == set()
    monkeypatch.undo()
    put_back(to, replace=True)
    assert in_files(ended) == {"answered": 60}


def facts() -> list[Any]:
    """What a restore changes in the database."""
    return [*Installation.objects.values(), *Part.objects.order_by("pk").values()]


@pytest.mark.parametrize("mark", [b"", b"another-database 7\n"])
@pytest.mark.parametrize("moment", ["mark", "files"])
def test_a_restore_that_fails_at_its_last_write_changes_nothing(
    bucket: Bucket,
    client: Any,
    batch: Batch,
    to: Path,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    mark: bytes,
) -> None:
    make(to)
    bucket.use(f"last-{moment}-{len(mark)}")
    if mark:  # an empty installation was started there before
        files.save(installation_mark.MARK, ContentFile(mark))
    before = names(client, bucket.prefix)
    there = facts()
    save = S3Storage.save

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    def save_no_new_mark(storage: S3Storage, name: str, content: Any) -> Any:
        if name == installation_mark.MARK:
            if content.read() != mark:
                full()
            content.seek(0)
        return save(storage, name, content)

    with monkeypatch.context() as during:
        if moment == "mark":
            during.setattr(S3Storage, "save", save_no_new_mark)
        else:  # the files of a disk, among them the keys
            during.setattr(restoring, "_swap_files", full)
        with pytest.raises(CommandError, match=r"Nothing was restored\. .*No space left"):
            call_command("restore", to, replace=True)
    assert facts() == there
    assert names(client, bucket.prefix) == before
    assert installation_mark.read_mark() == (Mark("another-database", 7) if mark else None)


def test_a_copy_of_the_database_is_noticed_by_the_number_in_the_bucket(
    bucket: Bucket, client: Any, sandbox: RunningSandbox, batch: Batch, tmp_path: Path
) -> None:
    generation.keep_up()
    put_back_copy = copied()
    tick.run_tick()
    assert installation_mark.MARK in names(client, tmp_path.name)
    put_back_copy()
    tick.run_tick()
    assert posts(sandbox) == 3
    assert batch.parts.filter(question=Question.RESTORED).count() == 3


def test_clean_replies_go_from_a_bucket_once_it_answers_again(
    bucket: Bucket,
    client: Any,
    ended: Batch,
    tmp_path: Path,
    to: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Attempt.objects.update(finished_at=timezone.now() - timedelta(days=4))
    replies = {name for name in names(client, tmp_path.name) if "/reply-" in name}
    assert len(replies) == 3

    def slow_down(*_: Any) -> None:
        said = {"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": 503}}
        raise ClientError(said, "DeleteObject")

    with monkeypatch.context() as during:
        during.setattr(S3Storage, "delete", slow_down)
        sweep.sweep()
    assert set(Attempt.objects.values_list("reply_file", flat=True)) == replies
    sweep.sweep()
    assert set(Attempt.objects.values_list("reply_file", flat=True)) == {""}
    assert not replies & names(client, tmp_path.name)
    assert make(to).missing == []


def test_files_that_nothing_points_to_are_removed_from_a_bucket(
    bucket: Bucket, client: Any, ended: Batch, tmp_path: Path
) -> None:
    before = names(client, tmp_path.name)
    left = f"batches/{ended.pk}/parts/1/answers-9-7.jsonl.zst"
    files.save(left, ContentFile(b"left"))
    tomorrow = timezone.now() + timedelta(days=1)
    overtaken.remove_of(ended, before=timezone.now() - timedelta(hours=1))
    assert left in names(client, tmp_path.name)
    overtaken.remove_of(ended, before=tomorrow)
    assert names(client, tmp_path.name) == before
