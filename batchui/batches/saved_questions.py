"""What people do with questions that are kept: use one, take that back, save, rename, delete.

A draft remembers what it asked before a question was filled in, so that nobody loses words.
"""

from datetime import timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from batchui.batches.asked_models import asked_fields
from batchui.batches.models import Batch
from batchui.batches.saved_models import LONGEST_QUESTION_NAME, SavedQuestion
from batchui.batches.states import EDITABLE, BatchStatus
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.teams.models import Team, User

# Of a team. More than that nobody looks through.
MOST_SAVED = 500
# How long one that was deleted can be brought back, and how many of them are offered.
KEPT = timedelta(days=30)
MOST_BROUGHT_BACK = 10
NO_NAME = "Give the question a name."
NO_QUESTION = "Write what to ask first. Then save it under a name."
NAME_TAKEN = "There is a saved question with this name. Choose another name."
TOO_MANY = f"A team can save {MOST_SAVED} questions. Delete one that nobody uses."
UNSTARTED = (BatchStatus.CHECKING, BatchStatus.DRAFT, BatchStatus.PREPARING)


def fill_in(batch: Batch, ask: Ask, *, saved: SavedQuestion | None = None) -> bool:
    """Let a draft ask this instead of what it asks now. False: it was started meanwhile."""
    return _ask(batch, ask, question_before=asked_fields(batch.ask), saved_question=saved)


def take_back(batch: Batch) -> bool:
    """Let a draft ask what it asked before a question was filled in. False: there is nothing."""
    if not batch.question_before:
        return False
    return _ask(batch, Batch(**batch.question_before).ask, question_before={}, saved_question=None)


def _ask(batch: Batch, ask: Ask, **changes: object) -> bool:
    drafts = Batch.objects.filter(pk=batch.pk, deleted_at=None, status__in=EDITABLE)
    done = bool(drafts.update(**asked_fields(ask), **changes))
    batch.refresh_from_db()
    return done


def as_saved(saved: SavedQuestion, before: Ask) -> Ask:
    """A saved question for a draft; what depends on the file stays as it was."""
    fields = asked_fields(saved.ask)
    kept = (
        "reference_column",
        "as_items",
        "move_references",
        "skip_invalid",
        "ask_once",
        "resend_once",
    )
    return Batch(**fields | {name: getattr(before, name) for name in kept}).ask


def of_team(team: Team) -> QuerySet[SavedQuestion]:
    """The saved questions of a team by name, each with `used`, the number of started batches."""
    started = Q(batches__deleted_at=None) & ~Q(batches__status__in=UNSTARTED)
    saved = SavedQuestion.objects.filter(team=team, deleted_at=None)
    return saved.select_related("created_by").annotate(used=Count("batches", filter=started))


def deleted_of(team: Team) -> QuerySet[SavedQuestion]:
    """The questions of a team that were deleted last, and can be brought back."""
    since = timezone.now() - KEPT
    gone = SavedQuestion.objects.filter(team=team, deleted_at__gte=since)
    return gone.order_by("-deleted_at")[:MOST_BROUGHT_BACK]


def save(batch: Batch, name: str, *, by: User | None) -> SavedQuestion:
    """Save what a draft asks under a name. Raises BadInput."""
    if not batch.ask.template.strip():
        raise BadInput(NO_QUESTION)
    if SavedQuestion.objects.filter(team=batch.team, deleted_at=None).count() >= MOST_SAVED:
        raise BadInput(TOO_MANY)
    saved = SavedQuestion.objects.create(
        team=batch.team,
        name=_free(batch.team, name),
        created_by=by,
        **asked_fields(batch.ask),
    )
    Batch.objects.filter(pk=batch.pk, status__in=EDITABLE).update(saved_question=saved)
    return saved


def rename(saved: SavedQuestion, name: str) -> None:
    """Give a saved question another name. Raises BadInput."""
    saved.name = _free(saved.team, name, besides=saved)
    saved.save(update_fields=["name"])


def _free(team: Team, name: str, *, besides: SavedQuestion | None = None) -> str:
    """The name, if no other question of the team has it. Raises BadInput."""
    name = " ".join(name.replace("\0", "").split())[:LONGEST_QUESTION_NAME]
    if not name:
        raise BadInput(NO_NAME)
    others = SavedQuestion.objects.filter(team=team, deleted_at=None, name__iexact=name)
    if besides is not None:
        others = others.exclude(pk=besides.pk)
    if others.exists():
        raise BadInput(NAME_TAKEN)
    return name


def delete(saved: SavedQuestion) -> None:
    """Delete a saved question. Batches that used it stay as they are."""
    SavedQuestion.objects.filter(pk=saved.pk).update(deleted_at=timezone.now())


def restore(saved: SavedQuestion) -> None:
    """Take back that a question was deleted. Raises BadInput if its name has been given again."""
    _free(saved.team, saved.name, besides=saved)
    SavedQuestion.objects.filter(pk=saved.pk).update(deleted_at=None)
