"""New batch: a file, what to ask, Start."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import checking, long_tasks, preparing
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.prompts.conversion.kinds import CAN_BE_READ
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MODEL, rows
from tests.teams.people import outsider
from tests.web.visiting import (
    HTMX,
    answers,
    drafted,
    element,
    html,
    listed_models,
    press_start,
    roots,
    said,
    signed_in,
    upload,
)

pytestmark = pytest.mark.django_db

TRANSLATION = "@cf/meta/m2m100-1.2b"


def preview(web: Client, batch: Batch, **typed: str | None) -> str:
    address = reverse("preview", args=[batch.pk])
    return said(web.post(address, answers(batch, **typed), headers=HTMX))


def chosen_model(page: str) -> tuple[str | None, str | None]:
    """The model that is chosen on the page, and what it does."""
    radios = re.findall(r'<input type="radio" name="model"[^>]*>', page)
    [chosen] = [roots(radio)[0] for radio in radios if "checked" in radio]
    return chosen["value"], chosen["data-task"]


# -- the file -----------------------------------------------------------------------------------


def test_an_upload_leads_to_its_first_rows_and_columns(web: Client) -> None:
    response = upload(web, b"id,review\n7,Lovely\n8,Noisy\n", "May reviews.csv")
    batch = Batch.objects.get()
    assert response["Location"] == batch.get_absolute_url()
    assert (batch.name, batch.status) == ("May reviews", BatchStatus.CHECKING)
    page = web.get(batch.get_absolute_url())
    assert "Row id review 2 7 Lovely 3 8 Noisy" in said(page)
    assert 'data-insert="{{review}}"' in html(page)
    assert "disabled" in html(page).split('id="check"')[1]


def test_what_can_be_read_and_how_much_is_said_before_a_file_is_chosen(web: Client) -> None:
    page = said(web.get(reverse("new")))
    assert f"{CAN_BE_READ}. Up to 1.07 GB, 5,000,000 rows, 2,000 columns and 1,000,000" in page


def test_a_small_file_waits_for_no_worker(
    web: Client, monkeypatch: pytest.MonkeyPatch, sandbox: RunningSandbox
) -> None:
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 1000)
    upload(web, rows(3))
    batch = Batch.objects.get()
    assert (batch.status, batch.rows) == (BatchStatus.DRAFT, 3)
    press_start(web, batch)
    batch.refresh_from_db()
    assert (batch.status, batch.part_count) == (BatchStatus.QUEUED, 1)


def test_with_htmx_the_browser_is_told_where_to_go(web: Client) -> None:
    response = upload(web, rows(3), headers=HTMX)
    assert response["HX-Redirect"] == Batch.objects.get().get_absolute_url()


def test_start_is_there_once_the_whole_file_is_read(web: Client) -> None:
    batch = drafted(web, rows(60))
    check = web.get(reverse("checking", args=[batch.pk]))
    assert "Start: 60 rows" in said(check)
    assert "disabled" not in html(check)


def test_the_sample_is_a_draft_with_a_prompt(web: Client) -> None:
    web.post(reverse("new_from_sample"))
    batch = Batch.objects.get()
    assert "{{review}}" in batch.template
    checking.check_file(batch.pk)
    page = said(web.get(batch.get_absolute_url()))
    assert "Review: Lovely room with a view of the river." in page
    assert "Start: 60 rows" in page
    download = web.get(reverse("sample"))
    assert "sample-reviews.csv" in download["Content-Disposition"]
    assert download.content.startswith(b"\xef\xbb\xbfdate,city,review\r\n")


def test_a_second_upload_of_the_same_name_is_a_batch_of_its_own(web: Client) -> None:
    first, second = (drafted(web, rows(count), "texts.csv") for count in (3, 4))
    assert (first.name, second.name) == ("texts", "texts (2)")
    assert (first.source_name, second.source_name) == ("texts.csv", "texts.csv")
    assert drafted(web, rows(5), "texts.csv").name == "texts (3)"
    first.refresh_from_db()
    assert (first.rows, second.rows) == (3, 4)
    assert first.source_file != second.source_file


# -- what to ask --------------------------------------------------------------------------------


def test_filled_prompts_follow_what_is_typed(web: Client) -> None:
    batch = drafted(web, b"city,review\nPorto,Lovely\nFaro,Noisy\nBraga,Fine\nLisbon,Cold\n")
    shown = preview(web, batch, template="In {{city}}: {{review}}")
    assert "What row 2 is asked In Porto: Lovely" in shown
    assert "Noisy" not in shown


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("4", "What row 4 is asked Braga?"),
        ("1", "row 2 is asked Porto?"),
        ("x", "row 2 is asked Porto?"),
        ("6", "row 2 is asked Porto?"),
        ("", "row 2 is asked Porto?"),
        ("9" * 30, "row 2 is asked Porto?"),
    ],
)
def test_the_prompt_of_another_row_is_shown_if_there_is_one(
    web: Client, row: str, said: str
) -> None:
    batch = drafted(web, b"city,review\nPorto,Lovely\nFaro,Noisy\nBraga,Fine\nLisbon,Cold\n")
    assert said in preview(web, batch, template="{{city}}?", row=row)


def test_there_is_a_row_before_and_after_but_not_beyond_the_ends(web: Client) -> None:
    batch = drafted(web, b"city\nPorto\nFaro\nBraga\n")

    def beside(row: str) -> list[str]:
        typed = answers(batch, template="{{city}}", row=row)
        page = html(web.post(reverse("preview", args=[batch.pk]), typed, headers=HTMX))
        return re.findall(r'data-shows-row="(\d*)"', page)

    assert [beside(row) for row in ("2", "3", "4")] == [["", "3"], ["2", "4"], ["3", ""]]


def test_an_empty_question_asks_for_one_calmly(web: Client) -> None:
    batch = drafted(web, b"city,review\nPorto,Lovely\n")
    assert "Write what to ask" in preview(web, batch, template="")


def test_what_is_typed_is_kept_with_the_draft(web: Client) -> None:
    batch = drafted(web, rows(3))
    typed = {
        "model": TRANSLATION,
        "target_lang": "fr",
        "template": "half {{tex",
        "instruction": "Be brief.",
        "max_tokens": "77",
        "temperature": "0.5",
        "reference_column": "id",
        "resend_once": "on",
    }
    preview(web, batch, **typed)
    page = html(web.get(batch.get_absolute_url()))
    assert "half {{tex</textarea>" in page
    assert "Be brief.</textarea>" in page
    assert chosen_model(page) == (TRANSLATION, "translation")
    assert '<option value="fr" selected>' in page
    assert '<option value="id" selected>' in page
    assert 'value="77"' in page
    assert 'value="0.5"' in page
    assert "checked" in element(page, "id_resend_once")


def test_what_cannot_be_kept_leaves_what_was_there(web: Client) -> None:
    batch = drafted(web, rows(3))
    preview(web, batch, name="", max_tokens="many", model="nonsense", template="\0 {{text}}")
    batch.refresh_from_db()
    assert (batch.name, batch.max_tokens) == ("texts", 1024)
    assert batch.model == catalogue.models()[0].name
    assert batch.template == " {{text}}"


def test_blank_cells_are_told_before_the_start(web: Client) -> None:
    batch = drafted(web, b"id,text\n1,a\n2,\n3,\n")
    shown = preview(web, batch, template="{{id}} {{text}}")
    assert "2 rows are blank in “text”; the first is row 3." in shown


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("", "Write what to ask, then click a column to insert it."),
        ("Summarise.", "The text names no column"),
        ("{{txt}}", "The text names the column “txt”, which the file does not have. Did you mean"),
        ("{{text", "does not close it"),
    ],
)
def test_a_template_that_cannot_be_filled_is_said_at_its_field(
    web: Client, template: str, sentence: str
) -> None:
    batch = drafted(web, rows(3))
    response = press_start(web, batch, template=template)
    assert response.status_code == 422
    assert sentence in said(response)
    area = element(html(response), "id_template")
    assert 'aria-invalid="true"' in area
    assert "autofocus" in area
    error = html(response).split('id="id_template_error"')[1]
    assert sentence.split("“")[0] in error[: error.index("</div>")]
    if template:
        assert sentence in preview(web, batch, template=template)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.DRAFT


def test_a_translation_asks_for_its_language(web: Client) -> None:
    batch = drafted(web, rows(3))
    response = press_start(web, batch, model=TRANSLATION, template="{{text}}")
    assert response.status_code == 422
    assert "Choose the language to translate into." in said(response)
    assert "autofocus" in element(html(response), "id_target_lang")


def test_errors_in_more_settings_open_them(web: Client) -> None:
    batch = drafted(web, rows(3))
    page = html(press_start(web, batch, max_tokens="0"))
    assert '<details class="more" id="more-settings" open>' in page
    assert 'id="id_max_tokens_error"' in page
    assert '<details class="more" id="more-settings">' in html(web.get(batch.get_absolute_url()))


def test_nothing_that_is_needed_is_called_optional(web: Client) -> None:
    for content, name in ((rows(3), "a.csv"), (b'{"prompt": "Say one"}\n', "items.jsonl")):
        page = html(web.get(drafted(web, content, name).get_absolute_url()))
        labels = {
            part.split("</label>")[0] for part in page.split("<label ")[1:] if "(optional)" in part
        }
        optional = {label.split(">")[1].split("<")[0].strip() for label in labels}
        assert optional == {"Instruction for all rows", "Temperature", "Reference"}


def test_ready_made_items_need_no_prompt(web: Client) -> None:
    batch = drafted(web, b'{"prompt": "Say one"}\n{"prompt": "Say two"}\n', "items.jsonl")
    assert "What row 1 is asked Say one" in said(web.get(batch.get_absolute_url()))
    assert press_start(web, batch, template="", as_items="on").status_code == 302
    batch.refresh_from_db()
    assert (batch.status, batch.as_items) == (BatchStatus.PREPARING, True)


# -- Start --------------------------------------------------------------------------------------


def test_start_takes_what_is_on_the_form(web: Client, files_in: Path) -> None:
    batch = drafted(web, rows(60))
    response = press_start(web, batch, instruction="Be brief.", max_tokens="50")
    assert response["Location"] == batch.get_absolute_url()
    assert "Preparing: 0 of" in said(web.get(batch.get_absolute_url()))
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.part_count) == (BatchStatus.QUEUED, 3)
    assert (batch.instruction, batch.max_tokens) == ("Be brief.", 50)
    refreshed = web.get(f"{reverse('checking', args=[batch.pk])}?phase=preparing", headers=HTMX)
    assert refreshed["HX-Refresh"] == "true"


def test_a_second_press_of_start_starts_nothing(web: Client) -> None:
    batch = drafted(web, rows(3))
    press_start(web, batch)
    changed = answers(batch, template="{{id}}")
    second = web.post(reverse("start", args=[batch.pk]), changed, follow=True)
    assert "This batch was started already, by you or a colleague." in html(second)
    batch.refresh_from_db()
    assert batch.template != "{{id}}"
    assert batch.events.filter(text="Started.").count() == 1


def test_start_before_the_file_is_read_says_to_wait(web: Client) -> None:
    upload(web, rows(3))
    response = press_start(web, Batch.objects.get())
    page = html(web.get(response["Location"]))
    assert "The file is still being read. Press Start once that is done." in page


def test_a_draft_of_another_team_cannot_be_started_or_read(web: Client) -> None:
    batch = drafted(signed_in(outsider()), rows(3))
    assert press_start(web, batch).status_code == 404
    assert web.post(reverse("preview", args=[batch.pk]), answers(batch)).status_code == 404
    batch.refresh_from_db()
    assert (batch.status, batch.model) == (BatchStatus.DRAFT, "")


def test_a_form_without_its_token_starts_and_uploads_nothing(web: Client) -> None:
    batch = drafted(web, rows(3))
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = web.cookies
    assert press_start(strict, batch).status_code == 403
    assert upload(strict, rows(3)).status_code == 403
    assert Batch.objects.count() == 1


def test_options_from_the_terminal_are_shown_and_kept(web: Client) -> None:
    batch = drafted(web, rows(3))
    assert "id_options" not in html(web.get(batch.get_absolute_url()))
    Batch.objects.filter(pk=batch.pk).update(options={"top_p": 0.5}, model=MODEL)
    assert "top_p" in html(web.get(batch.get_absolute_url()))
    wrong = press_start(web, batch, options='{"prompt": "x"}')
    assert "The option “prompt” is filled in from the question" in said(wrong)
    press_start(web, batch)
    batch.refresh_from_db()
    assert batch.options == {"top_p": 0.5}


def test_a_model_that_is_no_longer_on_offer_stays_chosen(web: Client) -> None:
    listed = {model.name for model in catalogue.models()}
    unlisted = next(m for m in catalogue._read().models if m.name not in listed)
    batch = drafted(web, rows(3))
    Batch.objects.filter(pk=batch.pk).update(model=unlisted.name)
    page = html(web.get(batch.get_absolute_url()))
    assert chosen_model(page) == (unlisted.name, unlisted.task)


@pytest.mark.parametrize(
    ("encoding", "sentence"),
    [
        ("utf-8", "read as UTF-8 Read the text as"),
        ("cp1251", "recognised as Windows-1251 (Cyrillic) Read the text as"),
    ],
)
def test_the_page_says_which_encoding_a_file_is_read_in(
    web: Client, encoding: str, sentence: str
) -> None:
    review = "Комната была чистая и тихая и персонал вежливый: приедем ещё раз!"
    upload(web, f"id,review\n1,{review}\n".encode(encoding))
    page = said(web.get(Batch.objects.get().get_absolute_url()))
    assert sentence in page
    assert "commas Between the cells is a" in page
    assert page.count("2 columns") == 1
    assert review in page


def test_a_model_that_needs_the_paid_plan_says_so(web: Client) -> None:
    batch = drafted(web, rows(2))
    cards = listed_models(web, batch).split('<label class="model-card">')[1:]
    said_so = ["needs the Workers Paid plan" in card.split("</label>")[0] for card in cards]
    chat = [model for model in catalogue.models() if model.task == "chat"]
    assert said_so == [model.needs_paid_plan for model in chat]
    assert True in said_so


# -- pasted -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "columns", "rows"),
    [
        ("id\treview\n7\tLovely\n8\tNoisy\n", "Pasted table", ("id", "review"), 2),
        ("Where is it?\r\nWhen does it come?\r\n", "Pasted list", ("prompt",), 2),
    ],
)
def test_a_pasted_table_is_a_file_too(
    web: Client, text: str, name: str, columns: tuple[str, ...], rows: int
) -> None:
    response = web.post(reverse("new"), {"pasted": text})
    batch = Batch.objects.get()
    assert response["Location"] == batch.get_absolute_url()
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert (batch.name, batch.columns, batch.rows) == (name, columns, rows)


def test_what_was_pasted_and_cannot_be_used_is_there_to_be_corrected(web: Client) -> None:
    response = web.post(reverse("new"), {"pasted": "id\treview\n"}, headers=HTMX)
    assert response.status_code == 422
    assert "but no rows under it" in said(response)
    assert "id\treview\n</textarea>" in html(response)


def test_nothing_pasted_is_nothing_chosen(web: Client) -> None:
    assert "No file was chosen." in said(web.post(reverse("new"), {"pasted": "  \n"}))
