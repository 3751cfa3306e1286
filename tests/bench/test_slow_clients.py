"""`manage.py bench --slow-clients`."""

import re

import pytest
from django.core.management import CommandError

from batchui.bench.slow import KINDS
from batchui.processes.web_server import PROCESSES, THREADS
from tests.bench.command import bench

pytestmark = pytest.mark.processes


def test_more_slow_clients_than_threads_hold_no_page_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one could, it would as long as somebody waits for the page."""
    monkeypatch.setattr("batchui.bench.slow.SECONDS", 0.1)
    monkeypatch.setattr("batchui.bench.slow.PATIENCE", 60)
    monkeypatch.setattr("batchui.bench.slow.BETWEEN_ARRIVALS", 0)
    clients = PROCESSES * THREADS + 6
    printed = bench("--slow-clients", str(clients))
    for kind in KINDS:
        line = next(line for line in printed.splitlines() if line.startswith(kind))
        pages, failed, *_, connected = re.findall(r"[0-9.]+", line.removeprefix(kind))[:6]
        assert int(pages) >= 4, printed
        assert failed == "0", printed
        assert int(connected) == (clients if KINDS[kind] else 0), printed


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(CommandError, match="--slow-clients must be at least 1"):
        bench("--slow-clients", "0")
