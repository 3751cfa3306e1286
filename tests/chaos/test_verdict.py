"""A campaign counts the answers that are not about the text of their own row."""

import pytest

from batchui.batches.models import Part
from batchui.chaos.draws import Draws
from batchui.chaos.verdict import wrong_answers
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, work

pytestmark = pytest.mark.django_db


def test_the_answer_to_another_row_is_a_wrong_answer(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    file = Draws(3).file()
    batch = work(start(file.content, file.name, template="Say {{text}}"))
    assert (batch.answered, wrong_answers(batch)) == (file.rows, 0)
    Part.objects.filter(number=1).update(first_row=3)
    in_part = batch.parts.get(number=1).rows
    assert wrong_answers(batch) == in_part
