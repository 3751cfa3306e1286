"""Batches to test with: real files, a real sandbox over HTTP, no queue."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from batchui.batches import (
    clients,
    decisions,
    due,
    intake,
    lifecycle,
    pictures,
    polling,
    results,
    sending,
)
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.signals import work_waits
from batchui.batches.states import BatchStatus, PartStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.founding import first_team
from batchui.teams.models import Connection, Team, User
from tests.cloudflare.server import ScriptedServer, scripted_server

# A model whose replies come as `responses[]`, with references, and one with `results[]`.
MODEL = "@cf/meta/llama-4-scout-17b-16e-instruct"
CHAT_COMPLETIONS = "@cf/moonshotai/kimi-k2.6"
TEMPLATE = "Summarise: {{text}}"

MakeBatch = Callable[..., Batch]


@pytest.fixture(scope="session")
def shared_sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


@pytest.fixture
def sandbox(shared_sandbox: RunningSandbox, settings: Any) -> Iterator[RunningSandbox]:
    """A Batch API that answers at once; its script of faults is empty before and after."""
    settings.SANDBOX_URL = shared_sandbox.base_url
    settings.FIRST_POLL_SECONDS = 0
    shared_sandbox.script()
    shared_sandbox.sandbox.calls.clear()
    yield shared_sandbox
    shared_sandbox.script()
    clients.close_all()


@pytest.fixture
def api(settings: Any) -> Iterator[ScriptedServer]:
    """A server in the place of Cloudflare's, which answers as a test says, byte for byte."""
    with scripted_server() as server:
        settings.CLOUDFLARE_API_URL = server.base_url
        settings.FIRST_POLL_SECONDS = 0
        another_account(settings)
        yield server
        clients.close_all()


@pytest.fixture(autouse=True)
def files_in(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """Stored files of one test, in a folder of its own."""
    folder = tmp_path / "files"
    storages = dict(settings.STORAGES)
    storages["default"] = {
        "BACKEND": "batchui.batches.files.DurableFileSystemStorage",
        "OPTIONS": {"location": folder},
    }
    settings.STORAGES = storages
    yield folder
    pictures.close()


@pytest.fixture
def team(db: None) -> Team:
    return first_team()


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_user(email="ana@example.com", name="Ana", password=None)


@pytest.fixture
def woken() -> Iterator[list[Batch]]:
    """The batches of which somebody was told that work waits."""
    batches: list[Batch] = []

    def note(*, batch: Batch, **_: Any) -> None:
        batches.append(batch)

    work_waits.connect(note, sender=Batch)
    yield batches
    work_waits.disconnect(note, sender=Batch)


@pytest.fixture
def receive(team: Team) -> MakeBatch:
    """Upload bytes as a file; returns the batch, checked."""

    def make(content: bytes, name: str = "texts.csv") -> Batch:
        return intake.receive(ContentFile(content, name), team=team, by=None, check_now=True)

    return make


@pytest.fixture
def start(receive: MakeBatch) -> MakeBatch:
    """Upload, start and cut; returns the batch, queued (or a draft again)."""

    def make(content: bytes, name: str = "texts.csv", **ask: Any) -> Batch:
        batch = receive(content, name)
        assert batch.status == BatchStatus.DRAFT
        asked = Ask(**{"model": MODEL, "template": TEMPLATE} | ask)
        assert decisions.start(batch, by=None, ask=asked, prepare_now=True)
        batch.refresh_from_db()
        return batch

    return make


@pytest.fixture
def batch(start: MakeBatch) -> Batch:
    """Sixty rows in three parts, nothing sent yet."""
    return start(rows(60))


@pytest.fixture
def part(batch: Batch) -> Part:
    first = batch.parts.get(number=1)
    first.batch = batch
    return first


def on_record(team: Team, *, parts: int = 1, **fields: Any) -> Batch:
    """A batch of so many parts of ten rows, on record alone: no file stands behind it.

    For what follows from the columns; it takes a hundredth of the time of a real one.
    """
    batch = Batch.objects.create(
        **{
            "team": team,
            "connection": ensure_connection(team),
            "name": "texts",
            "source_name": "texts.csv",
            "source_file": "not there",
            "source_size": 1,
            "status": BatchStatus.QUEUED,
            "started_at": timezone.now(),
            "rows": 10 * parts,
            "part_count": parts,
            "model": MODEL,
        }
        | fields
    )
    Part.objects.bulk_create(
        Part(batch=batch, number=number, first_row=10 * number - 9, rows=10)
        for number in range(1, parts + 1)
    )
    return batch


def attempt_on_record(part: Part, **fields: Any) -> Attempt:
    """The next attempt of a part, with all of its rows, on record alone. fields: what is else."""
    wanted = {"number": part.attempts.count() + 1, "items": part.rows, "payload_size": 1}
    return Attempt.objects.create(part=part, **wanted | fields)


def another_account(settings: Any) -> None:
    """From now on the team reaches Cloudflare through another account."""
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "account", "secret-token"


def rows(count: int) -> bytes:
    """A CSV file of so many rows, with the columns `id` and `text`."""
    lines = [f"{number},text number {number}" for number in range(1, count + 1)]
    return "\r\n".join(["id,text", *lines, ""]).encode()


def send_all() -> None:
    """Send every part that is ready."""
    for part in due.ready_parts(1000):
        sending.send(part)


def poll_all() -> None:
    """Poll every part once that Cloudflare has, due or not."""
    Part.objects.update(next_poll_at="2000-01-01T00:00:00Z")
    for part in due.due_parts(1000):
        polling.poll(part)


def accepted(start: MakeBatch, **ask: Any) -> Batch:
    """Ten rows in one part, accepted."""
    batch = start(rows(10), **ask)
    send_all()
    return batch


def polled(batch: Batch, times: int = 1) -> Part:
    """The part after it was polled so often, with enough time in between."""
    for _ in range(times):
        let_odd_replies_age()
        poll_all()
    batch.refresh_from_db()
    return batch.parts.get()


def let_odd_replies_age() -> None:
    """Let an hour pass for what is looked at again before it is believed."""
    Part.objects.exclude(odd_at=None).update(odd_at=timezone.now() - timedelta(hours=1))


def work(batch: Batch, rounds: int = 20) -> Batch:
    """Send and poll until the batch has ended. Returns it as it is then."""
    for _ in range(rounds):
        send_all()
        poll_all()
        let_odd_replies_age()
        batch.refresh_from_db()
        if batch.has_ended:
            break
    return batch


def paused_until() -> datetime | None:
    """The end of the pause of the only connection."""
    return Connection.objects.get().paused_until


def let_the_pause_end() -> None:
    """Let the pauses of connections be over."""
    Connection.objects.update(paused_until=timezone.now())


def posts(sandbox: RunningSandbox) -> int:
    """How many requests were sent."""
    return len(sandbox.calls("submit"))


def statuses(batch: Batch) -> list[str]:
    """The status of each part, in order."""
    return list(batch.parts.order_by("number").values_list("status", flat=True))


def counted(batch: Batch) -> dict[str, int]:
    """The counts of a batch as stored, noughts left out."""
    batch.refresh_from_db()
    return {status.value: n for status, n in batch.answer_counts().items() if n}


def in_files(batch: Batch) -> dict[str, int]:
    """The same, counted in the files."""
    return dict(Counter(row.status for row in results.results(batch) if row.status))


def written(part: Part) -> Attempt:
    """An attempt on record, as just before its POST."""
    assert lifecycle.move_part(part, PartStatus.SENDING)
    prepared = sending.write_attempt(part)
    assert prepared is not None
    return prepared[0]
