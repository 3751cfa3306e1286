"""A team with much in it, for `manage.py bench --pages`: large batches and many small ones.

The files are uploaded, started and cut by the product's own functions. The answers are written as
the product stores them, without an API: a row in 100 has none, for a handful of reasons. Needs
Django; `with_django.py` starts it.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, cycle, islice
from pathlib import Path
from uuid import uuid4

import msgspec
from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from batchui.batches import comparing, decisions, intake
from batchui.batches.models import Attempt, Batch, Event, Part
from batchui.batches.part_answers import Answer, new_answers
from batchui.batches.phrases import rows_phrase
from batchui.batches.preparing import REPLY_BYTES
from batchui.batches.settling import lock, settle
from batchui.batches.sheet import digests
from batchui.batches.sheet_models import Counting
from batchui.batches.states import AnswerStatus, AttemptStatus, BatchStatus, PartStatus
from batchui.bench.question import MODEL, TEMPLATE
from batchui.bench.texts import ANSWER_SEED, sentences, write_reviews
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.ask import Ask
from batchui.teams import invitations
from batchui.teams.models import Membership, Role, Team, User

COLUMNS = (
    AnswerColumn("tone", "one_of", ("good", "mixed", "bad")),
    AnswerColumn("score", "number"),
    AnswerColumn("summary"),
)
TONES = ("good", "good", "mixed", "good", "bad")
# Of 100 rows, the last one has no answer; these are the reasons, in turn.
PROBLEMS = (
    Answer(AnswerStatus.EMPTY.value, msgspec.Raw(b'""'), "The answer is empty."),
    Answer(
        AnswerStatus.FAILED.value,
        error="5021: The estimated number of input and maximum output tokens (9000) exceeded this "
        "model context window limit (8192).",
    ),
    Answer(AnswerStatus.FAILED.value, error="3030: model error"),
    Answer(AnswerStatus.UNFIT.value, msgspec.Raw(b'"No idea"'), "The answer is no JSON object."),
    Answer(AnswerStatus.MISSING.value, error="Cloudflare's reply did not have this row."),
)
EACH = 100
# So many different summaries, of one sentence each, as the question asks for.
SENTENCES = 5_000
PEOPLE = ("Ben", "Cleo", "Dan", "Eva")
# Others, who are in the team and have made nothing.
MORE_PEOPLE = 35
PASSWORD = "kettle-orchard-9"  # noqa: S105
# The statuses of the small batches, in turn.
STATUSES = (
    *(BatchStatus.FINISHED,) * 5,
    BatchStatus.PROBLEMS,
    BatchStatus.FINISHED,
    BatchStatus.STOPPED,
    BatchStatus.DRAFT,
    BatchStatus.FAILED,
)
# Few enough for one part.
SMALL_ROWS = 24
AT_ONCE = 500


@dataclass(frozen=True)
class Sizes:
    """How much there is. parts: about so many; a part has at least 25 rows."""

    rows: int
    parts: int
    batches: int


@dataclass(frozen=True)
class FullTeam:
    """What was made. ended, running: started batches. draft: one that is not."""

    person: User
    ended: Batch
    running: Batch
    draft: Batch


def fill(sizes: Sizes) -> FullTeam:
    """Make a team of 40 people, three batches with `rows` rows, and many small ones."""
    person = founder()
    team = person.membership.team
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        source = Path(folder, "reviews.csv")
        write_reviews(source, sizes.rows)
        ended, running = (uploaded(source, team, person) for _ in range(2))
        _spoil(source, sizes.rows)
        draft = uploaded(source, team, person)
        small = Path(folder, "small.csv")
        write_reviews(small, SMALL_ROWS)
        pattern = uploaded(small, team, person)
    for batch in (ended, running):
        start(batch, person, parts=sizes.parts)
    start(pattern, person, parts=1)
    decisions.edit(draft, ask=_ask())
    answers = Texts()
    answer_parts(ended, answers)
    answer_parts(running, answers, until=0.5)
    answer_parts(pattern, answers)
    count_answers(ended)
    _copies(pattern, team, sizes.batches)
    add_people(team)
    _compare(ended, running)
    for batch in (ended, running, draft):
        batch.refresh_from_db()
    return FullTeam(person, ended, running, draft)


def count_answers(batch: Batch) -> None:
    """What a worker does some seconds after the first look at a batch: sum up its answers."""
    wanted, _ = Counting.objects.get_or_create(batch=batch, defaults={"wanted_at": timezone.now()})
    digests.make_all(wanted, beat=lambda: None)


def _compare(one: Batch, other: Batch) -> None:
    """What a worker does after the first look at two runs of one file."""
    wanted = comparing.compare(one, other)
    comparing.carry_out(wanted, beat=lambda: None)


def founder() -> User:
    """The administrator of a new team, which has four more people."""
    token = invitations.first_administrator_token() or ""
    first = invitations.accept(
        token, name="Ana", email="ana@example.com", password=PASSWORD, team_name="Care"
    )
    for name in PEOPLE:
        _, token = invitations.create(first.membership.team, by=first, role=Role.MEMBER)
        email = f"{name.lower()}@example.com"
        invitations.accept(token, name=name, email=email, password=PASSWORD)
    return first


def add_people(team: Team) -> None:
    """People who have made nothing."""
    for number in range(1, MORE_PEOPLE + 1):
        email = f"person-{number}@example.com"
        user = User.objects.create_user(email=email, name=f"Person {number}", password=None)
        Membership.objects.create(user=user, team=team)


def _ask(*, rows_a_part: int = 5_000) -> Ask:
    """The question. The longest answer decides how many rows a part may have."""
    longest = REPLY_BYTES // (4 * rows_a_part)
    return Ask(
        model=MODEL,
        template=TEMPLATE,
        max_tokens=max(1, longest),
        answer_columns=COLUMNS,
        skip_invalid=True,
    )


def uploaded(source: Path, team: Team, person: User) -> Batch:
    """A draft with this file, which is checked."""
    with source.open("rb") as upload:
        return intake.receive(File(upload, source.name), team=team, by=person, check_now=True)


def _spoil(source: Path, rows: int) -> None:
    """Add rows with too many cells to a file: some to read on a page, and the next pages."""
    with source.open("a", encoding="utf-8") as file:
        file.writelines("0,Porto,one,cell,too many\n" for _ in range(max(60, rows // EACH)))


def start(batch: Batch, person: User, *, parts: int) -> None:
    """Start a draft, and cut it into about so many parts."""
    ask = _ask(rows_a_part=-(-batch.rows // parts))
    decisions.start(batch, by=person, ask=ask, prepare_now=True)
    batch.refresh_from_db()


# -- answers ------------------------------------------------------------------------------------


class Texts:
    """Answers with three fields, one after the other."""

    def __init__(self) -> None:
        texts = islice(sentences(ANSWER_SEED), SENTENCES)
        self._texts = cycle([msgspec.json.encode(text).decode() for text in texts])
        self._problems = cycle(PROBLEMS)
        self._tones = cycle(TONES)

    def of(self, part: Part) -> Iterator[Answer]:
        """An answer for each row of a part."""
        answered = AnswerStatus.ANSWERED.value
        for number in range(part.first_row, part.first_row + part.rows):
            if number % EACH == EACH - 1:
                yield next(self._problems)
                continue
            tone, score, text = next(self._tones), number % 101, next(self._texts)
            made = f'{{"tone":"{tone}","score":{score},"summary":{text}}}'
            yield Answer(answered, msgspec.Raw(made.encode()))


def answer_parts(batch: Batch, answers: Texts, *, until: float = 1) -> None:
    """Give the first parts of a batch their answers; `until`: which share of them.

    A few of the others are at Cloudflare then.
    """
    parts = list(batch.parts.order_by("number"))
    last = int(len(parts) * until)
    for part in parts[:last]:
        changes = new_answers(part, answers.of(part)).store()
        for name, value in changes.items():
            setattr(part, name, value)
        part.status = PartStatus.DONE
        part.prompt_tokens, part.completion_tokens = 80 * part.rows, 60 * part.rows
    for part, status in zip(
        parts[last:], islice(cycle((PartStatus.RUNNING, PartStatus.QUEUED)), 20), strict=False
    ):
        part.status = status
    fields = [field.name for field in Part._meta.concrete_fields if not field.primary_key]
    with transaction.atomic():
        Part.objects.bulk_update(parts, fields, batch_size=20)
        _tell(batch, [part for part in parts if part.status != PartStatus.READY])
        lock(batch.pk)
        settle(batch)
    batch.refresh_from_db()


def _tell(batch: Batch, parts: list[Part]) -> None:
    """The attempts of these parts, and the lines of the timeline about them."""
    now = timezone.now()
    attempts = [
        Attempt(
            part=part,
            number=1,
            items=part.rows,
            payload_size=400 * part.rows,
            status=AttemptStatus.ANSWERED
            if part.status == PartStatus.DONE
            else AttemptStatus.ACCEPTED,
            request_id=str(uuid4()),
            accepted_at=now,
            finished_at=now if part.status == PartStatus.DONE else None,
        )
        for part in parts
    ]
    Attempt.objects.bulk_create(attempts, batch_size=AT_ONCE)
    Event.objects.bulk_create(
        chain.from_iterable(_lines(batch, part, now) for part in parts), batch_size=AT_ONCE
    )


def _lines(batch: Batch, part: Part, now: datetime) -> Iterator[Event]:
    told = [("queued", f"Accepted by Cloudflare: {rows_phrase(part.rows)}.")]
    if part.status == PartStatus.DONE:
        told.append(("done", f"Done: {part.answered:,} of {rows_phrase(part.rows)} answered."))
    for kind, text in told:
        yield Event(batch=batch, at=now, part_number=part.number, kind=kind, text=text)


# -- many small batches -------------------------------------------------------------------------


def _copies(pattern: Batch, team: Team, number: int) -> None:
    """So many batches like this one, of all people, from the last two years."""
    part = pattern.parts.get()
    people = list(User.objects.filter(membership__team=team).order_by("pk"))
    for first in range(0, number, AT_ONCE):
        wanted = range(first, min(number, first + AT_ONCE))
        batches = [_copy(pattern, people, at) for at in wanted]
        Batch.objects.bulk_create(batches)
        Part.objects.bulk_create(
            _part_of(batch, part) for batch in batches if batch.status != BatchStatus.DRAFT
        )


def _copy(pattern: Batch, people: list[User], at: int) -> Batch:
    values = {
        field.attname: getattr(pattern, field.attname) for field in Batch._meta.concrete_fields
    }
    person = people[at % len(people)].pk
    when = timezone.now() - timedelta(hours=1 + 1.75 * at)
    status = STATUSES[at % len(STATUSES)]
    values |= {
        "id": uuid4(),
        "name": f"Reviews {at + 1}",
        "created_by_id": person,
        "created_at": when,
        "status": status,
    }
    if status == BatchStatus.DRAFT:
        values |= {"started_at": None, "started_by_id": None, "finished_at": None, "part_count": 0}
    else:
        minutes = timedelta(minutes=2 + at % 50)
        values |= {"started_at": when, "started_by_id": person, "finished_at": when + minutes}
    return Batch(**values)


def _part_of(batch: Batch, pattern: Part) -> Part:
    values = {
        field.attname: getattr(pattern, field.attname)
        for field in Part._meta.concrete_fields
        if not field.primary_key
    }
    return Part(**values | {"batch_id": batch.pk})
