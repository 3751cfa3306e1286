"""The jobs above the question: each has its form, its models, and goes through to the download."""

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import preparing
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.prompts.jobs import BY_SLUG, JOBS
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import work
from tests.web.submitting import Ran, written
from tests.web.visiting import HTMX, answers, drafted, html, listed_models, press_start, said

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_file_is_small")]

REVIEWS = (
    b"id,town,review\n1,Porto,A lovely room with a view of the river\n2,Faro,Noisy all night\n"
)
BGE_M3, M2M = "@cf/baai/bge-m3", "@cf/meta/m2m100-1.2b"


@pytest.fixture
def draft(web: Client) -> Batch:
    return drafted(web, REVIEWS, "reviews.csv")


def choose(web: Client, draft: Batch, slug: str, **typed: str) -> str:
    """Choose a job; returns the question as the page has it then."""
    address = reverse("choose_job", args=[draft.pk, slug])
    typed = {"model": catalogue.DEFAULT_MODEL, "template": draft.template, **typed}
    response = web.post(address, answers(draft, **typed), headers=HTMX)
    assert response.status_code == 200
    draft.refresh_from_db()
    return html(response)


def start(web: Client, draft: Batch, **typed: str) -> Any:
    """Press Start with the question as the page has it."""
    names = ("model", "template", "query", "job", "effort", "target_lang", "source_lang")
    return press_start(web, draft, **{name: getattr(draft, name) for name in names} | typed)


def test_the_usual_job_is_chosen_already(web: Client, draft: Batch) -> None:
    page = html(web.get(draft.get_absolute_url()))
    chosen = page.split('id="job-ask"')[1].split(">")[0]
    assert 'aria-pressed="true"' in chosen
    assert page.count('aria-pressed="true" hx-post') <= 1
    assert 'id="job-items"' not in page
    assert 'aria-labelledby="jobs-label jobs-button">Ask about each row' in page
    for job in JOBS[:-1]:
        assert f"<span>{job.label} <small" in page


def test_a_file_of_ready_made_requests_has_the_job_of_sending_them(web: Client) -> None:
    items = drafted(web, b'{"prompt": "a"}\n', "items.jsonl")
    page = html(web.get(items.get_absolute_url()))
    assert 'aria-pressed="true"' in page.split('id="job-items"')[1].split(">")[0]
    assert 'name="as_items"' in page
    choose(web, items, "ask")
    assert not items.ask.as_items
    assert choose(web, items, "items").count('name="as_items"') == 1
    assert items.ask.as_items


def test_a_job_that_the_file_does_not_fit_is_not_there(web: Client, draft: Batch) -> None:
    for slug in ("items", "sing"):
        address = reverse("choose_job", args=[draft.pk, slug])
        assert web.post(address, answers(draft), headers=HTMX).status_code == 404


@pytest.mark.parametrize(
    ("slug", "model", "label", "others"),
    [
        ("translate", M2M, "The text to translate", {M2M}),
        ("rank", BGE_M3, "The columns with the passages", {BGE_M3}),
        ("embed", "@cf/baai/bge-base-en-v1.5", "The text to turn into numbers", None),
        ("categories", catalogue.DEFAULT_MODEL, "What to sort", None),
    ],
)
def test_a_job_offers_fitting_models_alone_and_recommends_one(
    web: Client, draft: Batch, slug: str, model: str, label: str, others: set[str] | None
) -> None:
    page = choose(web, draft, slug)
    assert draft.model == model
    assert f">{label}</label>" in page
    models = listed_models(web, draft)
    offered = {part.split('"')[0] for part in models.split('name="model" value="')[1:]}
    formats = {catalogue.find(name).item_format for name in offered}
    assert formats <= set(BY_SLUG[slug].item_formats)
    assert others in (None, offered)
    [card] = [part for part in models.split('class="model-card"')[1:] if "Recommended" in part]
    assert f'value="{model}"' in card
    assert draft.template == "{{review}}" or slug == "categories"


def test_price_speed_and_context_are_said_in_a_sentence(web: Client, draft: Batch) -> None:
    assert (
        "Medium price ($0.29 for a million tokens read, $2.25 written), neither quick nor slow, "
        "reads up to 18,000 words at a time."
    ) in said(web.get(draft.get_absolute_url()))


def test_an_embedding_model_reads_as_much_as_it_reads(web: Client, draft: Batch) -> None:
    choose(web, draft, "embed")
    models = listed_models(web, draft)
    card = models.split('value="@cf/baai/bge-base-en-v1.5"')[1].split("</label>")[0]
    assert "reads up to 380 words at a time." in card


