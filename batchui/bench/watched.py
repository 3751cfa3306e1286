"""What `manage.py bench --watchers` watches: a team, its batches, and what happens to them.

    python -m batchui.bench.with_django batchui.bench.watched WATCHERS BATCHES SECONDS

Prints one line of JSON, with the cookies of each watcher and the addresses of the pages. Then it
works as a worker would, until its input ends: it shows signs of life, and after the line `change`
it moves a part of each batch but the first every SECONDS. After `rest` it moves none. Each of these
lines is answered with one that says how many parts were moved since the last.
"""

import json
import logging
import select
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.urls import reverse

from batchui.batches import lifecycle
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import new_answers
from batchui.batches.states import PartStatus
from batchui.bench import full_team
from batchui.bench.texts import write_reviews
from batchui.teams.models import Team, User
from batchui.worker.heartbeat import beat

ROWS, PARTS = 500, 20
SECONDS_BETWEEN_BEATS = 5.0
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


def main(watchers: str, batches: str, seconds: str) -> None:
    """Make the team, say what there is to watch, and work."""
    logging.disable(logging.INFO)  # who signs in, a thousand times
    person = full_team.founder()
    full_team.add_people(person.membership.team)
    beat()
    still, *changing = _batches(person, 1 + int(batches))
    _say(
        cookies=[
            f"{settings.SESSION_COOKIE_NAME}={key}"
            for key in _sessions(person.membership.team, int(watchers))
        ],
        still=still.get_absolute_url(),
        changing=[batch.get_absolute_url() for batch in changing],
        history=reverse("batches"),
    )
    _work([_moves(batch) for batch in changing], float(seconds))


def _batches(person: User, number: int) -> list[Batch]:
    """So many running batches: a tenth is answered, and a few parts are at Cloudflare."""
    answers, made = full_team.Texts(), []
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        source = Path(folder, "reviews.csv")
        write_reviews(source, ROWS)
        for _ in range(number):
            batch = full_team.uploaded(source, person.membership.team, person)
            full_team.start(batch, person, parts=PARTS)
            full_team.answer_parts(batch, answers, until=0.1)
            made.append(batch)
    # With more under way, no other would be sent: see `due.MOST_UNDER_WAY`.
    Part.objects.filter(batch__in=made, status=PartStatus.QUEUED).update(status=PartStatus.READY)
    Part.objects.filter(batch__in=made, status=PartStatus.RUNNING).update(status=PartStatus.READY)
    return made


def _sessions(team: Team, number: int) -> Iterator[str]:
    """The keys of so many sessions; each person has several."""
    people = list(User.objects.filter(membership__team=team).order_by("pk"))
    store = import_module(settings.SESSION_ENGINE).SessionStore
    for at in range(number):
        request = HttpRequest()
        request.session = store()
        login(request, people[at % len(people)], backend=BACKEND)
        request.session.save()
        yield str(request.session.session_key)


def _moves(batch: Batch) -> Iterator[None]:
    """What happens to the parts of a batch, one after the other: sent, accepted, answered."""
    answers = full_team.Texts()
    for part in batch.parts.filter(status=PartStatus.READY).order_by("number"):
        for to in (PartStatus.SENDING, PartStatus.QUEUED):
            lifecycle.move_part(part, to)
            yield
        changes = new_answers(part, answers.of(part)).store()
        lifecycle.settle_answers(part, changes, event="Done.")
        yield


def _work(batches: list[Iterator[None]], seconds: float) -> None:
    """Move the batches in turn, each every so many seconds, as the lines of the input say."""
    moving, moved, turn, beaten = False, 0, 0, time.monotonic()
    due = beaten
    while True:
        now = time.monotonic()
        ready, _, _ = select.select([sys.stdin], [], [], max(0.0, due - now) if moving else 0.5)
        if ready:
            line = sys.stdin.readline()
            if not line:
                return
            moving, due = line.strip() == "change", time.monotonic()
            _say(moved=moved)
            moved = 0
        if time.monotonic() - beaten > SECONDS_BETWEEN_BEATS:
            beat()
            beaten = time.monotonic()
        if moving and time.monotonic() >= due:
            next(chain(batches[turn], iter([None])))
            turn, moved = (turn + 1) % len(batches), moved + 1
            due += seconds / len(batches)


def _say(**line: object) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()
