"""Answers are joined to the rows that were sent, and to no others."""

import io
import json
from typing import Any

import pytest

from batchui.batches import part_answers
from batchui.batches.models import Attempt, Part
from batchui.batches.replies import NO_ANSWER, MismatchError, absorb, match
from batchui.batches.states import PartStatus
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.replies import ItemReply
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MakeBatch, on_record, poll_all, send_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def part(team: Team) -> Part:
    """The second part of a batch: rows 11 to 20."""
    return on_record(team, parts=2).parts.get(number=2)


def attempt_at(part: Part, positions: list[int] | None = None) -> Attempt:
    """An attempt that Cloudflare took, of these rows of the part (None: of all)."""
    items = part.rows if positions is None else len(positions)
    return Attempt(
        part=part,
        number=1,
        positions=positions,
        items=items,
        payload_size=1,
        request_id="known",
    )


def reply(*items: tuple[int | None, str | None]) -> list[ItemReply]:
    """The items of a reply with an answer for each (index, reference)."""
    return [
        ItemReply(index, "answered", b'"yes"', reference=reference) for index, reference in items
    ]


@pytest.mark.parametrize("index", [None, -1, 10, 11])
def test_an_answer_to_an_item_that_was_not_sent_is_refused(part: Part, index: int | None) -> None:
    number = "without a number" if index is None else f"with the number {index}"
    with pytest.raises(MismatchError, match=f"an answer {number}, which belongs to no row"):
        match(part, attempt_at(part), reply((index, None)))


def test_an_index_counts_what_was_sent(part: Part) -> None:
    attempt = attempt_at(part, [2, 5, 9])
    assert list(match(part, attempt, reply((0, None), (2, "20")))) == [2, 9]
    with pytest.raises(MismatchError, match="with the number 3, which belongs to no row"):
        match(part, attempt, reply((3, None)))


def test_a_row_is_known_by_its_number_in_the_file(part: Part) -> None:
    assert list(match(part, attempt_at(part), reply((0, "11"), (9, "20")))) == [0, 9]
    for index, row in ((0, 11), (4, 15)):
        with pytest.raises(MismatchError, match=f"gives row {row} the reference “1”"):
            match(part, attempt_at(part), reply((index, "1")))


def test_an_answer_without_a_reference_is_taken_by_its_index(part: Part) -> None:
    assert list(match(part, attempt_at(part), reply((4, None)))) == [4]


def test_an_answer_without_a_number_belongs_to_the_only_row_with_its_reference(part: Part) -> None:
    assert list(match(part, attempt_at(part), reply((None, "20"), (None, "11")))) == [9, 0]
    assert list(match(part, attempt_at(part, [2, 5]), reply((None, "16"), (0, None)))) == [5, 2]
    for unknown in ("21", "13"):  # never sent, or not in this request
        with pytest.raises(MismatchError, match="without a number"):
            match(part, attempt_at(part, [3, 5]), reply((None, unknown)))


