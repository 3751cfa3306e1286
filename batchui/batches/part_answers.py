"""Reads and writes the answers of a part.

An answers file has one line for each row, in row order: `null` for a row without an answer of its
own, else `[status, answer, error, usage, edit]`. All rows with `null` have the same status
(`Part.waiting_became`): they still wait, are unsent or missing, or failed with the whole part.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, TypeVar

import msgspec

from batchui.batches import files
from batchui.batches.changes import PartChanges
from batchui.batches.compressed import Compressed, DamagedFile, Lines, read_lines, read_many_lines
from batchui.batches.models import Part
from batchui.batches.states import RETRYABLE_ANSWERS, AnswerStatus
from batchui.cloudflare.answers import ALLOW_LONGER, AT_THE_LIMIT

Item = TypeVar("Item")
NOTHING = msgspec.Raw(b"null")
# In place of the error of an empty answer that counts as answered.
COUNTED = "The answer is empty, and counted as answered."
# The error of an answered row whose answer was cut off.
CUT_OFF = (
    f"The answer was cut off: it reached {AT_THE_LIMIT}. {ALLOW_LONGER}, then ask this row again."
)
# The counts of answers that people corrected or gave, and of answers that were cut off: of a part,
# of a batch, and as filters.
EDITED, CUT = "edited", "cut"


class Edit(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Who corrected the answer of a row by hand, and the model's own, which is kept.

    by: the id of the person; None: somebody at the terminal. at: seconds since 1970. status,
    answer, error: what the row would have without the edit.
    """

    by: int | None
    at: float
    status: str
    answer: msgspec.Raw = NOTHING
    error: str | None = None


