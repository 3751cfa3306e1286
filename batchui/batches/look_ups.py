"""Looks up requests that somebody else has sent: a script, the demo, a colleague's terminal.

A worker asks for each until its answers are there, which become a batch of its own (see
`looked_up.py`). A look costs nothing, and nothing is ever sent again.
"""

import logging
import tempfile
from datetime import datetime, timedelta
from typing import Any, BinaryIO, cast

import msgspec
from django.db import InterfaceError, OperationalError
from django.db.models import DateTimeField, F, QuerySet
from django.utils import timezone

from batchui.batches import claims, events, looked_up, pauses
from batchui.batches.clients import shared_client
from batchui.batches.clock import is_free
from batchui.batches.look_up_models import LONGEST_ID, OPEN_LOOK_UPS, LookUp, LookUpStatus
from batchui.batches.models import Attempt, Batch
from batchui.batches.prepared import Given, prepared
from batchui.batches.replies import MismatchError
from batchui.batches.signals import work_waits
from batchui.batches.steps import PART_LEASE, REPLY_IN_MEMORY
from batchui.cloudflare import errors
from batchui.cloudflare.accounts import check_model
from batchui.cloudflare.catalogue import DEFAULT_MODEL
from batchui.prompts.problems import BadInput
from batchui.teams.models import Connection, Team, User
from batchui.teams.problems import TeamProblem

logger = logging.getLogger(__name__)

# A look-up that has ended, or that never came to an end, is forgotten after this time.
FORGOTTEN_AFTER = timedelta(days=30)
NO_ID = "Paste the request id: Cloudflare answered with it when the request was sent."
NO_MODEL = "Write the model that was asked: the id alone does not say it."
NO_SUCH_MODEL = (
    "“{}” is not the name of a model. Write it as it was asked, such as "
    f"{DEFAULT_MODEL}, or choose one from the list."
)
LONG_ID = f"A request id has at most {LONGEST_ID} letters, digits and hyphens. Paste the id alone."
NOT_THERE = (
    "There is no request with this id and this model, or its answers are gone: they are kept for "
    "some days. Check both, and whether it was sent through this connection."
)
OUR_MISTAKE = (
    "The answers are there, but batchui cannot read them, because of a mistake in batchui. Tell "
    "the person who runs batchui: the log says more."
)