def test_of_two_rows_with_one_reference_neither_gets_an_answer_without_a_number(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    part = start(b"id,text\nA,one\nA,two\nB,three\n", reference_column="id").parts.get()
    assert list(match(part, attempt_at(part), reply((None, "B")))) == [2]
    with pytest.raises(MismatchError, match="without a number"):
        match(part, attempt_at(part), reply((None, "A")))


def test_the_only_answer_to_a_request_with_one_row_is_its_own(part: Part) -> None:
    assert list(match(part, attempt_at(part, [4]), reply((None, None)))) == [4]
    with pytest.raises(MismatchError, match="without a number"):
        match(part, attempt_at(part, [4]), reply((None, None), (None, None)))
    with pytest.raises(MismatchError, match="without a number"):
        match(part, attempt_at(part, [4, 5]), reply((None, None)))


def test_a_reference_from_a_column_is_compared_as_well(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(b"id,text\nA-7,one\nB-8,two\n", reference_column="id")
    part = batch.parts.get()
    assert list(match(part, attempt_at(part), reply((0, "A-7"), (1, "B-8")))) == [0, 1]
    for wrong in ("B-8", "2"):
        with pytest.raises(MismatchError, match="gives row 2 the reference"):
            match(part, attempt_at(part), reply((0, wrong)))


def test_a_row_whose_reference_is_blank_is_known_by_its_number(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    part = start(b"id,text\nA-7,one\n,two\n", reference_column="id").parts.get()
    assert list(match(part, attempt_at(part), reply((0, "A-7"), (1, "3")))) == [0, 1]


def test_a_long_reference_is_quoted_in_short(part: Part) -> None:
    with pytest.raises(MismatchError) as caught:
        match(part, attempt_at(part), reply((0, "x" * 500)))
    assert str(caught.value).count("x") < 100


def test_a_reference_of_a_ready_made_item_is_compared_as_well(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    items = [
        {"messages": [{"role": "user", "content": "hello"}], "external_reference": name}
        for name in ("first", "second")
    ]
    content = "\n".join(map(json.dumps, items)).encode()
    part = start(content, "items.jsonl", as_items=True, template="").parts.get()
    assert list(match(part, attempt_at(part), reply((1, "second")))) == [1]
    with pytest.raises(MismatchError):
        match(part, attempt_at(part), reply((1, "first")))


def test_two_different_answers_for_a_row_are_refused_and_two_that_agree_count_once(
    part: Part,
) -> None:
    attempt = attempt_at(part)
    yes, no = (ItemReply(3, "answered", answer) for answer in (b'"yes"', b'"no"'))
    assert list(match(part, attempt, [yes, yes])) == [3]
    with pytest.raises(MismatchError, match="two different answers for row 14"):
        match(part, attempt, [yes, no])


def test_what_is_said_of_an_item_is_kept(part: Part) -> None:
    failed = ItemReply(0, "failed", None, error="Too long.", usage=b'{"total_tokens":3}')
    (answer,) = match(part, attempt_at(part), [failed]).values()
    assert (answer.status, answer.error) == ("failed", "Too long.")
    assert bytes(answer.answer) == b"null"
    assert bytes(answer.usage) == b'{"total_tokens":3}'


def as_it_came(**result: Any) -> io.BytesIO:
    """A reply as bytes."""
    return io.BytesIO(json.dumps({"result": result, "success": True}).encode())


def test_a_reply_about_another_request_is_not_taken(part: Part) -> None:
    answered = [{"id": 0, "result": {"response": "yes"}, "success": True}]
    another = as_it_came(responses=answered, request_id="another")
    with pytest.raises(BadReply):
        absorb(part, attempt_at(part), another, is_last=True)
    ours = as_it_came(responses=answered, request_id="known")
    changes = absorb(part, attempt_at(part), ours, is_last=True).changes
    assert changes["answered"] == 1


def test_rows_that_were_not_sent_go_on_waiting(part: Part) -> None:
    answered = [{"id": 0, "result": {"response": "yes"}, "success": True}]
    spool = as_it_came(responses=answered)
    spool.read()  # as it is after it was written
    changes = absorb(part, attempt_at(part, [3, 4]), spool, is_last=True).changes
    assert (changes["answered"], changes["missing"]) == (1, 1)
    part.answers_file = changes["answers_file"]
    answers = [
        answer and (answer.status, answer.error) for answer in part_answers.read_answers(part)
    ]
    assert answers[3:5] == [("answered", None), ("missing", NO_ANSWER)]
    assert answers[:3] + answers[5:] == [None] * 8


def test_a_reply_that_was_taken_in_ends_what_went_wrong_before(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "status": 503, "call": "poll"})
    batch = start(b"id,text\n1,one\n")
    send_all()
    poll_all()
    part = batch.parts.get()
    assert part.failures_in_a_row == 1
    failed_at = part.last_polled_at
    assert failed_at is not None
    poll_all()
    part.refresh_from_db()
    batch.refresh_from_db()
    assert part.status == PartStatus.DONE
    assert (part.message, part.failures_in_a_row) == ("", 0)
    assert part.last_polled_at == batch.last_polled_at
    assert part.last_polled_at > failed_at
