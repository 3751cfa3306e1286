"""The page before Start in a real browser: what follows the typing, and what Start leaves."""

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.teams.models import User
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults, sticks_out
from tests.web.visiting import drafted

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

__all__ = ["new_page"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("every_file_is_small"),
]

REVIEWS = b"id,review,rating\n1,Lovely room,5\n2,Noisy street,2\n3,,4\n"


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana, viewport={"width": 1280, "height": 860})
    opened.set_default_timeout(PATIENCE)
    return opened


@pytest.fixture
def draft(web: Client, page: "Page") -> Batch:
    """A draft whose page is open, with the field of the question ready to be written in."""
    batch = drafted(web, REVIEWS, "reviews.csv")
    page.goto(batch.get_absolute_url())
    page.locator("#id_template:focus").wait_for()
    return batch


def question(page: "Page") -> str:
    return page.locator("#id_template").input_value()


def test_the_question_has_the_focus_and_start_is_in_view_beside_the_sheet(
    page: "Page", draft: Batch
) -> None:
    page.locator("#id_template:focus").wait_for()
    boxes = [page.locator(at).bounding_box() for at in ("#id_template", "#grid", "#start-button")]
    left, right, start = (box for box in boxes if box)
    assert left["x"] + left["width"] <= right["x"]
    assert start["y"] + start["height"] <= 860
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_two_braces_offer_the_columns_and_the_keyboard_chooses_one(
    page: "Page", draft: Batch
) -> None:
    page.keyboard.type("Judge {{")
    options = page.locator("#column-list [role=option]")
    assert options.all_inner_texts() == ["id", "review", "rating"]
    page.keyboard.type("R")
    assert options.all_inner_texts() == ["review", "rating"]
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#column-list [aria-selected=true]")
    assert chosen.inner_text() == "rating"
    active = page.locator("#id_template").get_attribute("aria-activedescendant")
    assert active == chosen.get_attribute("id")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert question(page) == "Judge {{review}}"
    assert not page.locator("#column-list").is_visible()
    page.keyboard.type(" by {{rat")
    page.keyboard.press("Tab")
    assert question(page) == "Judge {{review}} by {{rating}}"
    page.locator("#id_template:focus").wait_for()
    page.keyboard.type(" {{")
    page.keyboard.press("Escape")
    assert not page.locator("#column-list").is_visible()
    assert question(page).endswith(" {{")


def test_a_name_that_is_corrected_keeps_its_braces(page: "Page", draft: Batch) -> None:
    page.keyboard.type("Of {{}} now")
    for _ in range(len("}} now")):
        page.keyboard.press("ArrowLeft")
    page.keyboard.type("rev")
    page.locator("#column-list").get_by_text("review").click()
    assert question(page) == "Of {{review}} now"
    assert page.locator("[data-used]").all_inner_texts() == ["review"]


def test_a_question_to_start_from_takes_the_place_of_what_was_typed_until_undo(
    page: "Page", draft: Batch
) -> None:
    page.keyboard.type("My own words about {{rating}}")
    page.get_by_role("button", name="Judge the tone").click()
    page.get_by_text("“Judge the tone” was filled in.").wait_for()
    assert question(page).endswith("Text: {{review}}")
    page.locator("#id_template:focus").wait_for()
    page.locator("#grid").get_by_text("because", exact=True).wait_for()
    page.get_by_role("button", name="Start: 2 rows").wait_for()
    page.locator("#undo-question").click()
    page.get_by_text("The question is as it was before.").wait_for()
    assert question(page) == "My own words about {{rating}}"
    assert page.locator("#grid").get_by_text("because", exact=True).count() == 0
    page.locator("#saved").get_by_text("Saved", exact=True).wait_for()


def test_a_question_is_saved_by_enter_and_used_from_the_menu(page: "Page", draft: Batch) -> None:
    page.keyboard.type("Rate {{review}}")
    page.get_by_role("button", name="Saved questions").click()
    page.get_by_label("Save this question as").fill("Rating")
    page.keyboard.press("Enter")
    page.get_by_text("“Rating” is saved.").wait_for()
    assert faults(page) == []
    page.keyboard.press("Escape")
    page.locator("#id_template").fill("")
    page.get_by_role("button", name="Saved questions").click()
    page.get_by_role("button", name="Rating", exact=True).click()
    page.get_by_text("“Rating” was filled in.").wait_for()
    assert question(page) == "Rate {{review}}"
    draft.refresh_from_db()
    assert draft.status == BatchStatus.DRAFT


