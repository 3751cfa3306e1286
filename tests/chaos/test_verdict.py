"""A campaign counts the answers that are not about the text of their own row."""

import pytest

from batchui.batches import copying
from batchui.batches.models import Part
from batchui.chaos.draws import Draws, File
from batchui.chaos.verdict import wrong_answers
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, work

pytestmark = pytest.mark.django_db


def drawn(*, ask_once: bool) -> File:
    """A file with that choice."""
    draws = Draws(3)
    return next(file for file in iter(draws.file, None) if file.ask.ask_once == ask_once)


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
