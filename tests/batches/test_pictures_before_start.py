"""Pictures before Start: tries, prices, surveys, and the models of an account that see."""

from typing import Any

import pytest

from batchui.batches import catalogues, decisions, estimates
from batchui.batches.answer_lengths import PICTURE_TOKENS, Source
from batchui.batches.estimates import Estimate
from batchui.batches.models import Batch, KnownModel
from batchui.batches.states import BatchStatus
from batchui.batches.surveys import survey_of
from batchui.batches.try_models import TriedStatus
from batchui.cloudflare import catalogue
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.picturing import BLIND, LOOK, SEES, add_archive, archive, naming
from tests.batches.trying import ask_all, begun, tried

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(receive: MakeBatch) -> Batch:
    batch = receive(naming("a.jpg", "z.jpg", "b.jpg", ""))
    add_archive(batch, archive("a.jpg", "b.jpg"))
    decisions.edit(batch, ask=Ask(**LOOK))
    batch.refresh_from_db()
    return batch


def estimated(batch: Batch, **ask: Any) -> Estimate:
    decisions.edit(batch, ask=Ask(**LOOK | ask))
    batch.refresh_from_db()
    found = estimates.estimate(batch, survey_of(batch))
    assert found is not None
    return found


# -- tries ----------------------------------------------------------------------------------------


def test_a_row_is_tried_with_its_picture(sandbox: RunningSandbox, draft: Batch) -> None:
    one = begun(draft, **LOOK)
    ask_all()
    first, missing, third = tried(one)
    for row in (first, third):
        assert row.status == TriedStatus.ANSWERED
        assert "A picture of" in row.answer
        assert row.prompt_tokens > 280
    assert (missing.status, missing.item) == (TriedStatus.NOT_ASKED, "")
    assert "“z.jpg”" in missing.error
    assert len(sandbox.calls("run")) == 2


def test_a_picture_waits_in_no_database(sandbox: RunningSandbox, draft: Batch) -> None:
    one = begun(draft, **LOOK)
    [first, *_] = tried(one)
    assert (first.picture, first.item_bytes) == ("a.jpg", len(first.item))
    assert "base64" not in first.item


def test_a_blind_model_is_tried_with_none(draft: Batch) -> None:
    with pytest.raises(BadInput, match="cannot see pictures"):
        begun(draft, **LOOK | {"model": BLIND})


# -- prices ---------------------------------------------------------------------------------------


def test_without_a_try_a_picture_counts_by_a_rule(sandbox: RunningSandbox, draft: Batch) -> None:
    plain = estimated(draft, picture_column="", template="What is it? {{id}}")
    found = estimated(draft)
    assert plain.per_picture is None
    assert found.per_picture == (*PICTURE_TOKENS, Source.RULE)
    assert found.read.low > found.rows * PICTURE_TOKENS[0]
    assert found.rows * PICTURE_TOKENS[1] < found.read.high < found.rows * PICTURE_TOKENS[1] + 200


def test_after_a_try_it_counts_as_it_was_counted(sandbox: RunningSandbox, draft: Batch) -> None:
    begun(draft, **LOOK)
    ask_all()
    found = estimated(draft)
    assert found.per_picture is not None
    assert found.per_picture.source == Source.TRIES
    assert found.per_picture.low < 280 < found.per_picture.high
    assert found.bytes_per_token.source == Source.RULE


def test_batches_with_pictures_say_nothing_of_texts(
    sandbox: RunningSandbox, draft: Batch, receive: MakeBatch
) -> None:
    decisions.start(draft, by=None, ask=Ask(**LOOK), prepare_now=True)
    draft.refresh_from_db()
    assert work(draft).answered == 2
    other = receive(rows(3))
    found = estimated(other, picture_column="", template="What is it? {{text}}")
    assert found.bytes_per_token.source == Source.RULE


def test_the_parts_of_a_draft_are_those_that_it_gets(
    sandbox: RunningSandbox, receive: MakeBatch
) -> None:
    batch = receive(naming(*["a.jpg"] * 1_000))
    add_archive(batch, archive("a.jpg"))
    told = estimated(batch).parts
    decisions.start(batch, by=None, ask=batch.ask, prepare_now=True)
    batch.refresh_from_db()
    assert batch.part_count == told == 21


# -- what stands in the way ------------------------------------------------------------------------


def test_rows_without_a_picture_are_counted_as_blank(draft: Batch) -> None:
    decisions.edit(draft, ask=Ask(**LOOK | {"ask_once": True}))
    draft.refresh_from_db()
    found = survey_of(draft)
    assert found is not None
    assert (found.blank, found.blank_rows) == (1, [5])


def test_a_batch_of_a_blind_model_is_not_started(draft: Batch) -> None:
    asked = Ask(**LOOK | {"model": BLIND})
    decisions.start(draft, by=None, ask=asked, prepare_now=True)
    draft.refresh_from_db()
    assert draft.status == BatchStatus.DRAFT
    assert "Llama 3.3 70B cannot see pictures." in draft.problem


# -- models ---------------------------------------------------------------------------------------


def test_a_model_sees_where_the_account_or_the_facts_say_so(draft: Batch) -> None:
    connection = ensure_connection(draft.team)
    for name, sees in (("@cf/x/sees", True), ("@cf/x/blind", False), (BLIND, True), (SEES, False)):
        KnownModel.objects.create(
            connection=connection, name=name, task="chat", takes_batches=True, sees=sees
        )
    known = catalogues.catalogue_of(connection)
    assert [known.find(name).sees for name in ("@cf/x/sees", "@cf/x/blind")] == [True, False]
    assert [known.find(name).sees for name in (BLIND, SEES)] == [True, True]
    assert not catalogue.find(BLIND).sees