def test_the_row_in_full_follows_the_question(page: "Page", draft: Batch) -> None:
    page.keyboard.type("Rate {{review}}")
    page.locator("#row-3 td").nth(1).click()
    panel = page.locator("#panel")
    panel.get_by_text("Rate Noisy street").wait_for()
    page.locator("#id_template").fill("Sum up {{review}}")
    panel.get_by_text("Sum up Noisy street").wait_for()
    page.locator("#id_template:focus").wait_for()
    panel.get_by_role("button", name="Row 2").click()
    panel.get_by_text("Sum up Lovely room").wait_for()
    page.locator("#prompt-preview .prose", has_text="Sum up Lovely room").wait_for()
    page.reload()
    panel.get_by_text("Sum up Lovely room").wait_for()


def test_the_empty_field_says_what_suits_the_chosen_job(page: "Page", draft: Batch) -> None:
    field = page.locator("#id_template")
    assert "{{review}}" in str(field.get_attribute("placeholder"))
    page.locator("#jobs-button").click()
    page.locator("#job-translate").click()
    page.locator("#question-label", has_text="The text to translate").wait_for()
    assert field.get_attribute("placeholder") == "For example: {{review}}"
    assert page.locator("#id_target_lang").is_visible()
    assert page.locator("#answer-columns").is_hidden()
    page.locator("#undo-question").click()
    page.locator("#question-label", has_text="What to ask of every row").wait_for()


def test_nothing_is_red_while_somebody_types(page: "Page", draft: Batch) -> None:
    with page.expect_response("**/preview/"):
        page.keyboard.type("Tell me")
    page.get_by_text("The text names no column").wait_for()
    page.locator("#id_template").blur()
    red = page.locator(":is(.field-error, .form-errors, [aria-invalid=true]):visible")
    assert red.evaluate_all("all => all.map((one) => one.outerHTML)") == []


def test_the_row_whose_prompt_is_shown_follows_the_sheet_and_the_buttons(
    page: "Page", draft: Batch
) -> None:
    page.keyboard.type("Sum up: {{review}}")
    shown = page.locator("#prompt-preview .prose")
    shown.filter(has_text="Sum up: Lovely room").wait_for()
    page.locator("#row-3").click()
    shown.filter(has_text="Sum up: Noisy street").wait_for()
    page.get_by_role("button", name="The row before").press("Enter")
    shown.filter(has_text="Sum up: Lovely room").wait_for()
    page.locator("#prompt-after").press("Enter")
    shown.filter(has_text="Sum up: Noisy street").wait_for()
    page.locator("#prompt-after:focus").wait_for()


def test_a_refused_start_says_why_and_leaves_page_and_address_as_they_are(
    page: "Page", draft: Batch
) -> None:
    page.keyboard.type("Nothing of the file")
    page.get_by_role("button", name="Start: ").click()
    page.get_by_role("alert").get_by_text("Nothing was started.").wait_for()
    area = page.locator("#id_template")
    assert area.get_attribute("aria-invalid") == "true"
    assert "id_template_error" in (area.get_attribute("aria-describedby") or "")
    page.locator("#id_template:focus").wait_for()
    assert page.url.endswith(draft.get_absolute_url())
    page.goto("/people/")
    page.go_back()
    page.get_by_role("button", name="Start: ").wait_for()
    page.reload()
    assert question(page) == "Nothing of the file"
    page.locator("#id_template").fill("{{review}}")
    page.get_by_role("button", name="Start: 2 rows").wait_for()


def test_a_server_that_is_down_does_not_replace_the_page(page: "Page", draft: Batch) -> None:
    page.keyboard.type("Judge {{review}}")
    page.get_by_role("button", name="Start: 2 rows").wait_for()
    page.route("**/start/", lambda route: route.abort())
    page.get_by_role("button", name="Start: 2 rows").click()
    page.locator("#offline").wait_for()
    assert question(page) == "Judge {{review}}"
    assert page.get_by_role("button", name="Start: 2 rows").is_enabled()
    draft.refresh_from_db()
    assert draft.status == BatchStatus.DRAFT