def test_what_was_typed_stays_where_it_fits_and_can_be_brought_back(
    web: Client, draft: Batch
) -> None:
    choose(web, draft, "fields", template="Who is in {{review}}?")
    assert draft.template == "Who is in {{review}}?"
    assert draft.ask.answer_columns
    choose(web, draft, "translate", template=draft.template)
    assert (draft.template, draft.ask.answer_columns) == ("{{review}}", ())
    web.post(reverse("undo_question", args=[draft.pk]), headers=HTMX)
    draft.refresh_from_db()
    assert draft.template == "Who is in {{review}}?"
    choose(web, draft, "ask", template=draft.template, model=catalogue.DEFAULT_MODEL)
    assert draft.ask.answer_columns == ()


def test_the_languages_are_listed_only_where_something_is_translated(
    web: Client, draft: Batch
) -> None:
    choose(web, draft, "translate")
    page = choose(web, draft, "ask", target_lang="de", source_lang="fr")
    assert "German" not in page
    assert (draft.target_lang, draft.source_lang) == ("de", "fr")
    page = choose(web, draft, "translate", target_lang="de", source_lang="fr")
    assert '<option value="de" selected>German' in page
    assert '<option value="fr" selected>French' in page


def test_the_categories_are_open_to_be_written(web: Client, draft: Batch) -> None:
    page = choose(web, draft, "categories")
    line = page.split('id="answer-lines"')[1].split("</section>")[0]
    assert "<details open" in line
    assert "praise; complaint" in line
    assert [column.kind for column in draft.ask.answer_columns] == ["one_of"]


@pytest.mark.parametrize(
    ("slug", "changes", "sentence"),
    [
        ("translate", {}, "Choose the language to translate into."),
        ("rank", {}, "Write what to rank the passages against"),
        ("rank", {"query": "Noise?", "template": "In {{review}}"}, "Each passage is the text of"),
        ("fields", {"answer_columns": "[]"}, "Add a column for each field that you want"),
        ("categories", {"answer_columns": "[]"}, "Add a column with the categories"),
    ],
)
def test_what_a_job_cannot_do_without_is_said_at_start(
    web: Client, draft: Batch, slug: str, changes: dict[str, str], sentence: str
) -> None:
    choose(web, draft, slug)
    response = start(web, draft, **changes)
    assert response.status_code == 422
    assert sentence in said(response)


@pytest.mark.parametrize(
    ("slug", "typed", "columns"),
    [
        ("ask", {"template": "Sum up: {{review}}"}, ["answer"]),
        ("fields", {}, ["people", "organisations", "places"]),
        ("categories", {}, ["category"]),
        ("translate", {"target_lang": "de"}, ["translation"]),
        ("embed", {}, ["embedding"]),
        ("rank", {"query": "Is it noisy?", "template": "{{review}}{{town}}"}, ["answer"]),
    ],
)
def test_each_job_goes_through_to_the_download(
    web: Client,
    sandbox: RunningSandbox,
    draft: Batch,
    slug: str,
    typed: dict[str, str],
    columns: list[str],
) -> None:
    choose(web, draft, slug)
    assert start(web, draft, **typed).status_code == 302
    preparing.prepare(draft.pk)
    batch = work(Batch.objects.get(pk=draft.pk))
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 2), batch.problem
    assert batch.ask.job == slug
    sent = b"".join(web.get(reverse("download", args=[batch.pk, "csv"])).streaming_content)  # type: ignore[attr-defined]
    header, *rows = csv.reader(io.StringIO(sent.decode("utf-8-sig"), newline=""))
    assert len(rows) == 2
    made = [name for name in header if name not in ("id", "town", "review", "status", "error")]
    assert len(made) >= len(columns)
    first = dict(zip(header, rows[0], strict=True))
    if slug == "rank":
        [answer] = [first[name] for name in made]
        assert {"id", "score"} == set(json.loads(answer)[0])
        assert len(json.loads(answer)) == 2


def test_the_terminal_ranks_by_a_query(sandbox: RunningSandbox, tmp_path: Any) -> None:
    output = tmp_path / "out.jsonl"
    file = written(tmp_path, REVIEWS)
    options = ("--text-column", "review", "--query", "Noise?", "--wait", "--output", str(output))
    assert Ran(file, *options, model=BGE_M3).status == 0
    [first, _] = [json.loads(line) for line in output.read_text().splitlines()]
    assert "score" in json.dumps(first)


def test_what_a_job_began_with_goes_with_it_unless_somebody_changed_it(
    web: Client, draft: Batch
) -> None:
    choose(web, draft, "fields", template="")
    names = [column["name"] for column in draft.answer_columns]
    assert (draft.template.split(".")[0], names[0]) == ("Find the names in this text", "people")
    filled = {"template": draft.template, "answer_columns": json.dumps(draft.answer_columns)}
    choose(web, draft, "categories", **filled)
    assert draft.template.startswith("Sort this text")
    assert [column["name"] for column in draft.answer_columns] == ["category"]
    filled = {"template": draft.template, "answer_columns": json.dumps(draft.answer_columns)}
    choose(web, draft, "ask", **filled)
    assert draft.template == ""
    choose(web, draft, "fields", template="Find who {{text}} thanks")
    assert draft.template == "Find who {{text}} thanks"
