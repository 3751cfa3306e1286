"""`manage.py worker`: background work, watched over."""

import argparse
import os
import sys
import time
from datetime import datetime, timedelta
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, close_old_connections, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from django_q.cluster import Cluster
from django_q.conf import Conf
from django_q.models import OrmQ

from batchui import checks
from batchui.worker.checks import files_are_shared
from batchui.worker.watchdog import Probes, Watchdog

SECONDS_BETWEEN_TRIES = 2
# Longer than any task may run, so that what is still unacknowledged then never will be.
LONGEST_TASK = timedelta(seconds=Conf.TIMEOUT + 30)
# A killed worker leaves one such task behind; a stalled cluster leaves all of them.
STALLED_AT = 10


class Command(BaseCommand):
    help = "Send batches, ask for their answers and store them, until stopped (Ctrl-C, SIGTERM)."

    def add_arguments(self, parser: CommandParser) -> None:
        # How this command starts the cluster that it watches over.
        parser.add_argument("--cluster", action="store_true", help=argparse.SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["cluster"]:
            SteadyCluster().start()
        else:
            self.watch()

    def watch(self) -> None:
        """Run the cluster and keep it going, until asked to stop."""
        self.wait_for_database()
        self.refuse_another_storage()
        follow_settings()
        connections.close_all()
        manage = str(settings.BASE_DIR / "manage.py")
        command = [sys.executable, manage, "worker", "--cluster"]
        probes = Probes(wake=wake, last_beat=last_beat, is_stalled=is_stalled)
        Watchdog(command, probes=probes, say=self.say, environment=os.environ).run()

    def say(self, sentence: str) -> None:
        """A line for the person who reads along; nobody may be reading any more."""
        try:
            self.stdout.write(sentence)
            self.stdout.flush()
        except OSError:
            return

    def wait_for_database(self) -> None:
        """Return once the database answers and its tables are up to date."""
        said = ""
        while reason := why_not_ready():
            if reason != said:
                self.say(f"Waiting: {reason}")
                said = reason
            time.sleep(SECONDS_BETWEEN_TRIES)

    def refuse_another_storage(self) -> None:
        """Raise CommandError where the web process keeps its files out of this one's reach."""
        for sentence in checks.in_sentences(files_are_shared(databases=["default"])):
            raise CommandError(sentence)


class SteadyCluster(Cluster):  # type: ignore[misc]
    """django-q2's cluster, for which being asked twice to stop is the same as once.

    With 1.11.1, a second SIGTERM that comes while the first is handled waits for ever for a lock
    that the first holds. Two do come when a watchdog that has threads is killed: the kernel tells
    its children once for each thread.
    """

    stop_asked = False

    def sig_handler(self, signum: int, frame: FrameType | None) -> None:
        """SIGTERM or SIGINT: stop the sentinel, which stops the others."""
        if self.stop_asked:
            return
        self.stop_asked = True
        if self.sentinel is None:  # not started yet
            sys.exit()
        super().sig_handler(signum, frame)


def why_not_ready() -> str:
    """What background work still waits for, in a sentence; empty when it can start."""
    try:
        executor = MigrationExecutor(connection)
        waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError as error:
        first_line = str(error).partition("\n")[0]
        connections.close_all()
        return f"the database does not answer ({first_line})."
    return f"{waiting} migrations are still to be applied (manage.py migrate)." if waiting else ""


def follow_settings() -> None:
    """Bring the first team's connection in line with the settings (account, token, address)."""
    from batchui.teams.connections import ensure_connection
    from batchui.teams.models import Team

    team = Team.objects.order_by("pk").first()
    if team is not None:
        ensure_connection(team)


def wake() -> None:
    """Enqueue a tick, unless one waits."""
    from batchui.worker.tasks import enqueue_tick

    close_old_connections()
    enqueue_tick()


def last_beat() -> datetime | None:
    """When background work last showed a sign of life."""
    from batchui.worker import heartbeat

    return heartbeat.last_beat()


def is_stalled(since: datetime) -> bool:
    """Whether tasks taken after `since` are never acknowledged, though none can still be running.

    A task that is taken is locked until `retry` seconds later; acknowledging deletes it.
    """
    retry = timedelta(seconds=Conf.RETRY)
    long_ago = timezone.now() - LONGEST_TASK
    taken = OrmQ.objects.filter(lock__gt=since + retry, lock__lt=long_ago + retry)
    return bool(taken[:STALLED_AT].count() >= STALLED_AT)
