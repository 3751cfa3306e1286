"""The panel: one row in full."""

import io
import re
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest
import xlsxwriter
from django.test import Client
from django.urls import reverse

from batchui.batches import decisions
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.web.sheet import panel
from tests.batches.conftest import CHAT_COMPLETIONS, MakeBatch, rows, send_all, work
from tests.batches.sheet.made import made
from tests.web.visiting import HTMX, html, roots, said

pytestmark = pytest.mark.django_db

ALONE = {**HTMX, "HX-Target": "panel"}


def response_of(web: Client, batch: Batch, number: int, query: str = "") -> Any:
    return web.get(f"{reverse('row', args=[batch.pk, number])}{query}", headers=ALONE)


def shown(web: Client, batch: Batch, number: int, query: str = "") -> str:
    return said(response_of(web, batch, number, query))


def reply(web: Client, batch: Batch, number: int) -> str:
    return said(web.get(reverse("row_reply", args=[batch.pk, number]), headers=HTMX))


def test_first_the_answer_then_what_it_is_about_then_the_rest(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    table = b"city,text,day,tone\nPorto,It was loud.,2026-05-04,bad\n"
    batch = work(start(table, template="What of {{tone}} {{ text }}?"))
    panel = shown(web, batch, 2)
    order = (
        "Row 2",
        "Answer",
        "tone",
        "text",
        "city",
        "Porto",
        "day",
        "What was sent",
        "Answered at",
    )
    places = [panel.index(word) for word in order]
    assert places == sorted(places), panel
    assert "What of bad It was loud.?" in panel
    assert "Answered at the first try." in panel
    assert "free in the sandbox" in panel


def test_it_is_one_element_for_htmx_and_a_page_for_others(web: Client, batch: Batch) -> None:
    alone = html(response_of(web, batch, 30))
    assert [root["data-row"] for root in roots(alone)] == ["30"]
    page = html(web.get(reverse("row", args=[batch.pk, 30])))
    assert 'data-row="30"' in page
    assert 'id="row-30"' in page


def test_a_row_that_waits_says_what_it_waits_for_and_what_will_be_sent(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    panel = shown(web, batch, 30)
    assert "Waiting" in panel
    assert "What will be sent Copy" in panel
    assert "Summarise: text number 29" in panel
    assert "Part 2 of 3: Queued. Not sent yet." in panel
    send_all()
    assert "What was sent Copy" in shown(web, batch, 30)


def test_the_instruction_for_all_rows_stands_beside_the_prompt(
    web: Client, start: MakeBatch
) -> None:
    batch = start(rows(3), instruction="Be brief.")
    assert "With the instruction for all rows Be brief." in shown(web, batch, 2)
    assert "instruction" not in shown(web, start(rows(3)), 2)


def test_a_ready_made_request_has_no_template(web: Client, start: MakeBatch) -> None:
    line = b'{"prompt": "one", "top_p": 0.5}\n'
    batch = start(line, "items.jsonl", as_items=True, model=CHAT_COMPLETIONS, instruction="no")
    panel = shown(web, batch, 1)
    assert "What will be sent Copy what was sent one" in panel
    assert "top_p 0.5" in panel
    assert "instruction" not in panel


def test_a_row_leads_to_its_neighbours_and_no_further(web: Client, start: MakeBatch) -> None:
    batch = start(b"id,text\n1,one\n2,two\n3,three\n")
    named = {
        n: re.findall(r'aria-label="Row (\d), the one (\w+)"', html(response_of(web, batch, n)))
        for n in (2, 3, 4)
    }
    assert named == {
        2: [("3", "after")],
        3: [("2", "before"), ("4", "after")],
        4: [("3", "before")],
    }


def test_neighbours_within_the_filter(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [3], "times": 3})
    batch = work(start(rows(60)))
    assert batch.failed == 3  # rows 5, 30 and 55
    markup = html(response_of(web, batch, 30, "?show=attention"))
    assert 'aria-label="Row 5, the one before"' in markup
    assert 'aria-label="Row 55, the one after"' in markup
    assert f"{reverse('row', args=[batch.pk, 55])}?show=attention" in markup
    assert "the one after" not in html(response_of(web, batch, 55, "?show=attention"))


def test_neighbours_in_another_part(web: Client, batch: Batch) -> None:
    markup = html(response_of(web, batch, 27))  # the first one of the second part
    assert 'aria-label="Row 26, the one before"' in markup
    assert 'aria-label="Row 28, the one after"' in markup


@pytest.mark.parametrize("number", [0, 1, 62, 10**12])
def test_a_row_that_is_not_there_is_said_kindly(web: Client, batch: Batch, number: int) -> None:
    response = response_of(web, batch, number)
    assert response.status_code == 404
    assert f"This batch has no row {number:,}. Its rows are 2 to 61" in said(response)


def test_a_row_of_a_workbook_is_shown_as_it_stands_there(web: Client, start: MakeBatch) -> None:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["day", "text", "paid", "share"])
        sheet.write_datetime(1, 0, date(2026, 5, 1), book.add_format({"num_format": "yyyy-mm-dd"}))
        sheet.write_row(1, 1, ["one", True])
        sheet.write_number(1, 3, 0.25, book.add_format({"num_format": "0%"}))
    panel = shown(web, start(out.getvalue(), "texts.xlsx"), 2)
    assert "text one day 2026-05-01 paid TRUE share 25%" in panel


