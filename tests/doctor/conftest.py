"""What tests of the doctor ask for: batches with a real sandbox, and what is found in them."""

from collections.abc import Callable

import pytest

from batchui.batches.models import Batch
from batchui.doctor import examine, ledger
from batchui.doctor.findings import Finding
from batchui.doctor.records import Scope
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import (
    MakeBatch,
    batch,
    files_in,
    part,
    receive,
    rows,
    sandbox,
    shared_sandbox,
    start,
    team,
    work,
)

__all__ = ["batch", "files_in", "part", "receive", "sandbox", "shared_sandbox", "start", "team"]

Find = Callable[..., list[Finding]]


@pytest.fixture
def find(sandbox: RunningSandbox) -> Find:
    """What the doctor finds at its second look, with the sandbox's list of what it accepted."""

    def found(**scope: object) -> list[Finding]:
        known = ledger.of_calls(sandbox.base_url, is_whole=True)
        return examine.examine(Scope(**{"ledger": known} | scope), pause=0).findings

    return found


@pytest.fixture
def finished(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """Sixty rows in three parts, all answered."""
    return work(start(rows(60)))


def places(findings: list[Finding]) -> list[tuple[int, str, int | None]]:
    """What was found: the invariant, its kind, the part."""
    return [(one.invariant, one.kind, one.part) for one in findings]
