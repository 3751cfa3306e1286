"""Answers are corrected in the sheet: forms of each kind, what changes on the page, who may."""

import re
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from batchui.batches import corrections, results
from batchui.batches.answer_editing import seen_of
from batchui.batches.corrections import NEVER_ASKED, OVERTAKEN, UNDER_WAY
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.results import Result
from batchui.batches.states import PartStatus
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.teams.models import Team, User
from batchui.web.sheet.editing import TOO_LONG
from tests.batches.sheet.made import WAITS, made, no, yes
from tests.web.visiting import HTMX, answer_cells_of, html, said, signed_in

pytestmark = pytest.mark.django_db

COLUMNS = (
    AnswerColumn("tone", "one_of", ("good", "bad")),
    AnswerColumn("score", "number"),
    AnswerColumn("tags", "several_of", ("food", "staff")),
    AnswerColumn("again", "yes_no"),
    AnswerColumn("why"),
)
WHOLE = {"tone": "good", "score": 3, "tags": ["food"], "again": True, "why": "So."}


@pytest.fixture
def some(team: Team) -> Batch:
    return made(team, [yes("one"), yes("two"), no(), no("empty")], [no("invalid"), yes("six")])


@pytest.fixture
def with_columns(team: Team) -> Batch:
    return made(team, [yes(WHOLE), no()], answer_columns=to_json(COLUMNS))


def address(batch: Batch, number: int, at: int = 0) -> str:
    return reverse("edit_answer", args=[batch.pk, number, at])


def row(batch: Batch, number: int) -> Result:
    [found] = [one for one in results.results(batch) if one.row == number]
    return found


def form(web: Client, batch: Batch, number: int, at: int = 0, query: str = "") -> Any:
    return web.get(f"{address(batch, number, at)}{query}", headers=HTMX)


def save(web: Client, batch: Batch, number: int, value: Any, at: int = 0, **extra: Any) -> Any:
    seen = seen_of(row(batch, number).answer, batch.ask.answer_columns, at)
    posted = {"value": value, "seen": seen} | extra
    return web.post(address(batch, number, at), posted, headers=HTMX)


def panel(web: Client, batch: Batch, number: int) -> str:
    return html(
        web.get(reverse("row", args=[batch.pk, number]), headers=HTMX | {"HX-Target": "panel"})
    )


def test_saving_changes_the_cells_and_the_counts_of_the_page(
    web: Client, some: Batch, ana: User
) -> None:
    response = save(web, some, 3, "By hand.")
    assert response.status_code == 200
    assert response["HX-Reswap"] == "none"
    assert response["HX-Trigger"] == '{"answer-changed": {}}'
    content = html(response)
    assert re.search(r'<td id="cell-3-0"[^>]+hx-swap-oob="true"', content)
    assert "By hand." in content
    assert re.search(r'id="count-edited"[^>]*>1<', content)
    assert re.search(r'id="count-answered"[^>]*>4<', content)
    assert 'id="live"' in content
    assert re.search(r'id="announcement"[^>]*>Row 3: saved.<', content)
    assert row(some, 3).edit is not None
    [event] = some.events.filter(kind="corrected")
    assert str(event.actor_id) == web.session["_auth_user_id"]


def test_without_the_script_the_row_is_shown_again(web: Client, some: Batch) -> None:
    seen = seen_of(b'"two"', (), 0)
    response = web.post(address(some, 2), {"value": "mine", "seen": seen})
    assert (response.status_code, row(some, 2).answer) == (302, b'"mine"')
    assert response["Location"].startswith(reverse("row", args=[some.pk, 2]))
    assert web.get(address(some, 2))["Location"] == reverse("row", args=[some.pk, 2])


def test_the_form_has_the_whole_text_and_escapes_it(web: Client, team: Team) -> None:
    text = '\n</textarea><script>alert("x")</script> {{text}}\nend'
    batch = made(team, [yes(text)])
    content = html(form(web, batch, 1))
    assert "<script>" not in content
    shown = re.search(r"<textarea[^>]*>\n(.*)</textarea>", content, re.DOTALL)
    assert shown is not None
    assert shown[1].startswith("\n&lt;/textarea&gt;&lt;script&gt;")
    assert save(web, batch, 1, '<img src=x onerror="alert(1)">').status_code == 200
    for page in (panel(web, batch, 1), html(web.get(batch.get_absolute_url()))):
        assert "<img src=x" not in page
        assert "&lt;img src=x" in page


