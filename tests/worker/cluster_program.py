"""A watchdog over a real django-q2 cluster, with little patience: run as a program by a test."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import django
from django.conf import settings

SILENCE = 2.0


def tick() -> None:
    """What the cluster is woken for."""
    beats().touch()


def beats() -> Path:
    return Path(settings.FOLDER, "beats")


def last_beat() -> datetime | None:
    path = beats()
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None


def main() -> None:
    django.setup()
    from django.core.management import call_command
    from django_q.tasks import async_task

    from batchui.worker.cluster import SteadyCluster
    from batchui.worker.watchdog import Patience, Probes, Watchdog

    if sys.argv[1:] == ["cluster"]:
        SteadyCluster().start()
        return
    call_command("migrate", verbosity=0)
    probes = Probes(
        wake=lambda: async_task("tests.worker.cluster_program.tick"), last_beat=last_beat
    )
    patience = Patience(between_probes=0.3, silence=SILENCE, start=8, stop=3, restart=0.5)
    command = [sys.executable, "-m", "tests.worker.cluster_program", "cluster"]
    Watchdog(command, probes=probes, say=say, patience=patience).run()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