def test_enter_in_a_field_starts_nothing(page: "Page", draft: Batch) -> None:
    page.keyboard.type("Judge {{rating}}")
    page.get_by_text("More settings").click()
    page.get_by_label("Longest answer").press("Enter")
    page.get_by_role("button", name="Change the model").click()
    page.locator("#models input:checked:focus").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#model-dialog").wait_for(state="hidden")
    page.locator("#model-line", has_text="Qwen3 30B: a light model").wait_for()
    page.locator("#change-model:focus").wait_for()
    draft.refresh_from_db()
    assert draft.status == BatchStatus.DRAFT


def test_the_draft_gets_a_name_and_a_label_from_the_keyboard(page: "Page", draft: Batch) -> None:
    page.locator("#rename").press("Enter")
    page.get_by_label("Name of this batch").fill("Reviews of May")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Reviews of May").wait_for()
    page.locator(f"#labels-edit-{draft.pk}").press("Enter")
    page.get_by_label("Labels to add to").fill("hotels")
    page.keyboard.press("Enter")
    page.locator(".label", has_text="hotels").wait_for()
    page.get_by_role("button", name="Done").press("Enter")
    page.locator(f"#labels-edit-{draft.pk}").wait_for()
    draft.refresh_from_db()
    assert (draft.name, draft.status) == ("Reviews of May", BatchStatus.DRAFT)
    assert [label.name for label in draft.labels.all()] == ["hotels"]


@pytest.mark.parametrize("width", [320, 390, 640])
def test_on_a_narrow_screen_the_question_comes_first_and_start_stays_in_view(
    page: "Page", draft: Batch, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    tops = [
        page.locator(at).evaluate("it => it.getBoundingClientRect().top")
        for at in ("#id_template", "#grid")
    ]
    assert tops == sorted(tops)
    start: Any = page.locator("#check button.primary").bounding_box()
    assert start["y"] + start["height"] <= 700
    assert start["height"] >= 36
    assert page.get_by_role("button", name="Start: 3 rows").count() == 1
    assert sticks_out(page) == []


def test_the_list_of_models_comes_when_it_is_asked_for(page: "Page", draft: Batch) -> None:
    """Late, not at all, then at the second attempt; the model stays what it was meanwhile."""
    held: list[Route] = []
    page.route("**/models/?*", lambda route: held.append(route))
    change = page.get_by_role("button", name="Change the model")
    change.press("Enter")
    page.locator("#models .skeleton").first.wait_for()
    page.wait_for_timeout(100)
    held.pop().abort()
    told = "batchui cannot be reached now. Close this, and open it again in a moment."
    page.locator("#model-dialog [role=alert]", has_text=told).wait_for()
    assert page.locator("#saved").inner_text() == "Saved"  # nothing was to be
    page.keyboard.press("Escape")
    page.locator("#change-model:focus").wait_for()
    with page.expect_response("**/preview/"):
        page.locator("#id_template").fill("Judge {{review}}")
    assert page.locator("#model-line").inner_text().startswith("Llama 3.3 70B")

    page.unroute("**/models/?*")
    change.press("Enter")
    page.locator("#models input:checked:focus").wait_for()
    with page.expect_response("**/preview/"):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    page.locator("#model-line", has_text="Qwen3 30B").wait_for()
    draft.refresh_from_db()
    assert "qwen3-30b" in draft.model
    # What was fetched stays, at the model that is chosen now.
    change.press("Enter")
    page.locator("#models input:checked:focus").wait_for()
    assert draft.model == page.locator("#models input:checked").input_value()


def test_the_encodings_come_as_soon_as_somebody_is_at_their_button(
    page: "Page", draft: Batch
) -> None:
    """Not at all, then at the second attempt, and for a pointer as for the keyboard."""
    button, chosen = page.locator("#choose-encoding-button"), page.locator("#id_reading_encoding")
    page.route("**/encodings/", lambda route: route.abort())
    button.focus()
    page.locator("#offline", has_text="batchui cannot be reached now.").wait_for()
    page.keyboard.press("Enter")
    assert chosen.input_value() == "utf-8"
    assert chosen.locator("option").count() == 1
    page.keyboard.press("Escape")
    page.locator("#choose-encoding-button:focus").wait_for()

    page.unroute("**/encodings/")
    button.hover()
    page.locator("#id_reading_encoding option").nth(20).wait_for(state="attached")
    button.press("Enter")
    chosen.focus()
    chosen.select_option("KOI8-R (Russian)")
    page.locator("#choose-encoding-button", has_text="KOI8-R").wait_for()
    draft.refresh_from_db()
    assert draft.format.encoding == "koi8-r"
