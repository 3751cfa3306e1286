"""What was sent with pictures is compared with what the API has, pictures and all."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from batchui.batches import decisions, sending
from batchui.batches.models import Attempt, Batch
from batchui.doctor import ledger
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, work
from tests.batches.picturing import LOOK, add_archive, archive, naming
from tests.doctor.conftest import Find

pytestmark = pytest.mark.django_db


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What was sent, in order."""
    kept: list[bytes] = []
    real = sending.post

    def post(client: Any, *, model: str, body: bytes) -> Any:
        kept.append(body)
        return real(client, model=model, body=body)

    monkeypatch.setattr(sending, "post", post)
    return kept


@pytest.fixture
def pictured(sandbox: RunningSandbox, receive: MakeBatch, bodies: list[bytes]) -> Batch:
    batch = receive(naming("a.jpg", "lost.jpg", "b.jpg"))
    add_archive(batch, archive("a.jpg", "b.jpg"))
    decisions.start(batch, by=None, ask=Ask(**LOOK), prepare_now=True)
    batch.refresh_from_db()
    return work(batch)


def test_nothing_is_found_of_a_batch_with_pictures(pictured: Batch, find: Find) -> None:
    assert (pictured.answered, pictured.failed) == (2, 1)
    assert find() == []


def test_what_was_sent_is_made_again_with_its_pictures(
    pictured: Batch, bodies: list[bytes], files_in: Path
) -> None:
    [body], [attempt] = bodies, Attempt.objects.all()
    assert ledger.sha256_of(attempt) == hashlib.sha256(body).hexdigest()
    (files_in / attempt.part.pictures_file).unlink()
    assert ledger.sha256_of(attempt) == ""