def test_cells_beyond_the_columns_are_shown_too(web: Client, start: MakeBatch) -> None:
    batch = start(b"id,text\n1,one,more,still more\n2,two\n", skip_invalid=True)
    panel = shown(web, batch, 2)
    assert "Cell 3, beyond the columns more" in panel
    assert "still more" in panel


def test_a_skipped_row_says_why_and_was_asked_nothing(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(b"id,text\n1,a\n2,\n", skip_invalid=True))
    panel = shown(web, batch, 3)
    assert "Row 3, column “text”" in panel
    assert "What w" not in panel
    assert "It was not sent." in panel


def test_a_row_that_failed_says_why(web: Client, sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "failed", "items": [3], "times": 1})
    batch = work(start(rows(10)))
    panel = shown(web, batch, 5)
    assert "The model could not answer this row." in panel
    assert "Failed at the first try." in panel
    assert decisions.retry(batch, by=None)
    assert "It is asked again." in shown(web, batch, 5)
    work(batch)
    assert "Answered at the second try." in shown(web, batch, 5)


FOUR = (
    AnswerColumn("summary"),
    AnswerColumn("tone", "one_of", ("good", "bad")),
    AnswerColumn("topics", "several_of", ("room", "staff", "food")),
    AnswerColumn("stars", "number"),
)


@pytest.fixture
def in_columns(team: Team) -> Batch:
    """A batch whose answers are four columns: one row that fits, and one that does not."""
    whole = {"summary": "Loud, **very**.", "tone": "bad", "topics": ["room", "food"], "stars": 2}
    unfit = {"summary": "Fine.", "tone": "sunny"}
    return made(
        team,
        [
            Answer("answered", msgspec.Raw(msgspec.json.encode(whole))),
            Answer("unfit", msgspec.Raw(msgspec.json.encode(unfit)), "tone: “sunny” is no choice"),
        ],
        answer_columns=to_json(FOUR),
    )


def test_an_answer_in_columns_is_one_text_or_tag_for_each(web: Client, in_columns: Batch) -> None:
    markup = html(response_of(web, in_columns, 1))
    assert re.findall(r"<h3>(.*?)</h3>", markup)[:4] == ["summary", "tone", "topics", "stars"]
    assert "<strong>very</strong>" in markup
    assert re.findall(r'class="tag">(\w+)<', markup) == ["bad", "room", "food"]
    assert "What the model answered" not in markup


def test_yes_or_no_is_a_tag_as_in_the_sheet(web: Client, team: Team) -> None:
    kept = AnswerColumn("kept", "yes_no")
    answer = Answer("answered", msgspec.Raw(msgspec.json.encode({"kept": True})))
    batch = made(team, [answer], answer_columns=to_json([kept]))
    assert re.findall(r'class="tag">(\w+)<', html(response_of(web, batch, 1))) == ["yes"]


