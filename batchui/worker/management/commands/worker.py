"""`manage.py worker`: background work, with a watchdog."""

import argparse
import os
import sys
import time
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, close_old_connections, connections
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ

from batchui import checks, data_folder
from batchui.batches.phrases import counted
from batchui.commands import ExactCommand
from batchui.processes import memory
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from batchui.worker.checks import files_are_ours, files_are_shared
from batchui.worker.database import first_line, migrations_waiting
from batchui.worker.heartbeat import last_beat, new_worker_name
from batchui.worker.waking import enqueue_tick
from batchui.worker.watchdog import Probes, Watchdog

SECONDS_BETWEEN_TRIES = 2
SECONDS_OF_A_CONNECTION = 60
# Longer than any task may run. After this time an unacknowledged task never will be acknowledged.
LONGEST_TASK = timedelta(seconds=Conf.TIMEOUT + 30)
# A killed process leaves one such task; a cluster that acknowledges nothing leaves all of them.
STALLED_AT = 10


class Command(ExactCommand):
    help = "Send batches, ask for their answers and store them, until stopped (Ctrl-C, SIGTERM)."
    requires_system_checks = (checks.TAG,)

    def add_arguments(self, parser: CommandParser) -> None:
        # This command starts itself with --cluster, and watches that process.
        parser.add_argument("--cluster", action="store_true", help=argparse.SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        keep_connections()
        if options["cluster"]:
            work()
        else:
            self.watch()

    def watch(self) -> None:
        """Run the cluster, and restart it if necessary, until asked to stop."""
        data_folder.make()
        self.wait_for_database()
        self.refuse_another_storage()
        follow_settings()
        connections.close_all()
        manage = str(settings.BASE_DIR / "manage.py")
        command = [sys.executable, manage, "worker", "--cluster"]
        name = new_worker_name()
        environment = os.environ | {"BATCHUI_WORKER_NAME": name}
        Watchdog(command, probes=probes(name), say=self.say, environment=environment).run()

    def say(self, sentence: str) -> None:
        """Print a line. Does nothing if the output is closed."""
        try:
            self.stdout.write(sentence)
            self.stdout.flush()
        except OSError:
            return

    def wait_for_database(self) -> None:
        """Return once the database answers and its tables are up to date."""
        shown = ""
        while reason := what_it_waits_for():
            if reason != shown:
                self.say(f"Waiting: {reason}")
                shown = reason
            time.sleep(SECONDS_BETWEEN_TRIES)

    def refuse_another_storage(self) -> None:
        """Raise CommandError if the files here belong to other processes, or another database."""
        found = files_are_shared(databases=["default"]) + files_are_ours(databases=["default"])
        for sentence in checks.in_sentences(found):
            raise CommandError(sentence)


def work() -> None:
    """Run the cluster. Its processes share what is imported here; the watchdog never needs it."""
    from batchui.worker import tasks  # noqa: F401
    from batchui.worker.cluster import SteadyCluster

    memory.give_back_what_was_large()
    memory.share_with_forks()
    SteadyCluster().start()


def keep_connections() -> None:
    """Keep the connection to the database for a minute, on SQLite as on PostgreSQL.

    Every task and every probe would open it anew, 5 ms each time: half of what is done at rest.
    """
    connections["default"].settings_dict["CONN_MAX_AGE"] = SECONDS_OF_A_CONNECTION


def what_it_waits_for() -> str:
    """What background work still waits for, as a sentence; "" if it can start."""
    try:
        waiting = migrations_waiting()
    except DatabaseError as error:
        connections.close_all()
        return f"the database does not answer ({first_line(error)})."
    return (
        f"{counted(waiting, 'migration')} must be applied (manage.py migrate)." if waiting else ""
    )


def follow_settings() -> None:
    """Update the first team's connection from the settings (account, token, address)."""
    team = Team.objects.order_by("pk").first()
    if team is not None:
        ensure_connection(team)


def probes(name: str) -> Probes:
    """The probes with which the watchdog of the worker `name` asks the database."""

    def wake() -> None:
        close_old_connections()
        enqueue_tick(name)

    return Probes(
        wake=wake,
        last_beat=lambda: last_beat(name),
        is_stalled=lambda since: is_stalled(name, since=since),
    )


def is_stalled(name: str, *, since: datetime) -> bool:
    """Whether STALLED_AT tasks taken after `since` are unacknowledged although their time is over.

    A task that is taken is locked for `retry` seconds. Acknowledging deletes it.
    """
    retry = timedelta(seconds=Conf.RETRY)
    long_ago = timezone.now() - LONGEST_TASK
    taken = OrmQ.objects.filter(key=name, lock__gt=since + retry, lock__lt=long_ago + retry)
    return bool(taken[:STALLED_AT].count() >= STALLED_AT)