class Answer(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What a row has. `answer` and `usage` are JSON as received, `null` for none.

    error: a sentence; also of an answered row, if its answer is that of another one, was cut off,
    or is empty and counts. edit: of an answer that a person corrected or gave (`corrections.py`);
    lines of older versions have none.
    """

    status: str
    answer: msgspec.Raw = NOTHING
    error: str | None = None
    usage: msgspec.Raw = NOTHING
    edit: Edit | None = None

    @property
    def own(self) -> "Answer":
        """The model's own."""
        edit = self.edit
        return Answer(edit.status, edit.answer, edit.error, self.usage) if edit else self

    @property
    def is_cut(self) -> bool:
        """Whether the row is answered, and its answer was cut off."""
        return is_cut(self.status, self.error)


def is_cut(status: str, error: str | None) -> bool:
    """Whether a row with this status and error is answered, and its answer was cut off."""
    return error is not None and status == AnswerStatus.ANSWERED and AT_THE_LIMIT in error


_encode = msgspec.json.Encoder().encode
_encode_lines = msgspec.json.Encoder().encode_lines
_decoder = msgspec.json.Decoder(Answer | None)
_decode, _decode_lines = _decoder.decode, _decoder.decode_lines
# So many answers are written at once, and of long ones fewer.
AT_ONCE, AT_ONCE_BYTES = 500, 256 * 1024
# In place of an answer of which nobody needs more than that it is one; and how its line begins.
ANSWERED = Answer(AnswerStatus.ANSWERED.value)
_ANSWERED_LINE = _encode([AnswerStatus.ANSWERED.value])[:-1] + b","


class NewAnswers(NamedTuple):
    """A version of a part's answers that is not stored yet."""

    name: str
    changes: PartChanges
    content: Compressed

    def store(self) -> PartChanges:
        """Store it. Returns the changes that make it the part's current version, in one UPDATE."""
        self.content.store(self.name)
        return self.changes


def read_answers(part: Part, *, skips_answered: bool = False) -> Iterator[Answer | None]:
    """The answer of each row of the part, in row order.

    None: the row has no answer of its own, or a retry will ask it again. With `skips_answered`,
    ANSWERED stands for each row that is answered, which is three times as quick.
    """
    answers: Iterator[Answer | None] = iter([None] * part.rows)
    if part.answers_file:
        if skips_answered:
            answers = map(_decode_unanswered, read_lines(part.answers_file, lines=part.rows))
        else:
            many = read_many_lines(part.answers_file, lines=part.rows)
            answers = chain.from_iterable(_decode_lines(b"".join(some)) for some in many)
    if part.empty_counts:
        answers = map(_with_empty_counted, answers)
    if part.asked_again:
        return _asked_again(AskedAgain.of(part), answers)
    if not part.forget_unanswered:
        return answers
    return (
        None if answer is not None and answer.status in RETRYABLE_ANSWERS else answer
        for answer in answers
    )


def own_lines(part: Part) -> Iterator[Answer | None]:
    """The answers of a part, in which also the rows that ended with it have a line of their own.

    None: the row waits.
    """
    became = Answer(part.waiting_became, error=part.waiting_error or None)
    without = became if part.waiting_became else None
    return (answer or without for answer in read_answers(part))


def _decode_unanswered(line: bytes) -> Answer | None:
    return ANSWERED if line.startswith(_ANSWERED_LINE) else _decode(line)


def _with_empty_counted(answer: Answer | None) -> Answer | None:
    if answer is None or answer.status != AnswerStatus.EMPTY:
        return answer
    return Answer(AnswerStatus.ANSWERED.value, answer.answer, COUNTED, answer.usage)


class AskedAgain(NamedTuple):
    """Which rows of a part, by position, somebody has chosen to ask again.

    A row that is answered keeps its answer until another one comes. is_alone: a row that would get
    the answer of another one is sent itself. others: what became of the rows without a line of
    their own that were not chosen. longest: the longest answer, in tokens, that these rows may
    have; None: what was asked at first.
    """

    rows: frozenset[int] = frozenset()
    is_alone: bool = False
    others: Answer | None = None
    longest: int | None = None

    @classmethod
    def of(cls, part: Part) -> "AskedAgain":
        """Those of a part; none if there are none."""
        kept = part.asked_again or {}
        others = kept.get("others")
        return cls(
            frozenset(kept.get("rows", ())),
            kept.get("alone", False),
            Answer(others[0], error=others[1] or None) if others else None,
            kept.get("longest"),
        )

    def kept(self) -> dict[str, Any] | None:
        """As it is stored; None for no rows."""
        if not self.rows:
            return None
        others = [self.others.status, self.others.error or ""] if self.others else None
        kept = {"rows": sorted(self.rows), "alone": self.is_alone, "others": others}
        return kept if self.longest is None else {**kept, "longest": self.longest}


def _asked_again(asked: AskedAgain, answers: Iterator[Answer | None]) -> Iterator[Answer | None]:
    for position, answer in enumerate(answers):
        if position not in asked.rows:
            yield answer or asked.others
        else:
            yield answer if _is_answered(answer) else None


def new_answers(part: Part, answers: Iterable[Answer | None]) -> NewAnswers:
    """A new version of a part's answers, to be stored."""
    counts: Counter[str] = Counter()
    made = Lines()
    for some in _some_at_once(answers):
        there = [answer for answer in some if answer is not None]
        counts.update([answer.status for answer in there])
        counts[EDITED] += sum([answer.edit is not None for answer in there])
        counts[CUT] += sum([answer.is_cut for answer in there if answer.error is not None])
        made.add(_encode_lines(some))
    return _version(part, made.whole(), counts)


def all_answered(part: Part, answers: Sequence[Answer]) -> NewAnswers:
    """A new version in which every row of the part is answered, each by the model alone."""
    made = Lines()
    for at in range(0, len(answers), AT_ONCE):
        made.add(_encode_lines(answers[at : at + AT_ONCE]))
    return _version(part, made.whole(), {AnswerStatus.ANSWERED.value: part.rows})


def _version(part: Part, content: Compressed, counts: Mapping[str, int]) -> NewAnswers:
    """The next version of a part's answers. counts: its rows by status, EDITED and CUT."""
    version = part.answers_version + 1
    name = files.answers_path(part, version=version)
    changes: PartChanges = {
        "answers_file": name,
        "answers_version": version,
        "forget_unanswered": False,
        "empty_counts": False,
        "asked_again": None,
        "answered": counts.get("answered", 0),
        "empty": counts.get("empty", 0),
        "unfit": counts.get("unfit", 0),
        "failed": counts.get("failed", 0),
        "missing": counts.get("missing", 0),
        "unsent": counts.get("unsent", 0),
        "invalid": counts.get("invalid", 0),
        "skipped": counts.get("skipped", 0),
        "edited": counts.get(EDITED, 0),
        "cut": counts.get(CUT, 0),
    }
    return NewAnswers(name, changes, content)


def _some_at_once(answers: Iterable[Answer | None]) -> Iterator[list[Answer | None]]:
    """The answers in lists: AT_ONCE in each, or as many as have AT_ONCE_BYTES."""
    some: list[Answer | None] = []
    size = 0
    for answer in answers:
        some.append(answer)
        if answer is not None:
            size += len(answer.answer)
        if len(some) == AT_ONCE or size > AT_ONCE_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def merge(
    part: Part, arrived: dict[int, Answer], *, missing: Callable[[int], Answer | None]
) -> NewAnswers:
    """Add the answers that `arrived` (by position in the part) to the ones already stored.

    A new answer replaces an old one, but a row that is answered stays answered: two requests may
    have brought the same row. What a person corrected stays, too, unless the row was asked again
    on purpose. `missing(position)` is the answer of a row that has neither. Rows that are asked
    again go on being asked until something has come for them.
    """
    asked = AskedAgain.of(part)

    def merged() -> Iterator[Answer | None]:
        if not part.answers_file and not asked.rows:
            for position in range(part.rows):
                yield arrived.get(position) or missing(position)
            return
        for position, old in enumerate(read_answers(part)):
            answer = arrived.get(position)
            if answer is not None and old is not None and old.edit and position not in asked.rows:
                yield _kept(old, answer)
            elif answer is not None and (_is_answered(answer) or not _is_answered(old)):
                yield answer
            elif old is not None:
                yield old
            else:
                yield missing(position)

    new = new_answers(part, merged())
    if asked.rows:
        still = (at for at in asked.rows if at not in arrived and missing(at) is None)
        new.changes["asked_again"] = asked._replace(rows=frozenset(still), others=None).kept()
    return new


def _kept(edited: Answer, arrived: Answer) -> Answer:
    """The row as a person corrected it, with what has arrived as the model's own."""
    if edited.edit is None or (_is_answered(edited.own) and not _is_answered(arrived)):
        return edited
    edit = Edit(edited.edit.by, edited.edit.at, arrived.status, arrived.answer, arrived.error)
    return Answer(edited.status, edited.answer, edited.error, arrived.usage, edit)


def _is_answered(answer: Answer | None) -> bool:
    return answer is not None and answer.status == AnswerStatus.ANSWERED


def open_positions(part: Part) -> list[int]:
    """The positions (from 0) of the rows that wait for an answer, or are asked again."""
    asked = AskedAgain.of(part).rows
    answers = enumerate(read_answers(part))
    return [position for position, answer in answers if answer is None or position in asked]


def rows_sent_alone(part: Part) -> frozenset[int]:
    """The positions of rows that are sent themselves, although another row asks the same."""
    asked = AskedAgain.of(part)
    return asked.rows if asked.is_alone else frozenset()


class Lost(NamedTuple):
    """In place of a line that cannot be read, because its file is damaged or not there."""

    why: str


def without_lost(part: Part) -> NewAnswers | None:
    """A version of the answers with those that can be read; None if all can be.

    The other rows wait again.
    """
    try:
        for _ in read_answers(part):
            pass
    except DamagedFile:
        kept = or_lost(read_answers(part), part.rows)
        return new_answers(part, (None if isinstance(one, Lost) else one for one in kept))
    return None


def or_lost(found: Iterator[Item], number: int) -> Iterator[Item | Lost]:
    """So many items; a `Lost` for each one from which on the file is damaged."""
    read = 0
    try:
        for item in islice(found, number):
            read += 1
            yield item
    except DamagedFile as problem:
        yield from repeat(Lost(str(problem)), number - read)
