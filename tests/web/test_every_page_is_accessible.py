"""axe finds nothing, however slight, on any page and in any state: light, dark, and on a phone.

What other tests look at besides: the forms of people (`test_people_pages_are_accessible.py`), the
questions about parts (`test_deciding_in_the_browser.py`), and the story of `tests/stories`.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import deleting, labels, saved_questions
from batchui.batches.models import Batch, TriedRow
from batchui.batches.states import BatchStatus, PartStatus, Question
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import invitations
from batchui.teams.models import Connection, Team, User
from batchui.worker.heartbeat import beat
from tests.batches.books import reviews
from tests.batches.conftest import MODEL, MakeBatch, rows
from tests.batches.sheet.made import WAITS, cut, made, no, yes
from tests.batches.trying import ask_all, begun
from tests.conftest import PATIENCE
from tests.stories.visitors import COLOURS, faults, sticks_out
from tests.teams.people import join
from tests.turns import has_turn, turn
from tests.web.deciding import asked
from tests.web.linked_styles import unlinked_rules
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.visiting import drafted, signed_in

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TURNS = 3
DESK: "ViewportSize" = {"width": 1280, "height": 900}
TABLET: "ViewportSize" = {"width": 820, "height": 1000}
PHONE: "ViewportSize" = {"width": 390, "height": 800}
COLUMNS = (
    AnswerColumn("tone", "one_of", ("good", "mixed", "bad")),
    AnswerColumn("stars", "number"),
    AnswerColumn("topics", "several_of", ("room", "food")),
    AnswerColumn("because"),
)
REVIEWS = "id,review,stars\n" + "".join(f"{n},Room {n} was fine,{n % 5}\n" for n in range(1, 13))


@dataclass(frozen=True)
class State:
    """A page, and what is pressed on it, one after the other, until `shows` is there.

    Where `typed` is given, it is written into the last field that is pressed.
    """

    name: str
    address: str
    press: tuple[str, ...] = ()
    shows: str = ""
    typed: str = ""


def problems(page: "Page", state: State) -> list[str]:
    """What is wrong with a state: by all rules in the light, by its colours in the dark, and by
    the other rules on a phone."""
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(state.address)
    for selector in state.press:
        page.locator(selector).first.click()
    if state.typed:
        page.keyboard.type(state.typed)
    if state.shows:
        page.locator(state.shows).first.wait_for()
    found = [f"no stylesheet has {rule}" for rule in unlinked_rules(page)]
    found += [f"light: {fault}" for fault in faults(page)]
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"dark: {fault}" for fault in faults(page, rules=COLOURS)]
    for name, size in (("tablet", TABLET), ("phone", PHONE)):
        page.set_viewport_size(size)
        found += [f"{name}: sticks out: {element}" for element in sticks_out(page)]
    found += [f"phone: {fault}" for fault in faults(page, but=COLOURS)]
    return found


def found_in(page: "Page", states: list[State]) -> dict[str, list[str]]:
    """What is wrong with these states, by name; every one of them is looked at.

    At each commit it is a third of them, by turns. `BATCHUI_ALL_TURNS=1` looks at all.
    """
    from playwright.sync_api import Error

    found = {}
    whose = turn(TURNS)
    for state in [state for state in states if has_turn(state.name, whose, TURNS)]:
        try:
            found[state.name] = problems(page, state)
        except Error as problem:
            found[state.name] = [f"cannot be reached: {problem}"]
    return {name: faults for name, faults in found.items() if faults}


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    return opened


def answers(count: int, first: int = 1) -> list[Any]:
    """Answers in columns of so many rows."""
    tones = ("good", "mixed", "bad")
    return [
        yes({"tone": tones[n % 3], "stars": n % 5, "topics": ["room"], "because": f"Of row {n}."})
        for n in range(first, first + count)
    ]


def finished(team: Team, **fields: Any) -> Batch:
    """A batch with answers in columns, of which none is missing."""
    fields = {"status": BatchStatus.FINISHED, "finished_at": timezone.now()} | fields
    return made(team, answers(5), answers(3, 6), answer_columns=to_json(COLUMNS), **fields)


def with_problems(team: Team, **fields: Any) -> Batch:
    """The same; some rows have none, and one was cut off."""
    some = [*answers(4), no("failed", "Gate 3 is shut."), no("empty"), no("missing"), no("unfit")]
    more = [*answers(3, 9), cut({"tone": "good", "because": "It begins well, and th"})]
    fields = {"finished_at": timezone.now()} | fields
    return made(team, some, more, answer_columns=to_json(COLUMNS), **fields)


def ended(team: Team) -> list[State]:
    """The pages of batches that have ended, and what opens on them."""
    whole, broken = finished(team, name="Reviews"), with_problems(team, name="Letters")
    markdown = (
        "# A head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n[link](https://x.org)"
    )
    texts = made(team, [yes(markdown), yes({"a": [1]}), yes([0.5, -0.5] * 20)], name="Texts")
    labels.add(whole, "For Ana")
    sheet, problems = whole.get_absolute_url(), broken.get_absolute_url()
    retry, raises = "#row-again", "button:has-text('Raise the limit')"
    return [
        State("finished", sheet, shows="#grid-rows"),
        State("at a glance", sheet, ("button:has-text('At a glance')",)),
        State("more", sheet, ("button[popovertarget=actions]",), "#actions"),
        State("downloads", sheet, ("button[popovertarget=downloads]",), "#downloads"),
        State("view", sheet, ("#view-button",), "#view-menu"),
        State("keys", sheet, ("#keys-button",), "#keys-head"),
        State("rename", sheet, ("#rename",), "#title-form"),
        State("labels", sheet, (f"#labels-edit-{whole.pk}",), ".label-form"),
        State(
            "to delete",
            sheet,
            ("button[popovertarget=actions]", "#actions .danger"),
            "#decision-detail h2",
        ),
        State("edit a choice", f"{sheet}rows/2/", ("#edit-2-0",), "#panel select"),
        State("edit several", f"{sheet}rows/2/", ("#edit-2-2",), "#panel [type=checkbox]"),
        State("edit a text", f"{sheet}rows/2/", ("#edit-2-3",), "#panel textarea"),
        State("nothing found", f"{sheet}?q=nowhere"),
        State("found", f"{sheet}?show=&q=text+1"),
        State("a value", f"{sheet}?show=value:tone=good"),
        State("with problems", problems, shows="#grid-rows"),
        State("all rows", f"{problems}?show=", shows="#grid-rows"),
        State("a ticked row", f"{problems}?show=", ("#grid-rows input",), "#ask-ticked"),
        State("attention", f"{problems}attention/", shows="#attention"),
        State("a higher limit", f"{problems}attention/", (raises,), "#longest-answer"),
        State("timeline", f"{problems}timeline/", shows="#timeline"),
        State("parts", f"{problems}parts/", shows="#parts"),
        State("a part", f"{problems}parts/", ("#parts button",), "#part-dialog[open] h2"),
        State("asked", f"{problems}asked/"),
        State("a row", f"{problems}?show=", ("#open-5",), "#panel-head"),
        State("a row, alone", f"{problems}rows/6/", shows="#panel-head"),
        State("its reply", f"{problems}rows/5/", ("#row-technical summary",), "#row-reply"),
        State("ask it again", f"{problems}rows/5/", (retry,), "#decision-dialog[open] h2"),
        State("choose a download", f"{problems}download/"),
        State("Markdown", f"{texts.get_absolute_url()}rows/1/", shows="#panel-head"),
        State("JSON", f"{texts.get_absolute_url()}rows/2/", shows="#panel-head"),
        State("a list of numbers", f"{texts.get_absolute_url()}rows/3/", shows="#panel-head"),
    ]


def test_batches_that_have_ended(page: "Page", team: Team) -> None:
    assert found_in(page, ended(team)) == {}


def test_batches_that_are_under_way(
    page: "Page", team: Team, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    queued = start(rows(60)).get_absolute_url()
    half = made(
        team,
        answers(5),
        [WAITS] * 3,
        status=BatchStatus.RUNNING,
        answer_columns=to_json(COLUMNS),
        name="Half",
    )
    half.parts.filter(number=2).update(status=PartStatus.RUNNING)
    unsure = asked(team, Question.UNCLEAR).get_absolute_url()
    stopped = finished(team, name="Stopped", status=BatchStatus.STOPPED)
    found = found_in(
        page,
        [
            State("queued", queued, shows="#grid-rows"),
            State("running", half.get_absolute_url(), shows="#grid-rows"),
            State("a waiting row", f"{half.get_absolute_url()}rows/7/", shows="#panel-head"),
            State("to stop", queued, ("#stop-button",), "#decision-dialog[open] h2"),
            State("its timeline", f"{queued}timeline/", shows="#timeline"),
            State("a question", unsure),
            State("stopped", stopped.get_absolute_url()),
        ],
    )
    hour = timezone.now() + timedelta(hours=1)
    Connection.objects.update(paused_until=hour, pause_reason="Cloudflare asks for a pause.")
    assert found | found_in(page, [State("paused", queued)]) == {}


@pytest.fixture
def draft(web: Client, every_file_is_small: None) -> Batch:
    """A workbook that has a question; one of its rows has nothing to ask about."""
    batch = drafted(web, reviews(), "reviews.xlsx")
    ask = Ask(model=MODEL, template="Judge {{id}}", answer_columns=to_json(COLUMNS))
    saved_questions.fill_in(batch, ask)
    batch.refresh_from_db()
    saved_questions.save(batch, "Judge a review", by=None)
    return batch


def test_drafts(page: "Page", draft: Batch, web: Client, receive: MakeBatch) -> None:
    here = draft.get_absolute_url()
    plain = drafted(web, REVIEWS.encode(), "reviews.csv").get_absolute_url()
    uneven = drafted(web, b"id,text\n1,a\n2\n3,,d\n", "uneven.csv")
    broken = drafted(web, b"id,text\n" + b"1,some text\n" * 40_000 + b'2,"open\n', "broken.csv")
    reading = drafted(web, REVIEWS.encode(), "again.csv")
    Batch.objects.filter(pk=reading.pk).update(status=BatchStatus.CHECKING)
    states = [
        State("new", reverse("new")),
        State("nothing asked yet", plain),
        State("columns are offered", plain, ("#id_template",), "#column-list li", "{{"),
        State("refused", plain, ("#start-button",), "#id_template[aria-invalid=true]"),
        State("starting points", plain, ("#more-points",), "#points"),
        State("filled in", plain, ("#start-from-summarise",), ".filled-in"),
        State("saved questions", here, ("#saved-points",), "#saved-questions"),
        State("models", here, ("#change-model",), "#models .model-card"),
        State("the sheets", here, ("#choose-sheet-button",), "#choose-sheet"),
        State("the header row", here, ("#choose-header_row-button",), "#choose-header_row"),
        State("rows that are skipped", here, ("#skips-button",), "#skips-note"),
        State("how reckoned", here, ("[popovertarget=reckoned]",), "#reckoned"),
        State("rows to try", here, ("#try-which",), "#try-menu"),
        State("a schema", here, ("#paste-schema summary",), "#id_column_schema"),
        State("instruction", here, ("#instruction summary",)),
        State("more settings", here, ("#more-settings summary",)),
        State("discard", here, ("[data-opens=delete-dialog]",), "#delete-dialog[open]"),
        State("a row", here, ("#grid-rows [id^=open]",), "#panel[open] h2"),
        State("being read", reading.get_absolute_url()),
        State("uneven", uneven.get_absolute_url()),
        State("its problems", reverse("row_problems", args=[uneven.pk])),
        State("unusable", broken.get_absolute_url()),
    ]
    assert found_in(page, states) == {}


def test_the_jobs_of_a_draft(page: "Page", web: Client, every_file_is_small: None) -> None:
    here = drafted(web, REVIEWS.encode(), "reviews.csv").get_absolute_url()
    inside = b'{"contexts": [{"text": "Rain", "external_reference": "r-1"}]}\n'
    items = drafted(web, inside, "items.jsonl").get_absolute_url()
    thinking = drafted(web, REVIEWS.encode(), "thinking.csv")
    ask = Ask(model="@cf/google/gemma-4-26b-a4b-it", template="Judge {{id}}")
    saved_questions.fill_in(thinking, ask)
    states = [
        State("its jobs", here, ("#jobs-button",), "#job-rank"),
        State(
            "categories", here, ("#jobs-button", "#job-categories"), ".answer-line details[open]"
        ),
        State("translate", here, ("#jobs-button", "#job-translate"), "#id_target_lang"),
        State("rank", here, ("#jobs-button", "#job-rank"), "#id_query"),
        State(
            "rank, refused",
            here,
            ("#jobs-button", "#job-rank", "#start-button"),
            "#id_query[aria-invalid=true]",
        ),
        State("its model", here, ("#change-model",), "#models .model-card"),
        State("ready-made requests", items, shows="#id_move_references"),
        State("effort", thinking.get_absolute_url(), shows="#id_effort"),
    ]
    assert found_in(page, states) == {}


def test_a_draft_that_is_tried(
    page: "Page", sandbox: RunningSandbox, receive: MakeBatch, ana: User
) -> None:
    draft = receive(rows(12))
    draft.created_by = ana
    draft.save()
    here = draft.get_absolute_url()
    begun(draft, by=ana)
    found = found_in(page, [State("being tried", here, shows="#try-stop")])
    page.goto("about:blank")
    ask_all()
    begun(draft, by=ana, template="In one word: {{text}}")
    ask_all()
    TriedRow.objects.filter(number=3).update(status="failed", answer="", error="It is too long.")
    tried = State("tried twice", here, ("#try-1-opens",), "#try-1-about")
    assert found | found_in(page, [tried]) == {}


def test_pages_around_the_batches(page: "Page", new_page: NewPage, ana: User, team: Team) -> None:
    history = reverse("batches")
    found = found_in(page, [State("no batches yet", history)])
    same = {"source_sha256": "a" * 64}
    runs = [finished(team, name=name, created_by=ana, **same) for name in ("First", "Second")]
    other = with_problems(team, name="Third", created_by=ana, **same)
    labels.add(other, "For Ana")
    saved_questions.save(other, "Judge a letter", by=ana)
    gone = finished(team, name="Gone", created_by=ana)
    deleting.delete(gone, by=ana)
    ben = join(ana)
    bens = drafted(signed_in(ben), REVIEWS.encode(), "letters.csv")
    one, two = runs[0].pk, other.pk
    ticked = (f"#history [value='{one}']", f"#history [value='{two}']")
    found |= found_in(
        page,
        [
            State("history", history, shows=f"#batch-{one}"),
            State("two are ticked", history, ticked),
            State("nothing found", f"{history}?q=nowhere"),
            State("drafts of others", history, ("#drafts-theirs summary",)),
            State("a draft of Ben", bens.get_absolute_url()),
            State("choose a run", reverse("choose_run", args=[one])),
            State("compare", reverse("compare", args=[one, two])),
            State("compare all rows", f"{reverse('compare', args=[one, two])}?show=all"),
            State("labels", reverse("labels")),
            State("saved questions", reverse("saved_questions")),
            State("deleted", reverse("deleted")),
            State("a deleted batch", gone.get_absolute_url()),
            State("people", reverse("people")),
            State("account", reverse("account")),
            State("account menu", reverse("account"), ("[popovertarget=account-menu]",)),
            State("sandbox", history, ("[popovertarget=connect-note]",), "#connect-note"),
            State("nothing there", "/nowhere/"),
            State("no such batch", reverse("batch", args=[uuid4()])),
        ],
    )
    assert found == {}


def test_pages_before_anybody_has_come_in(new_page: NewPage, transactional_db: None) -> None:
    page = new_page()
    page.set_default_timeout(PATIENCE)
    token = invitations.first_administrator_token()
    assert token
    states = [
        State("sign in", "/sign-in/"),
        State("refused", "/sign-in/", ("main form button.primary",)),
        State("set up", reverse("setup", args=[token])),
        State("set up, refused", reverse("setup", args=[token]), ("main form button.primary",)),
        State("a link that is no more", reverse("join", args=["nonsense"])),
    ]
    assert found_in(page, states) == {}
