"""What tests of the pages ask for: people, and batches with a real sandbox behind them."""

from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from batchui.batches import long_tasks
from batchui.batches.sheet import digests
from batchui.teams.models import Team, User
from batchui.web import download_limit
from batchui.web.sheet import gaps
from batchui.web.static_files import JOINED, joined
from tests.batches.conftest import batch, files_in, receive, sandbox, shared_sandbox, start
from tests.teams.people import set_up
from tests.web.visiting import signed_in

__all__ = ["batch", "files_in", "receive", "sandbox", "shared_sandbox", "start"]


@pytest.fixture(autouse=True)
def whole_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first load has all rows of its page: what comes later is for `sheet/test_gaps*.py`."""
    monkeypatch.setattr(gaps, "HEIGHT", 10**6)
    monkeypatch.setattr(gaps, "MOST_SIGNS", 10**9)


@pytest.fixture(scope="session")
def joined_files() -> None:
    for name, pieces in JOINED.items():
        found = {piece: Path(str(finders.find(piece))).read_text() for piece in pieces}
        (settings.JOINED_FILES / name).write_text(joined(name, found))


@pytest.fixture
def two_static_files(joined_files: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages link the joined files, as deployed ones do: a browser has them sooner."""
    for name in JOINED:
        monkeypatch.setitem(JOINED, name, (f"{settings.JOINED_FILES.name}/{name}",))


@pytest.fixture
def ana(db: None) -> User:
    return set_up()


@pytest.fixture
def team(ana: User) -> Team:
    """Whose batches `receive` and `start` make."""
    return ana.membership.team


@pytest.fixture
def web(ana: User) -> Client:
    """Ana's browser. A view that breaks answers 500 here, as it would to her."""
    return signed_in(ana)


@pytest.fixture(autouse=True)
def nobody_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django's test client does not close what it streams, so that it would count as under way."""
    monkeypatch.setattr(download_limit, "_running", Counter())


@pytest.fixture(autouse=True)
def files_are_read_in_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """As large ones are, so that a test sees every state; small ones are read at once."""
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)


@pytest.fixture
def every_file_is_small(files_are_read_in_a_worker: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is read at once, and a question is held against its rows at once."""
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 10**8)


@pytest.fixture(autouse=True)
def a_page_has_time_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no page says that it has counted some rows only."""
    monkeypatch.setattr(digests, "SECONDS_IN_A_REQUEST", 60)