def test_each_kind_of_column_has_its_control(web: Client, with_columns: Batch) -> None:
    tone, score, tags, again, why = (
        html(form(web, with_columns, 1, at)) for at in range(len(COLUMNS))
    )
    assert re.findall(r"<option([^>]*)>(.*?)</option>", tone) == [
        (' value=""', "–"),
        (" selected", "good"),
        ("", "bad"),
    ]
    assert re.search(r'<input[^>]+inputmode="decimal"[^>]+value="3"', score)
    boxes = re.findall(r'type="checkbox"[^>]+value="(\w+)"([^>]*)>', tags)
    assert [(name, "checked" in rest) for name, rest in boxes] == [("food", True), ("staff", False)]
    assert re.findall(r"<option([^>]*)>(\w+)</option>", again) == [(" selected", "yes"), ("", "no")]
    assert ">\nSo.</textarea>" in why
    assert form(web, with_columns, 1, 5).status_code == 404


def test_values_of_each_kind_are_saved(web: Client, with_columns: Batch) -> None:
    for at, value in enumerate(("bad", "4.5", ["staff", "food"], "no", "a\r\nb")):
        assert save(web, with_columns, 1, value, at).status_code == 200, at
    assert msgspec.json.decode(row(with_columns, 1).answer or b"") == {
        "tone": "bad",
        "score": 4.5,
        "tags": ["staff", "food"],
        "again": False,
        "why": "a\nb",
    }
    assert save(web, with_columns, 1, [], 2).status_code == 200
    assert msgspec.json.decode(row(with_columns, 1).answer or b"")["tags"] is None


def test_what_does_not_fit_is_said_beside_what_was_written(
    web: Client, with_columns: Batch
) -> None:
    response = save(web, with_columns, 1, "three", 1)
    assert response.status_code == 422
    assert "“score” is “three”, which is not a number." in said(response)
    assert 'value="three"' in html(response)
    assert 'aria-invalid="true"' in html(response)
    assert row(with_columns, 1).edit is None


def test_the_second_of_two_people_sees_both_texts_and_decides(
    web: Client, some: Batch, ana: User
) -> None:
    seen = seen_of(b'"two"', (), 0)
    corrections.correct(some, 2, at=0, written="Hers.", seen=seen, by=ana)
    response = web.post(address(some, 2), {"value": "Mine.", "seen": seen}, headers=HTMX)
    assert response.status_code == 422
    assert OVERTAKEN in said(response)
    assert re.search(r'class="pre prose theirs"[^>]*>Hers\.<', html(response))
    assert ">\nMine.</textarea>" in html(response)
    assert row(some, 2).answer == b'"Hers."'
    now = re.search(r'name="seen" value="(\w+)"', html(response))
    assert now is not None
    again = web.post(address(some, 2), {"value": "Mine.", "seen": now[1]}, headers=HTMX)
    assert again.status_code == 200
    assert row(some, 2).answer == b'"Mine."'


def test_rows_under_way_or_never_asked_say_why_not(web: Client, some: Batch) -> None:
    assert said(form(web, some, 5)) == NEVER_ASKED
    Part.objects.filter(number=1).update(status=PartStatus.QUEUED)
    assert said(form(web, some, 1)) == UNDER_WAY
    assert "data-edits" not in panel(web, some, 1)
    assert UNDER_WAY in said(save(web, some, 1, "mine"))
    assert form(web, some, 99).status_code == 404


def test_an_answer_that_no_page_shows_whole_is_not_edited_there(web: Client, team: Team) -> None:
    batch = made(team, [yes("x" * 100_001), yes([0.5] * 16), yes({"a": "b" * 30_000})])
    assert said(form(web, batch, 1)) == TOO_LONG
    assert said(form(web, batch, 3)) == TOO_LONG
    assert "data-edits" not in panel(web, batch, 1)
    assert "data-edits" not in panel(web, batch, 2)


