"""What a campaign counts at its end: wrong answers, and what goes on for ever."""

import pytest

from batchui.batches import copying
from batchui.batches.models import WAITS_FOR_COPIES, Part
from batchui.batches.states import PartStatus, Question
from batchui.chaos.draws import Draws, File
from batchui.chaos.verdict import is_quiet, stuck, wrong_answers
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, work

pytestmark = pytest.mark.django_db


def drawn(*, ask_once: bool) -> File:
    """A file with that choice."""
    draws = Draws(3)
    files = (file for file in iter(draws.file, None) if not file.ask.shows_pictures)
    return next(file for file in files if file.ask.ask_once == ask_once)


def test_where_the_same_is_asked_once_the_answer_is_about_the_rows_own_text(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    file = drawn(ask_once=True)
    batch = work(start(file.content, file.name, template="Say {{text}}", ask_once=True))
    assert (batch.answered, wrong_answers(batch)) == (file.rows, 0)
    copies = sum(len(copying.copies_of(part)) for part in batch.parts.all())
    assert copies > 0


def test_the_answer_to_another_row_is_a_wrong_answer(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    file = drawn(ask_once=False)
    batch = work(start(file.content, file.name, template="Say {{text}}"))
    assert (batch.answered, wrong_answers(batch)) == (file.rows, 0)
    Part.objects.filter(number=1).update(first_row=3)
    in_part = batch.parts.get(number=1).rows
    assert wrong_answers(batch) == in_part


def test_who_waits_for_the_answers_of_a_part_waits_for_the_person_that_it_waits_for(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    lines = ["text", *["the same"] * 60]
    batch = start("\n".join(lines).encode(), template="Say {{text}}", ask_once=True)
    first, *others = batch.parts.order_by("number")
    waiting = batch.parts.exclude(pk=first.pk)
    waiting.update(status=PartStatus.HELD, message=WAITS_FOR_COPIES)
    assert len(stuck()) == 1 + len(others)
    batch.parts.filter(pk=first.pk).update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    assert others
    assert stuck() == []
    assert is_quiet()
    waiting.update(message="Cloudflare asks to wait.")
    assert len(stuck()) == len(others)
    assert not is_quiet()