def test_an_answer_that_does_not_fit_is_shown_whole_beside_what_fits(
    web: Client, in_columns: Batch
) -> None:
    panel = shown(web, in_columns, 2)
    assert "tone: “sunny” is no choice" in panel
    assert "summary Copy summary Edit summary Fine." in panel
    assert "tone Write tone Nothing topics Write topics Nothing stars Write stars Nothing" in panel
    assert '"tone": "sunny"' in panel.split("What the model answered")[-1]


def test_text_of_the_file_is_text_on_the_page(web: Client, start: MakeBatch) -> None:
    batch = start(b'id,text\n<b>1</b>,"<script>x</script> "" onclick=y"\n')
    markup = html(response_of(web, batch, 2))
    assert "<script>x" not in markup
    assert "<b>1" not in markup
    assert "&lt;script&gt;x" in markup


def test_long_texts_are_cut_and_it_is_said(
    web: Client, start: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "LONGEST_SHOWN", 20)
    monkeypatch.setattr(panel, "LONGEST_CELLS", 30)
    batch = start(f"id,text,more\n1,{'b' * 40},{'c' * 40}\n".encode())
    text = shown(web, batch, 2)
    assert "b" * 20 in text
    assert "b" * 21 not in text
    assert f"{'c' * 9} … (cut)" in text  # what the texts before it have left
    assert "c" * 10 not in text
    assert text.count("It is longer than a page can show.") == 2


def test_lost_files_are_said_and_break_nothing(
    web: Client, sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch = work(start(rows(10)))
    part = batch.parts.get()
    (files_in / part.rows_file).unlink()
    panel = shown(web, batch, 3)
    assert "A stored file is not there any more." in panel
    assert part.rows_file not in panel
    assert "What was sent" not in panel


# -- technical details --------------------------------------------------------------------------


def test_the_raw_reply_of_the_row_is_under_technical_details(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(60)))
    details = reply(web, batch, 30)
    attempt = batch.parts.get(number=2).attempts.get()
    assert "Part 2 of 3" in details
    assert attempt.request_id in details
    assert '"success": true' in details
    assert '"id": 3' in details  # row 30 is the fourth one of its part
    assert "The raw reply to all 25 rows of the request" in details
    assert reverse("raw_reply", args=[batch.pk, 2, 1]) in html(
        web.get(reverse("row_reply", args=[batch.pk, 30]))
    )


def test_a_reply_that_is_not_there_is_said(
    web: Client, sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch = start(rows(10))
    assert "There is no reply to this row." in reply(web, batch, 2)
    work(batch)
    (files_in / Part.objects.get().attempts.get().reply_file).unlink()
    assert "The stored reply of this part is not there any more." in reply(web, batch, 2)
    assert web.get(reverse("row_reply", args=[batch.pk, 99])).status_code == 404


def test_the_number_of_queries_does_not_grow_with_parts(
    web: Client, start: MakeBatch, django_assert_max_num_queries: Any
) -> None:
    batch = start(rows(150))
    assert batch.part_count == 6
    with django_assert_max_num_queries(12):
        response_of(web, batch, 80)


TONE = AnswerColumn("tone", "one_of", ("good", "bad"))
COLUMNS = (TONE, AnswerColumn("refund", "yes_no", (), "Does she ask for money back?"))


def test_answers_in_columns_stand_one_under_another(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "unfit", "form": "words", "items": [1]})
    batch = work(start(rows(2), answer_columns=COLUMNS))
    fits, unfit = shown(web, batch, 2), shown(web, batch, 3)
    assert re.search(r"tone Edit tone (good|bad) refund Edit refund (yes|no)", fits)
    assert "Answer with one JSON object" in fits
    assert "The answer is not the JSON object that was asked for" in unfit
    assert "I would rather say it in words." in unfit


def test_what_was_asked_lists_the_answer_columns(web: Client, start: MakeBatch) -> None:
    with_columns, without = start(rows(2), answer_columns=COLUMNS), start(rows(2))
    asked = said(web.get(reverse("asked", args=[with_columns.pk])))
    assert '- "tone": one of "good", "bad"' in asked
    assert '- "refund": true or false. Does she ask for money back?' in asked
    assert "Answer columns" not in said(web.get(reverse("asked", args=[without.pk])))
