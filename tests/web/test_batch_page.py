"""The page of a batch: how it goes, and its rows."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.whole_files import KINDS
from batchui.sandbox.testing import RunningSandbox
from batchui.web.sheet import grid, parts
from batchui.worker.heartbeat import beat
from tests.batches.conftest import (
    CHAT_COMPLETIONS,
    MakeBatch,
    another_account,
    rows,
    send_all,
    work,
)
from tests.web.visiting import HTMX, STREAMED, element, html, page, said

pytestmark = pytest.mark.django_db


def test_the_page_shows_counts_and_rows_and_its_tabs_the_rest(web: Client, batch: Batch) -> None:
    shown = page(web, batch)
    assert "Queued" in shown
    assert "0 of 60 answered" in shown
    assert "Queued 0 of 60 answered It waits for its turn in the sandbox. for" in shown
    assert "Summarise: {{text}} · Llama 4 Scout · the terminal" in shown
    assert "Row id text answer text 2 1 text number 1" in shown
    assert "Rows 2 to 61 · 60 in all" in shown
    assert "3 of 3 Queued 52–61 0 of 10" in page(web, batch, "parts")
    assert "“texts.csv” uploaded" in page(web, batch, "timeline")


def what_was_asked(web: Client, batch: Batch) -> str:
    return page(web, batch, "asked").split("What was asked")[2].split("Delete this batch")[0]


def test_everything_that_was_asked_shows(web: Client, start: MakeBatch) -> None:
    batch = start(
        rows(3),
        instruction="Be brief.",
        temperature=0,
        max_tokens=2_000,
        reference_column="id",
        options={"top_p": 0.9},
        skip_invalid=True,
        resend_once=True,
    )
    asked = what_was_asked(web, batch)
    for shown in (
        "What to ask of every row Summarise: {{text}}",
        "Instruction for all rows Be brief.",
        "Longest answer 2,000 tokens",
        "Temperature 0 ",
        "Reference id",
        'Further options {"top_p": 0.9}',
        "Skip rows that cannot be asked Yes",
        "send it again once Yes",
    ):
        assert shown in asked


def test_what_was_not_asked_does_not_show(web: Client, start: MakeBatch) -> None:
    asked = what_was_asked(web, start(rows(3), source_lang="en"))
    for label in ("Instruction", "Temperature", "Reference", "options", "again", "Language"):
        assert label not in asked
    lines = start(b'{"prompt": "one"}\n', "items.jsonl", as_items=True, model=CHAT_COMPLETIONS)
    asked = what_was_asked(web, lines)
    assert "send them as they are Yes" in asked
    assert "What to ask of every row" not in asked


def test_waiting_rows_are_spoken_of_only_while_there_are_some(
    sandbox: RunningSandbox, web: Client, batch: Batch
) -> None:
    note = "You can download at any time"
    assert f"{note}; waiting rows have no answer yet." in html(web.get(batch.get_absolute_url()))
    work(batch)
    assert f"{note}.\n" in html(web.get(batch.get_absolute_url()))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_download_is_offered(web: Client, batch: Batch, kind: str) -> None:
    shown = html(web.get(batch.get_absolute_url()))
    name, end = ("download", "</a>") if kind in STREAMED else ("make_export", "</form>")
    address = f'"{reverse(name, args=[batch.pk, kind])}"'
    if kind == "workbook":  # the file is a CSV
        assert address not in shown
    else:
        assert KINDS[kind].label in shown.split(address)[1].split(end)[0]


MADE_UP = "These answers are made up"


def test_answers_of_the_sandbox_are_called_made_up_after_an_account_is_connected(
    web: Client, sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    assert "CLOUDFLARE_API_TOKEN" in html(web.get(batch.get_absolute_url()))
    another_account(settings)
    shown = html(web.get(batch.get_absolute_url()))
    assert MADE_UP in shown
    assert "To get real answers, run this batch again." in shown
    assert "CLOUDFLARE_API_TOKEN" not in shown
    assert MADE_UP not in html(web.get(reverse("new")))


def test_answers_of_an_account_are_not_called_made_up_after_it_is_gone(
    web: Client, sandbox: RunningSandbox, start: MakeBatch, settings: Any
) -> None:
    another_account(settings)
    batch = start(rows(3))
    settings.CLOUDFLARE_ACCOUNT_ID = ""
    assert MADE_UP not in html(web.get(batch.get_absolute_url()))
    assert MADE_UP in html(web.get(reverse("new")))


def test_a_draft_is_told_by_the_account_to_which_start_would_send_it(
    web: Client, receive: MakeBatch, settings: Any
) -> None:
    draft = receive(rows(3))
    assert MADE_UP in html(web.get(draft.get_absolute_url()))
    another_account(settings)
    shown = html(web.get(draft.get_absolute_url()))
    assert MADE_UP not in shown
    assert "Your Cloudflare account is charged" in shown


def test_the_live_part_says_nothing_while_nothing_changed(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    beat()
    live = reverse("live", args=[batch.pk])
    response = web.get(f"{live}?seen={batch.version}", headers=HTMX)
    assert (response.status_code, response.content) == (204, b"")
    send_all()
    changed = web.get(f"{live}?seen={batch.version}&was=queued", headers=HTMX)
    assert changed.status_code == 200
    assert "batch-changed" in changed["HX-Trigger"]
    batch.refresh_from_db()
    assert f"seen={batch.version}&amp;was={batch.status}" in element(html(changed), "live")


def test_the_title_says_how_far_it_is_and_the_end_is_announced(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    live = f"{reverse('live', args=[batch.pk])}?seen=0&was=queued"
    under_way = html(web.get(live, headers=HTMX))
    assert "<title>0% · texts · batchui</title>" in under_way
    assert "announcement" not in under_way
    work(batch)
    ended = html(web.get(live, headers=HTMX))
    assert "<title>Finished: texts · batchui</title>" in ended
    assert "Finished: 60 of 60 answered" in ended.split('id="announcement"')[1]
    assert "<title>Finished: texts · batchui</title>" in html(web.get(batch.get_absolute_url()))


def test_it_says_when_nobody_works(web: Client, batch: Batch) -> None:
    assert "Background work is not running" in page(web, batch)
    live = reverse("live", args=[batch.pk])
    assert web.get(f"{live}?seen={batch.version}.worker", headers=HTMX).status_code == 204
    beat()
    assert "Background work is not running" not in page(web, batch)
    again = web.get(f"{live}?seen={batch.version}.worker", headers=HTMX)
    assert "Background work is not running" not in html(again)


def test_a_page_that_is_open_says_when_nobody_works_any_more(web: Client, batch: Batch) -> None:
    shown = said(web.get(f"{reverse('live', args=[batch.pk])}?seen={batch.version}", headers=HTMX))
    assert "Background work is not running, so nothing moves now." in shown
    assert "as soon as background work runs again" in shown


def test_parts_have_pages(web: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PARTS_PAGE", 2)
    first = page(web, batch, "parts")
    assert "1 of 3" in first
    assert "3 of 3" not in first
    assert "1–2 of 3 parts" in first
    assert "3 of 3" in page(web, batch, "parts", "?parts=2")
    assert "3 of 3" in page(web, batch, "parts", "?part=3")
    assert 'class="at"' in element(
        html(web.get(f"{reverse('parts', args=[batch.pk])}?part=3")), "part-3"
    )
    for nonsense in ("0", "4", "-1", "x", "²", "9" * 20):
        assert "1 of 3" in page(web, batch, "parts", f"?part={nonsense}")
    assert "parts=2" in element(
        html(web.get(f"{reverse('parts', args=[batch.pk])}?parts=2")), "parts"
    )


def test_technical_details_of_a_part(web: Client, sandbox: RunningSandbox, batch: Batch) -> None:
    address = reverse("part", args=[batch.pk, 1])
    assert "Not sent yet." in said(web.get(address, headers=HTMX))
    work(batch)
    shown = said(web.get(address, headers=HTMX))
    attempt = batch.parts.get(number=1).attempts.get()
    assert attempt.request_id in shown
    reply = web.get(reverse("raw_reply", args=[batch.pk, 1, 1]))
    assert b'"responses"' in b"".join(reply.streaming_content)  # type: ignore[attr-defined]
    assert web.get(reverse("part", args=[batch.pk, 99])).status_code == 404
    table = reverse("parts", args=[batch.pk])
    assert web.get(address)["Location"] == f"{table}?part=1#part-1", "opened as a page"


# -- rows ---------------------------------------------------------------------------------------


def test_rows_have_filters_and_pages(
    web: Client, sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "ROWS_PAGE", 25)
    sandbox.script({"fault": "failed", "items": [0], "times": 3})
    batch = work(batch)
    assert batch.failed == 3
    assert "All 60 Answered 57 Failed 3" in page(web, batch)
    attention = html(web.get(f"{batch.get_absolute_url()}?show=attention"))
    assert attention.count("<tr ") == 3
    assert attention.count('class="badge" data-status="failed"') == 3
    assert "51 to 57 of 57 such rows" in page(web, batch, "batch", "?show=answered&page=3")
    assert 'aria-current="true"' in element(attention, "show-problems")
    assert "Rows 2 to 26 · 60 in all" in page(web, batch, "batch", "?show=nonsense&page=x")
    assert "1 to 3 of 3 such rows" in page(web, batch)


def test_a_filter_without_rows_says_so(web: Client, batch: Batch) -> None:
    assert "No row is answered yet." in page(web, batch, "batch", "?show=answered")
    assert "No row needs attention." in page(web, batch, "batch", "?show=attention")
    assert "No row needs attention." in page(web, batch, "attention")


def in_the_panel(web: Client, batch: Batch, number: int) -> str:
    headers = HTMX | {"HX-Target": "panel"}
    return said(web.get(reverse("row", args=[batch.pk, number]), headers=headers))


def test_a_long_answer_is_cut_in_the_grid_and_opens_in_full(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    long = "a word and " * 200
    batch = work(start(f"id,text\n1,{long}the end\n2,short\n".encode()))
    assert "the end" not in page(web, batch)
    assert f"Summarise: {long}the end" in in_the_panel(web, batch, 2)


def test_the_address_of_a_row_is_a_page_with_the_row_open(
    web: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "ROWS_PAGE", 25)
    shown = html(web.get(reverse("row", args=[batch.pk, 40])))
    assert 'aria-selected="true"' in element(shown, "row-40")
    assert " open" in element(shown, "panel")
    assert "Rows 27 to 51 · 60 in all" in page(web, batch, "row", "", 40)


@pytest.mark.parametrize("number", [0, 1, 62, 10**12])
def test_a_row_that_is_not_there_is_not_found(web: Client, batch: Batch, number: int) -> None:
    response = web.get(reverse("row", args=[batch.pk, number]))
    assert response.status_code == 404
    assert f"This batch has no row {number:,}." in said(response)


def test_skipped_rows_are_counted_apart(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(b"id,text\n1,a\n2,\n3,c\n"))
    shown = said(web.get(batch.get_absolute_url()))
    assert "Finished 2 answered, 1 skipped" in shown
    history = html(web.get("/"))
    assert "2 answered, 1 skipped" in history
    assert 'max="2"' in history.partition("<progress")[2][:200]


def test_a_skipped_row_says_why(web: Client, sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = work(start(b"id,text\n1,a\n2,\n"))
    assert "Row 3, column “text”: the cell is blank" not in page(web, batch, "attention")
    assert "Row 3, column “text”" in in_the_panel(web, batch, 3)
