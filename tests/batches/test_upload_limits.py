"""How large an upload may be while the disk has so much room."""

import shutil
from types import SimpleNamespace
from typing import Any

import pytest

from batchui.batches import upload_limits
from batchui.prompts.problems import BadInput

FREE, KEPT = 1_000_000_000, 600_000_000


@pytest.fixture(autouse=True)
def disk(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with a GB free, of which 600 MB are kept."""
    settings.KEEP_FREE_BYTES = KEPT
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=FREE))


def test_an_upload_may_take_a_quarter_of_what_is_not_kept() -> None:
    assert upload_limits.room() == (FREE - KEPT) // 4 == 100_000_000
    upload_limits.refuse_full_disk(100_000_000)


def test_a_larger_one_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadInput) as refused:
        upload_limits.refuse_full_disk(100_000_001)
    assert (
        str(refused.value)
        == str(upload_limits.nearly_full())
        == (
            "The disk of this server is nearly full, so nothing was uploaded. "
            "Tell the person who runs batchui. "
            "To make room, delete batches that nobody needs any more."
        )
    )
    with pytest.raises(BadInput, match="so nothing was made"):
        upload_limits.refuse_full_disk(100_000_001, not_done="made")


def test_a_disk_that_cannot_be_asked_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> object:
        raise OSError

    monkeypatch.setattr(shutil, "disk_usage", broken)
    upload_limits.refuse_full_disk(10**15)