class WrongField(BadInput):
    """What was written in a field of the form cannot be. field: its name."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def read_pasted(text: str) -> tuple[str, str]:
    """The request id and the model in what was pasted: an id, or a reply of Cloudflare as JSON.

    Each is "" where it is not there.
    """
    text = text.strip()
    if not text.startswith("{"):
        return text.strip("\"'`, "), ""
    found = _result(text)
    if found is None:
        return text, ""
    known = (found.get("request_id"), found.get("model"))
    request_id, model = (one if isinstance(one, str) else "" for one in known)
    return request_id, model


def holds_answers(text: str) -> bool:
    """Whether what was pasted is a reply that has answers, such as comes of a poll."""
    found = _result(text.strip()) or {}
    return any(isinstance(found.get(name), list) for name in ("responses", "results"))


def _result(text: str) -> dict[str, Any] | None:
    """The result of a reply of Cloudflare, in its envelope or without; None: it is none."""
    try:
        found = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        return None
    inner = found.get("result")
    return inner if isinstance(inner, dict) else found


def begin(
    *, team: Team, by: User | None, connection: Connection, request_id: str, model: str
) -> LookUp | Batch:
    """Have a request looked up. The batch, where the team has its answers already.

    Whoever asks for one that is looked after gets that look-up. Raises WrongField.
    """
    if not request_id:
        raise WrongField("request_id", NO_ID)
    if len(request_id) > LONGEST_ID or not request_id.isascii() or not request_id.isprintable():
        raise WrongField("request_id", LONG_ID)
    if not model:
        raise WrongField("model", NO_MODEL)
    try:
        check_model(model)
    except errors.Refused:
        raise WrongField("model", NO_SUCH_MODEL.format(model[:80])) from None
    if known := _known(team, request_id):
        return known
    look_up = LookUp.objects.create(
        team=team, created_by=by, connection=connection, request_id=request_id, model=model
    )
    work_waits.send(LookUp)
    return look_up


def _known(team: Team, request_id: str) -> LookUp | Batch | None:
    attempts = Attempt.objects.filter(request_id=request_id, part__batch__team=team)
    attempt = attempts.filter(part__batch__deleted_at=None).select_related("part__batch").first()
    if attempt is not None:
        return attempt.part.batch
    return open_of(team).filter(request_id=request_id).first()


def open_of(team: Team) -> QuerySet[LookUp]:
    """The look-ups of a team whose answers are not there yet, the newest first."""
    found = LookUp.objects.filter(team=team, status__in=OPEN_LOOK_UPS)
    return found.select_related("connection", "created_by")


def due(limit: int) -> list[LookUp]:
    """Up to `limit` look-ups to look after now, those that have waited longest first."""
    now = timezone.now()
    if not _some_are_due(now=now):  # as nearly always; to ask for whole rows costs more
        return []
    found = _due(now).select_related("connection", "team")
    return list(found.order_by("next_look_at")[:limit])


def _due(now: datetime | Given) -> QuerySet[LookUp]:
    return LookUp.objects.filter(is_free(now=now), status__in=OPEN_LOOK_UPS, next_look_at__lte=now)


@prepared(now=DateTimeField())
def _some_are_due(now: Given) -> QuerySet[Any, Any]:
    return _due(now).order_by().values_list("pk")[:1]


def next_by(until: datetime) -> datetime | None:
    """When the next look-up is due, if that is by `until`. It may be over already."""
    found = LookUp.objects.filter(is_free(), status__in=OPEN_LOOK_UPS, next_look_at__lte=until)
    return found.order_by("next_look_at").values_list("next_look_at", flat=True).first()


def look_again(look_up: LookUp) -> bool:
    """Look after one that has ended once more. False: it has not."""
    ended = LookUp.objects.filter(pk=look_up.pk, status=LookUpStatus.ENDED)
    again = ended.update(
        status=LookUpStatus.WAITING, message="", failures_in_a_row=0, next_look_at=timezone.now()
    )
    work_waits.send(LookUp)
    return bool(again)


def forget(look_up: LookUp) -> bool:
    """Look after it no more. False: its answers are a batch already."""
    gone, _ = LookUp.objects.filter(pk=look_up.pk, batch=None).delete()
    return bool(gone)


def forget_old() -> int:
    """Forget those that are FORGOTTEN_AFTER old, and have no batch. Returns how many."""
    old = LookUp.objects.filter(batch=None, created_at__lt=timezone.now() - FORGOTTEN_AFTER)
    return old.delete()[0]


# -- by a worker --------------------------------------------------------------------------------


def look(look_up: LookUp) -> bool:
    """Ask once how far a request is: claim it, call, keep what came. Returns whether it called."""
    if not _claim(look_up):
        return False
    try:
        client = shared_client(look_up.connection)
    except TeamProblem as problem:  # the token cannot be read
        _later(look_up, str(problem))
        return False
    with tempfile.SpooledTemporaryFile(REPLY_IN_MEMORY) as spool:
        reply = cast(BinaryIO, spool)
        try:
            status = client.poll(look_up.model, look_up.request_id, reply)
            if status is None:
                looked_up.keep(look_up, reply)
            else:
                _under_way(look_up, status)
        except looked_up.TakenOver:
            pass  # it is another worker's now, or nobody's
        except errors.Gone:
            _end(look_up, NOT_THERE)
        except (errors.Refused, errors.Oversized) as exc:
            _end(look_up, exc.user_message)
        except errors.CloudflareError as exc:
            _later(look_up, exc.user_message, exc.wait)
        except (MismatchError, BadInput) as problem:
            _end(look_up, str(problem))
        except OSError as problem:
            why = problem.strerror or problem
            _later(look_up, f"The answers are there, but this server could not store them: {why}.")
        except (InterfaceError, OperationalError):
            raise  # the database: the lease runs out, and it is looked up again
        except Exception:
            logger.exception("Look-up %s: its reply", look_up.pk)
            _later(look_up, OUR_MISTAKE)
    return True


def _claim(look_up: LookUp) -> bool:
    still = LookUp.objects.filter(
        is_free(), pk=look_up.pk, epoch=look_up.epoch, status__in=OPEN_LOOK_UPS
    )
    claimed = {"epoch": look_up.epoch + 1, "lease_until": timezone.now() + PART_LEASE}
    if not still.update(**claimed):
        return False
    look_up.epoch += 1
    claims.remember(look_up, epoch=look_up.epoch)
    return True


def _under_way(look_up: LookUp, status: str) -> None:
    connection = look_up.connection
    told = events.are_used(connection)
    first = pauses.usual_seconds(connection)
    pause = pauses.next_poll(look_up.looks + 1, first=first, told=told)
    _change(look_up, pause, status=LookUpStatus(status), message="", failures_in_a_row=0)


def _later(look_up: LookUp, message: str, wait: float | None = None) -> None:
    failures = look_up.failures_in_a_row
    pause = pauses.after_failure(failures, wait)
    _change(look_up, pause, message=message, failures_in_a_row=failures + 1)


def _end(look_up: LookUp, message: str) -> None:
    _change(look_up, timedelta(), status=LookUpStatus.ENDED, message=message)


def _change(look_up: LookUp, pause: timedelta, **changes: Any) -> None:
    now = timezone.now()
    mine = LookUp.objects.filter(pk=look_up.pk, epoch=look_up.epoch)
    mine.update(
        looks=F("looks") + 1,
        looked_at=now,
        next_look_at=now + pause,
        lease_until=None,
        **changes,
    )