def test_the_panel_has_the_models_own_one_click_away(web: Client, some: Batch, ana: User) -> None:
    before = panel(web, some, 2)
    assert "edited" not in before
    assert "row-put-back" not in before
    save(web, some, 2, "Mine.")
    content = panel(web, some, 2)
    assert "Corrected by" in content
    assert re.search(r'id="row-own-answer-text"[^>]*>two<', re.sub(r"\s+", " ", content))
    seen = re.findall(r'name="seen" value="(\w+)"', content)
    back = reverse("put_back_answer", args=[some.pk, 2])
    assert web.post(back, {"seen": "other"}, headers=HTMX).status_code == 200
    assert row(some, 2).answer == b'"Mine."'
    response = web.post(back, {"seen": seen[0]}, headers=HTMX)
    assert "Row 2: saved." in html(response)
    assert (row(some, 2).answer, row(some, 2).edit) == (b'"two"', None)


def test_a_row_without_an_answer_can_be_given_one(web: Client, some: Batch) -> None:
    assert re.search(r"Write\s+<span", panel(web, some, 3))
    assert ">\n</textarea>" in html(form(web, some, 3))
    save(web, some, 3, "By hand.")
    content = panel(web, some, 3)
    assert "By hand." in content
    assert "There was none." in content
    assert "broken" in content  # why there was none
    assert "data-edits" not in panel(web, some, 5)


def test_the_sheet_marks_what_was_corrected_and_by_whom(
    web: Client, with_columns: Batch, ana: User
) -> None:
    seen = seen_of(row(with_columns, 1).answer, COLUMNS, 1)
    corrections.correct(with_columns, 1, at=1, written="4", seen=seen, by=ana)
    page = html(web.get(f"{with_columns.get_absolute_url()}?show="))
    cells = answer_cells_of(page, 1)
    assert [at for at, cell in enumerate(cells) if "edited" in cell] == [1]
    assert "by Ana" in cells[1]
    edited = html(web.get(f"{with_columns.get_absolute_url()}?show=edited"))
    assert 'id="row-1"' in edited
    assert 'id="row-2"' not in edited


def test_no_query_grows_with_the_edits(web: Client, team: Team, ana: User) -> None:
    batch = made(team, [yes(str(n)) for n in range(20)])
    found = []
    for number in (1, 2, 3, 4, 5):
        seen = seen_of(row(batch, number).answer, (), 0)
        corrections.correct(batch, number, at=0, written="x", seen=seen, by=ana)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            web.get(f"{batch.get_absolute_url()}?show=")
        found.append(len(queries))
    assert len(set(found[1:])) == 1


def test_asking_again_says_first_that_a_correction_goes(web: Client, some: Batch) -> None:
    save(web, some, 2, "Mine.")
    confirm = f"{reverse('confirm_ask_again', args=[some.pk])}?rows=2"
    assert "1 was corrected by hand: the new answer takes the place" in said(web.get(confirm))
    other = f"{reverse('confirm_ask_again', args=[some.pk])}?rows=1"
    assert "corrected" not in said(web.get(other))


def test_a_batch_of_another_team_is_not_found(some: Batch) -> None:
    stranger = User.objects.create_user(email="x@example.com", name="X", password=None)
    other = signed_in(stranger)
    for response in (
        other.get(address(some, 1), headers=HTMX),
        other.post(address(some, 1), {"value": "x"}, headers=HTMX),
        other.post(reverse("put_back_answer", args=[some.pk, 1]), headers=HTMX),
    ):
        assert response.status_code in (302, 403, 404)
    assert row(some, 1).edit is None


def test_waiting_rows_of_a_running_batch_have_no_edit(web: Client, team: Team) -> None:
    batch = made(team, [yes("one"), WAITS])
    Part.objects.update(status=PartStatus.RUNNING)
    page = html(web.get(f"{batch.get_absolute_url()}?show="))
    assert 'edits">' in answer_cells_of(page, 1)[0]
    assert "edits" not in answer_cells_of(page, 2)[0]


def test_an_unfit_answer_is_corrected_column_by_column(web: Client, team: Team) -> None:
    unfit = Answer("unfit", msgspec.Raw(b'{"tone":"sunny","score":4}'), "“tone” is “sunny”.")
    batch = made(team, [unfit], answer_columns=to_json(COLUMNS[:2]))
    assert "What the model answered" in panel(web, batch, 1)
    assert save(web, batch, 1, "good").status_code == 200
    content = panel(web, batch, 1)
    assert "sunny" in content  # the model's own
    assert "Answered" in content
