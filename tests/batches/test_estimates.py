"""What a draft will cost, before it is started."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import decisions, draft_rows, estimates
from batchui.batches.answer_lengths import MARGIN, Source
from batchui.batches.estimates import AT_EACH, PLACES, Estimate
from batchui.batches.models import Batch, asked_fields
from batchui.batches.money import price_of
from batchui.batches.states import AttemptStatus, BatchStatus
from batchui.batches.surveys import survey_of
from batchui.batches.try_models import TriedRow, TriedStatus, Try
from batchui.cloudflare import catalogue
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.prompts.ask import Ask
from batchui.teams.connections import ensure_connection
from tests.batches.conftest import (
    MODEL,
    TEMPLATE,
    MakeBatch,
    another_account,
    attempt_on_record,
    on_record,
    rows,
    work,
)
from tests.batches.trying import ask_all, begun

pytestmark = pytest.mark.django_db

PRICED = catalogue.find(MODEL)


def asked(batch: Batch, **ask: Any) -> Batch:
    decisions.edit(batch, ask=Ask(**{"model": MODEL, "template": TEMPLATE} | ask))
    batch.refresh_from_db()
    return batch


def estimated(batch: Batch, **ask: Any) -> Estimate:
    found = estimates.estimate(asked(batch, **ask), survey_of(batch))
    assert found is not None
    return found


@pytest.fixture
def account(settings: Any) -> None:
    another_account(settings)


# -- rows and parts -----------------------------------------------------------------------------


def test_a_draft_without_a_question_has_no_price(receive: MakeBatch) -> None:
    assert estimates.estimate(receive(rows(3))) is None
    assert estimates.estimate(asked(receive(rows(3)), template="{{nothing}}")) is None


def test_rows_that_are_not_asked_cost_nothing(receive: MakeBatch) -> None:
    content = b"id,text\n1,same\n2,\n3,same\n4,other\n"
    assert estimated(receive(content), template="{{text}}").rows == 3
    assert estimated(receive(content), template="{{text}}", ask_once=True).rows == 2


@pytest.mark.parametrize(("count", "parts"), [(1, 1), (25, 1), (26, 2), (500, 20), (501, 20)])
def test_it_tells_the_number_of_parts(receive: MakeBatch, count: int, parts: int) -> None:
    found = estimated(receive(rows(count)))
    assert (found.rows, found.parts) == (count, parts)


def test_a_small_file_is_looked_at_whole(receive: MakeBatch) -> None:
    assert estimated(receive(rows(100))).sampled == 100


def test_of_a_large_file_the_rows_of_all_its_places_count(receive: MakeBatch) -> None:
    short, long = b"1,a\n" * 500, b"1," + b"a" * 400 + b"\n"
    found = estimated(receive(b"id,text\n" + short + long * 500), template="{{text}}")
    assert found.sampled == PLACES * AT_EACH
    # Half of them have 400 bytes more; the true mean is within the range, and near its middle.
    assert found.read.low * found.bytes_per_token.high < 1_000 * 300
    middle = (found.read.low * found.bytes_per_token.high) / 2
    middle += (found.read.high * found.bytes_per_token.low) / 2
    assert middle == pytest.approx(1_000 * 300, rel=0.2)


def test_of_long_rows_few_are_looked_at(receive: MakeBatch) -> None:
    found = estimated(receive(b"id,text\n" + b"1,%b\n" % (b"a" * 20_000) * 50), template="{{text}}")
    assert found.sampled == PLACES
    size = found.read.low * found.bytes_per_token.high
    assert size == pytest.approx(50 * 20_000, rel=0.01)


def test_a_million_rows_are_not_read_for_it(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = asked(receive(rows(2_000)))
    opened: list[int] = []
    real = draft_rows.page

    def page(batch: Batch, *, offset: int, limit: int) -> Any:
        opened.append(limit)
        return real(batch, offset=offset, limit=limit)

    monkeypatch.setattr(draft_rows, "page", page)
    assert estimates.estimate(batch, None) is not None
    assert opened == [AT_EACH] * PLACES


# -- tokens and dollars -------------------------------------------------------------------------


def test_the_sandbox_is_free(receive: MakeBatch) -> None:
    found = estimated(receive(rows(3)))
    assert found.is_free
    assert str(found.usd) == "$0"


@pytest.mark.usefixtures("account")
def test_without_any_history_a_rule_is_stated(receive: MakeBatch) -> None:
    found = estimated(receive(rows(50)))
    assert found.bytes_per_token.source is Source.RULE
    assert found.written_per_row == (20, 300, Source.RULE)
    assert found.usd is not None
    assert found.usd.low == pytest.approx(
        price_of(PRICED, read=found.read.low, written=found.written.low)
    )
    assert found.usd.high == pytest.approx(
        price_of(PRICED, read=found.read.high, written=found.written.high)
    )
    assert 0 < found.usd.low < found.usd.high


@pytest.mark.usefixtures("account")
def test_no_answer_is_longer_than_the_longest(receive: MakeBatch) -> None:
    assert estimated(receive(rows(5)), max_tokens=50).written_per_row[:2] == (20, 50)
    assert estimated(receive(rows(5)), max_tokens=8).written_per_row[:2] == (8, 8)


@pytest.mark.usefixtures("account")
def test_embeddings_write_nothing(receive: MakeBatch) -> None:
    found = estimated(receive(rows(5)), model="@cf/baai/bge-m3")
    assert found.written == (0, 0)


@pytest.mark.usefixtures("account")
def test_what_is_free_today_need_not_be_paid(receive: MakeBatch) -> None:
    found = estimated(receive(rows(50)))
    assert found.usd is not None
    assert found.to_pay is not None
    assert found.free_usd == pytest.approx(0.11)
    assert found.to_pay == (
        max(0, found.usd.low - found.free_usd),
        max(0, found.usd.high - found.free_usd),
    )


# -- what was measured before -------------------------------------------------------------------


@pytest.mark.usefixtures("sandbox")
def test_tries_tell_most(receive: MakeBatch) -> None:
    draft = asked(receive(rows(40)))
    begun(draft)
    ask_all()
    found = estimated(draft)
    assert found.bytes_per_token.source is Source.TRIES
    assert found.written_per_row.source is Source.TRIES
    tried = TriedRow.objects.all()
    size, read = (
        sum(getattr(one, name) for one in tried) for name in ("item_bytes", "prompt_tokens")
    )
    assert found.bytes_per_token.low == pytest.approx(size / read * (1 - MARGIN))
    assert found.bytes_per_token.high == pytest.approx(size / read * (1 + MARGIN))


@pytest.mark.usefixtures("sandbox")
def test_the_range_holds_what_the_batch_then_uses(receive: MakeBatch) -> None:
    draft = asked(receive(rows(300)))
    begun(draft)
    ask_all()
    found = estimated(draft)
    assert decisions.start(draft, by=None, ask=draft.ask, prepare_now=True)
    done = work(Batch.objects.get(pk=draft.pk))
    assert done.answered == 300
    assert found.read.low <= done.prompt_tokens <= found.read.high
    assert found.written.low <= done.completion_tokens <= found.written.high


@pytest.mark.parametrize(
    ("lengths", "bounds"),
    [
        # The mean is 30; the standard error of 20, 30 and 40 is 10 / √3.
        ([20, 30, 40], (30 * 0.75 - 20 / 3**0.5, 30 * 1.25 + 20 / 3**0.5)),
        # One alone may be off by half of it.
        ([40], (40 * 0.75 - 20, 40 * 1.25 + 20)),
        ([0, 400], (0, 200 * 1.25 + 400)),
    ],
)
def test_answers_are_as_long_as_in_the_tries_give_or_take_their_spread(
    receive: MakeBatch, lengths: list[int], bounds: tuple[float, float]
) -> None:
    draft = asked(receive(rows(5)))
    tried = Try.objects.create(
        batch=draft,
        number=1,
        connection=ensure_connection(draft.team),
        format_key=draft.format_key,
        **asked_fields(draft.ask),
    )
    for number, length in enumerate(lengths, 2):
        TriedRow.objects.create(
            in_try=tried,
            number=number,
            status=TriedStatus.ANSWERED,
            item_bytes=400,
            prompt_tokens=100,
            completion_tokens=length,
        )
    assert estimated(draft).written_per_row == (*map(pytest.approx, bounds), Source.TRIES)


def test_tries_of_another_wording_tell_nothing_of_the_answers(receive: MakeBatch) -> None:
    draft = asked(receive(rows(5)))
    other = Try.objects.create(
        batch=draft,
        number=1,
        connection=ensure_connection(draft.team),
        format_key=draft.format_key,
        model=MODEL,
        template="Else: {{text}}",
    )
    TriedRow.objects.create(
        in_try=other,
        number=2,
        status=TriedStatus.ANSWERED,
        item_bytes=400,
        prompt_tokens=100,
        completion_tokens=7,
    )
    found = estimated(draft)
    assert found.written_per_row.source is Source.RULE
    assert found.bytes_per_token == (
        pytest.approx(4 * (1 - MARGIN)),
        pytest.approx(4 * (1 + MARGIN)),
        Source.TRIES,
    )


def ended(batch: Batch, tokens: int, **fields: Any) -> Batch:
    """A batch of the same team with ten answers, each of so many tokens."""
    found = on_record(
        batch.team,
        **{
            "status": BatchStatus.FINISHED,
            "finished_at": timezone.now() - timedelta(hours=1),
            "answered": 10,
            "prompt_tokens": 1_000,
            "completion_tokens": 10 * tokens,
            "max_tokens": 1024,
        }
        | fields,
    )
    attempt_on_record(
        found.parts.get(), status=AttemptStatus.ANSWERED, payload_size=3_500, items=10
    )
    return found


def test_batches_with_the_same_question_tell_more_than_others(receive: MakeBatch) -> None:
    draft = asked(receive(rows(5)))
    ended(draft, 90)
    others = estimated(draft)
    assert others.written_per_row == (20, 300, Source.SAME_MODEL)  # no narrower than the rule
    assert others.bytes_per_token.source is Source.SAME_MODEL
    assert others.bytes_per_token.low == pytest.approx(3.5 * (1 - MARGIN))
    ended(draft, 30, template=TEMPLATE)
    ended(draft, 40, template=TEMPLATE)
    assert estimated(draft).written_per_row == (
        pytest.approx(30 * (1 - MARGIN)),
        pytest.approx(40 * (1 + MARGIN)),
        Source.SAME_QUESTION,
    )


def test_long_answers_to_another_question_widen_the_rule(receive: MakeBatch) -> None:
    draft = asked(receive(rows(5)))
    ended(draft, 900)
    found = estimated(draft).written_per_row
    assert found == (20, pytest.approx(900 * (1 + MARGIN)), Source.SAME_MODEL)


def test_a_question_with_other_answer_columns_is_another_question(receive: MakeBatch) -> None:
    columns = (AnswerColumn("tone"), AnswerColumn("why"))
    draft = receive(rows(5))
    ended(draft, 90, template=TEMPLATE)
    assert estimated(draft, answer_columns=columns).written_per_row.source is Source.SAME_MODEL
    ended(draft, 30, template=TEMPLATE, answer_columns=to_json(columns))
    assert estimated(draft, answer_columns=columns).written_per_row.source is Source.SAME_QUESTION


@pytest.mark.parametrize(
    "unlike", [{"model": "@cf/other"}, {"answered": 0}, {"prompt_tokens": 0}, {"finished_at": None}]
)
def test_other_batches_tell_nothing(receive: MakeBatch, unlike: dict[str, Any]) -> None:
    draft = asked(receive(rows(5)))
    ended(draft, 90, **unlike)
    assert estimated(draft).written_per_row.source is Source.RULE


def test_the_sandbox_tells_nothing_of_a_model(receive: MakeBatch, settings: Any) -> None:
    draft = asked(receive(rows(5)))
    ended(draft, 90)
    another_account(settings)
    assert estimated(draft).written_per_row.source is Source.RULE


def test_it_takes_as_many_queries_for_many_rows_as_for_few(
    receive: MakeBatch, django_assert_max_num_queries: Any
) -> None:
    draft = asked(receive(rows(1_000)))
    for _ in range(5):
        ended(draft, 30)
    with django_assert_max_num_queries(12):
        estimates.estimate(draft, None)
