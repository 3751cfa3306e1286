"""What the page says of all rows right before Start."""

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import long_tasks, preparing, surveys
from batchui.batches.states import BatchStatus
from tests.web.test_new_batch import preview
from tests.web.visiting import HTMX, drafted, press_start, said

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_file_is_small")]


def test_rows_that_ask_the_same_are_said_and_may_be_asked_once(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,same\n2,same\n3,other\n4,same\n")
    page = preview(web, batch, template="{{text}}")
    assert "2 rows ask exactly what another row asks." in page
    assert "Ask the same question only once" in page
    assert "ask exactly" not in preview(web, batch, template="{{id}} {{text}}")
    press_start(web, batch, template="{{text}}", ask_once="on")
    batch.refresh_from_db()
    assert batch.ask.ask_once


def test_rows_that_are_too_long_for_the_model_are_said_before_the_start(
    web: Client,
) -> None:
    batch = drafted(web, b"id,text\n1,x\n2,%b\n" % (b"word " * 150_000))
    page = preview(web, batch, template="{{text}}")
    assert "1 row is too long for this model: row 3. Shorten it, or skip it." in page
    assert page.endswith("1 row")


def test_rows_with_nothing_to_ask_are_said_before_the_start_and_counted_off(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,x\n2,\n3\n4,y\n")
    page = said(web.get(batch.get_absolute_url()))
    assert "Start: 3 rows" in page
    shown = preview(web, batch, template="{{text}}")
    assert "1 row has nothing in “text”: row 3. It is skipped." in shown
    assert "is blank in" not in shown
    assert shown.endswith("2 rows")
    page = said(web.get(batch.get_absolute_url()))
    assert "1 row cannot be asked. Correct it in the file, or skip it." in page  # too few cells
    assert "1 row has nothing in “text”: row 3. It is skipped." in page
    assert "Start: 2 rows" in page
    press_start(web, batch, template="{{text}}", skip_invalid="on")
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.invalid, batch.skipped) == (BatchStatus.QUEUED, 1, 1)


def test_a_file_with_blank_cells_and_empty_lines_starts_at_once(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,x\n2,\n\n4,y\n")
    assert batch.bad_rows == 0
    shown = preview(web, batch, template="{{text}}")
    assert "2 rows have nothing in “text”: rows 3 and 4. They are skipped." in shown
    assert shown.endswith("2 rows")
    press_start(web, batch, template="{{text}}")
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.invalid, batch.skipped) == (BatchStatus.QUEUED, 0, 2)


def test_who_wants_to_fill_blank_cells_in_can_have_start_wait(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,x\n2,\n")
    shown = preview(web, batch, template="{{text}}", stop_at_blank="on")
    assert "1 row has nothing in “text”: row 3. Start waits until that is filled in." in shown
    assert 'name="stop_at_blank"' in web.get(batch.get_absolute_url()).content.decode()
    press_start(web, batch, template="{{text}}", stop_at_blank="on", skip_invalid="on")
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.problem_count) == (BatchStatus.DRAFT, 1)
    assert batch.problem == "1 row has nothing to ask about. Fill it in, or skip it."


def test_ready_made_requests_that_the_model_does_not_take_are_counted_off(web: Client) -> None:
    lines = b'{"prompt": "a"}\n{"text": "b"}\n{"prompt": " "}\n{"text": "c"}\n'
    batch = drafted(web, lines, "items.jsonl")
    shown = preview(web, batch, as_items="on")
    assert "2 rows are no request that this model takes: the first is row 2." in shown
    assert "1 row has nothing in them that this model takes: row 3. It is skipped." in shown
    assert shown.endswith("1 row")


def test_many_rows_with_nothing_to_ask_are_named_and_counted(web: Client) -> None:
    batch = drafted(web, b"a,b\n" + b",\n" * 12 + b"1,2\n")
    assert (
        "12 rows have nothing in “a” and “b”: rows 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more."
        in preview(web, batch, template="{{a}} {{b}}")
    )


def test_the_button_says_how_many_rows_are_asked_where_each_question_is_asked_once(
    web: Client,
) -> None:
    batch = drafted(web, b"id,text\n1,same\n2,same\n3,other\n4,same\n5,\n")
    assert preview(web, batch, template="{{text}}").endswith("4 rows")
    assert preview(web, batch, template="{{text}}", ask_once="on").endswith("4 rows, 2 asked")
    assert "Start: 4 rows, 2 asked" in said(web.get(batch.get_absolute_url()))


def test_what_is_said_before_the_start_comes_when_the_file_was_read(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,x\n2,\n")
    preview(web, batch, template="{{text}}")
    polled = web.get(reverse("checking", args=[batch.pk]), headers=HTMX)
    assert "1 row has nothing in “text”: row 3." in said(polled)
    assert "Start: 1 row" in said(polled)
    assert "file-read" in polled["HX-Trigger"]


def test_of_a_large_file_the_page_asks_again_until_it_is_known(
    web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = drafted(web, b"id,text\n1,same\n2,same\n")
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 1)
    assert "Comparing the question with all rows" in preview(web, batch, template="{{text}}")
    surveys.find_out(batch.pk)
    page = preview(web, batch, template="{{text}}")
    assert "1 row asks exactly what another row asks." in page
    assert "Comparing the question" not in page
