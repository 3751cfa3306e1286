"""Questions to start from, and the questions that a team has saved."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from batchui.batches.models import Batch, SavedQuestion
from batchui.batches.saved_questions import MOST_SAVED
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.prompts.template import Template
from batchui.teams.models import User
from batchui.web.asking.guessing import text_column
from batchui.web.asking.starting_points import SHOWN, STARTING_POINTS, StartingPoint
from tests.batches.conftest import MODEL
from tests.teams.people import outsider
from tests.web.visiting import HTMX, answers, drafted, element, html, press_start, said, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_file_is_small")]

REVIEWS = b"id,town,review\n1,Porto,A lovely room with a view of the river\n2,Faro,Noisy\n"
TRANSLATION = "@cf/meta/m2m100-1.2b"


@pytest.fixture
def draft(web: Client) -> Batch:
    return drafted(web, REVIEWS, "reviews.csv")


def choose(web: Client, draft: Batch, slug: str, **typed: str) -> str:
    address = reverse("start_from", args=[draft.pk, slug])
    response = web.post(address, answers(draft, **typed), headers=HTMX)
    assert response.status_code == 200
    draft.refresh_from_db()
    return html(response)


def save(web: Client, draft: Batch, name: str, **typed: str) -> str:
    """Save the question of a draft; returns what the menu says then."""
    address = reverse("save_question", args=[draft.pk])
    response = web.post(address, answers(draft, **typed) | {"question_name": name}, headers=HTMX)
    assert response.status_code in (200, 422)
    return said(response)


# -- guesses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "hints", "column"),
    [
        (REVIEWS, ("review",), "review"),
        (REVIEWS, ("town",), "town"),
        (REVIEWS, ("nothing",), "review"),  # the longest texts
        (b"note,story\nx,a long story\n", ("story", "note"), "story"),  # the first hint counts
        (b"Guest Review,story\nx,a long story\n", ("review",), "Guest Review"),
    ],
)
def test_the_column_with_the_texts_is_guessed(
    web: Client, content: bytes, hints: tuple[str, ...], column: str
) -> None:
    assert text_column(drafted(web, content), hints) == column


def test_two_columns_are_compared_that_are_not_the_same(web: Client, draft: Batch) -> None:
    choose(web, draft, "compare")
    assert "First: {{review}}\n\nSecond: {{town}}" in draft.template
    one = drafted(web, b"review\nFine\n")
    choose(web, one, "compare")
    assert one.template.count("{{review}}") == 2


# -- starting points ----------------------------------------------------------------------------


@pytest.mark.parametrize("point", STARTING_POINTS, ids=lambda point: point.slug)
def test_each_starting_point_is_a_question_that_can_be_started(
    web: Client, draft: Batch, point: StartingPoint
) -> None:
    page = choose(web, draft, point.slug)
    assert f"“{point.label}” was filled in." in page
    assert Template(draft.template).bind(draft.columns).used
    assert draft.ask.answer_columns == point.columns
    web.post(
        reverse("start", args=[draft.pk]),
        {"model": draft.model, "template": draft.template, "max_tokens": "100"},
    )
    draft.refresh_from_db()
    assert draft.status in (BatchStatus.PREPARING, BatchStatus.QUEUED)


def test_the_page_offers_all_of_them_some_in_a_menu(web: Client, draft: Batch) -> None:
    page = html(web.get(draft.get_absolute_url()))
    offered = re.findall(r'id="start-from-([\w-]+)"', page)
    assert offered == [point.slug for point in STARTING_POINTS]
    assert len(set(offered)) == len(offered) >= 12
    menu = page.split('id="points"')[1]
    assert menu.count('id="start-from-') == len(STARTING_POINTS) - SHOWN


def test_what_was_typed_comes_back_with_undo(web: Client, draft: Batch) -> None:
    typed = {"template": "My own words about {{town}}", "instruction": "Be brief."}
    page = choose(web, draft, "tone", **typed)
    assert "{{review}}" in draft.template
    assert (draft.instruction, len(draft.ask.answer_columns)) == ("", 2)
    assert reverse("undo_question", args=[draft.pk]) in page
    back = web.post(reverse("undo_question", args=[draft.pk]), headers=HTMX)
    assert "My own words about {{town}}</textarea>" in html(back)
    draft.refresh_from_db()
    assert (draft.instruction, draft.ask.answer_columns) == ("Be brief.", ())
    assert "Undo" not in html(back).split('id="ask"')[1].split("</form>")[0]
    before = draft.template
    web.post(reverse("undo_question", args=[draft.pk]), headers=HTMX)  # a second press
    draft.refresh_from_db()
    assert draft.template == before


def test_a_chosen_model_stays_unless_it_answers_no_questions(web: Client, draft: Batch) -> None:
    choose(web, draft, "summarise", model=MODEL)
    assert draft.model == MODEL
    choose(web, draft, "summarise", model=TRANSLATION)
    assert draft.model == catalogue.DEFAULT_MODEL


def test_the_sheet_gets_the_columns_of_the_answer(web: Client, draft: Batch) -> None:
    page = choose(web, draft, "tone")
    sheet = page[page.index('id="grid-area"') :]
    assert 'hx-swap-oob="true"' in element(page, "grid-area")
    assert "because" in sheet
    assert 'id="try-ticked"' in sheet


def test_rows_that_are_skipped_are_said_with_the_question_that_skips_them(web: Client) -> None:
    draft = drafted(web, b"id,review\n1,Lovely\n2,\n3,Noisy\n", "reviews.csv")
    [said_of_rows] = re.findall(r'id="skips-words".*?</span>', choose(web, draft, "tone"), re.S)
    assert "1 row is skipped" in said_of_rows


def test_a_starting_point_that_is_not_there_is_not_found(web: Client, draft: Batch) -> None:
    address = reverse("start_from", args=[draft.pk, "nonsense"])
    assert web.post(address, answers(draft), headers=HTMX).status_code == 404


def test_a_started_batch_is_asked_nothing_else(web: Client, draft: Batch) -> None:
    press_start(web, draft, template="{{review}}")
    web.post(reverse("start_from", args=[draft.pk, "tone"]), headers=HTMX)
    draft.refresh_from_db()
    assert draft.template == "{{review}}"


# -- saved questions ----------------------------------------------------------------------------


def test_a_question_is_saved_and_used_for_another_file(web: Client, draft: Batch) -> None:
    choose(web, draft, "tone")
    assert "“Tone of reviews” is saved." in save(
        web, draft, "  Tone of\nreviews ", template=draft.template, instruction="Be fair."
    )
    saved = SavedQuestion.objects.get()
    assert (saved.name, saved.team, saved.instruction) == (
        "Tone of reviews",
        draft.team,
        "Be fair.",
    )
    other = drafted(web, REVIEWS, "june.csv")
    address = reverse("use_saved", args=[other.pk, saved.pk])
    used = web.post(address, answers(other, template="Mine", reference_column="id"), headers=HTMX)
    assert "“Tone of reviews” was filled in." in html(used)
    other.refresh_from_db()
    assert (other.template, other.instruction) == (draft.template, "Be fair.")
    assert other.ask.answer_columns == draft.ask.answer_columns
    assert other.reference_column == "id"  # it is about this file
    web.post(reverse("undo_question", args=[other.pk]), headers=HTMX)
    other.refresh_from_db()
    assert (other.template, other.saved_question) == ("Mine", None)


@pytest.mark.parametrize(
    ("content", "template", "sentence"),
    [
        # The only one that is missing gets the texts.
        (
            b"number,comment\n1,Very nice indeed\n",
            "Rate {{comment}}",
            "It asks about “comment” in place of “review”.",
        ),
        (b"id,x\n1,fine\n", "Rate {{x}}", "It asks about “x” in place of “review”."),
        # A name that is like it comes before the one with the texts.
        (
            b"story,Guest review\na very long story,Nice\n",
            "Rate {{Guest review}}",
            "It asks about “Guest review” in place of “review”.",
        ),
        (b"review,x\nNice,a very long text\n", "Rate {{review}}", ""),
    ],
)
def test_a_saved_question_finds_its_column_under_another_name(
    web: Client, draft: Batch, content: bytes, template: str, sentence: str
) -> None:
    save(web, draft, "Rating", template="Rate {{review}}")
    other = drafted(web, content)
    page = use(web, other)
    assert other.template == template
    assert sentence in page
    assert ("in place of" in page) is bool(sentence)


def use(web: Client, batch: Batch) -> str:
    """Use the saved question for a draft; returns the words of the page then."""
    address = reverse("use_saved", args=[batch.pk, SavedQuestion.objects.get().pk])
    page = said(web.post(address, answers(batch), headers=HTMX))
    batch.refresh_from_db()
    return page


def test_of_several_missing_columns_none_is_guessed(web: Client, draft: Batch) -> None:
    save(web, draft, "Both", template="{{review}} from {{town}}, {{id}}")
    other = drafted(web, b"id,one,two\n1,Very nice,also nice\n")
    page = use(web, other)
    assert "This file has no columns “review” and “town”: choose one for the question." in page
    assert other.template == "{{review}} from {{town}}, {{id}}"
    # A column that the question uses already is not taken for another one.
    one = drafted(web, b"id\n1\n")
    SavedQuestion.objects.update(template="{{id}}: {{review}}")
    assert "This file has no column “review”" in use(web, one)
    assert one.template == "{{id}}: {{review}}"


def test_which_batches_used_a_question_is_said(web: Client, draft: Batch) -> None:
    save(web, draft, "Tone", template="Judge {{review}}")
    assert "No batch has used it yet." in said(web.get(reverse("saved_questions")))
    draft.refresh_from_db()
    press_start(web, draft, template="Judge {{review}}")
    page = web.get(reverse("saved_questions"))
    assert "Used by 1 batch: reviews" in said(page)
    assert f'href="{draft.get_absolute_url()}"' in html(page)


@pytest.mark.parametrize(
    ("name", "template", "sentence"),
    [
        ("  ", "Judge {{review}}", "Give the question a name."),
        ("tone", "Judge {{review}}", "There is a saved question with this name."),
        ("New", "  ", "Write what to ask first."),
    ],
)
def test_a_question_that_cannot_be_saved_says_why(
    web: Client, draft: Batch, name: str, template: str, sentence: str
) -> None:
    save(web, draft, "Tone", template="Judge {{review}}")
    assert sentence in save(web, draft, name, template=template)
    assert SavedQuestion.objects.count() == 1


def test_a_team_saves_only_so_many(web: Client, draft: Batch) -> None:
    SavedQuestion.objects.bulk_create(
        SavedQuestion(team=draft.team, name=f"q{number}") for number in range(MOST_SAVED)
    )
    assert "Delete one that nobody uses." in save(web, draft, "One more", template="{{review}}")


def test_a_question_is_renamed_deleted_and_brought_back(web: Client, draft: Batch) -> None:
    save(web, draft, "Tone", template="Judge {{review}}")
    save(web, draft, "Length", template="Count {{review}}")
    tone = SavedQuestion.objects.get(name="Tone")
    renamed = web.post(reverse("rename_question", args=[tone.pk]), {"name": "length"}, follow=True)
    assert "There is a saved question with this name." in html(renamed)
    web.post(reverse("rename_question", args=[tone.pk]), {"name": " TO\0NE\n"})
    tone.refresh_from_db()
    assert tone.name == "TONE"
    gone = web.post(reverse("delete_question", args=[tone.pk]), follow=True)
    assert "“TONE” was deleted." in html(gone)
    assert "TONE" not in html(web.get(draft.get_absolute_url()))
    assert web.post(reverse("use_saved", args=[draft.pk, tone.pk])).status_code == 404
    web.post(reverse("restore_question", args=[tone.pk]))
    assert "TONE" in html(web.get(draft.get_absolute_url()))


def test_the_questions_of_another_team_are_neither_seen_nor_used(
    web: Client, draft: Batch, ana: User
) -> None:
    save(web, draft, "Secret wording", template="Judge {{review}}")
    saved = SavedQuestion.objects.get()
    stranger = signed_in(outsider())
    theirs = drafted(stranger, REVIEWS)
    assert "Secret wording" not in html(stranger.get(theirs.get_absolute_url()))
    assert "Secret wording" not in html(stranger.get(reverse("saved_questions")))
    assert stranger.post(reverse("use_saved", args=[theirs.pk, saved.pk])).status_code == 404
    for name in ("rename_question", "delete_question", "restore_question"):
        address = reverse(name, args=[saved.pk])
        assert stranger.post(address, {"name": "Mine"}).status_code == 404
    saved.refresh_from_db()
    assert (saved.name, saved.deleted_at) == ("Secret wording", None)


def test_the_page_asks_as_little_for_many_questions_as_for_few(web: Client, draft: Batch) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            web.get(reverse("saved_questions"))
        return len(caught)

    for number in range(3):
        save(web, draft, f"q{number}", template="{{review}}")
    few = queries()
    for number in range(3, 12):
        save(web, draft, f"q{number}", template="{{review}}")
    assert queries() == few
