"""What tests of the sheet ask for."""

import pytest

from batchui.batches.sheet import digests
from tests.batches.conftest import (
    ana,
    batch,
    files_in,
    receive,
    sandbox,
    shared_sandbox,
    start,
    team,
)

__all__ = ["ana", "batch", "files_in", "receive", "sandbox", "shared_sandbox", "start", "team"]


@pytest.fixture(autouse=True)
def a_request_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all digests, however slow the machine is."""
    monkeypatch.setattr(digests, "SECONDS_IN_A_REQUEST", 60)
