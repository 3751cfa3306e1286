"""What `manage.py up` does before it starts the services: checks, database, static files.

Import it only after Django is set up. A step does nothing, quickly, if nothing has changed since
the last start.
"""

import fcntl
from typing import IO

from django.conf import settings
from django.core.checks import CheckMessage, run_checks
from django.core.management import call_command
from django.db import DatabaseError, connection, connections

from batchui import checks, data_folder
from batchui.gathering import gather_static_files
from batchui.teams.invitations import first_administrator_token
from batchui.up.errors import CannotStart
from batchui.up.ports import sandbox_address
from batchui.up.progress import say
from batchui.worker import generation
from batchui.worker.checks import files_are_ours, files_are_shared
from batchui.worker.database import first_line, migrations_waiting

_locks: list[IO[str]] = []


def prepare(*, restored: bool = False) -> None:
    """Check the settings, and prepare database and static files. Raises CannotStart.

    restored: this machine was put back to an earlier state.
    """
    refuse(run_checks())
    try:
        data_folder.make()
    except data_folder.DataFolderProblem as problem:
        raise CannotStart(str(problem)) from None
    refuse_second_start()
    prepare_database(restored=restored)
    gather_static_files()


def refuse_second_start() -> None:
    """Raise CannotStart if another `up` uses this data folder.

    Two would share one sandbox and one address. The lock ends with this process.
    """
    lock = (settings.DATA / "up.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        known = settings.ADDRESS_FILE.exists()
        where = f" at {settings.ADDRESS_FILE.read_text()}" if known else ""
        raise CannotStart(
            f"batchui already runs with the data folder {settings.DATA}{where}. Stop it first, or "
            "set BATCHUI_DATA to another folder.",
            status=2,
        ) from None
    _locks.append(lock)


def refuse(found: list[CheckMessage]) -> None:
    """Raise CannotStart if there are errors among the messages of checks, with the errors."""
    if errors := checks.in_sentences(found):
        raise CannotStart("\n".join(["batchui cannot start:", *errors]))


def prepare_database(*, restored: bool = False) -> None:
    """Bring the tables up to date. Raises CannotStart if that is not possible."""
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        raise CannotStart(f"The database does not answer: {first_line(error)}") from None
    try:
        if migrations_waiting():
            say("Preparing the database …")
            call_command("migrate", interactive=False, verbosity=0)
        refuse(files_are_shared(databases=["default"]) + files_are_ours(databases=["default"]))
        if restored:
            say(generation.in_words(generation.note_restored(generation.MACHINE_PUT_BACK)))
    except DatabaseError as error:
        reason = first_line(error)
        raise CannotStart(f"The database could not be brought up to date: {reason}") from None
    finally:
        connections.close_all()


def locks() -> list[int]:
    """The descriptors of the locks that last as long as `up` runs."""
    return [lock.fileno() for lock in _locks]


def address_file() -> str:
    """The path of the file with the address of the pages."""
    return str(settings.ADDRESS_FILE)


def remember_sandbox(port: int | None) -> None:
    """Store the address of the sandbox, for other commands and for the next start.

    port: of the sandbox that `up` starts.
    """
    settings.SANDBOX_FILE.write_text(sandbox_address(port) if port else settings.SANDBOX_URL)


def first_page() -> str:
    """The path of the first page: the one-time set-up link if nobody has an account, else `/`."""
    try:
        token = first_administrator_token()
    finally:
        connections.close_all()
    return f"/setup/{token}/" if token else "/"
