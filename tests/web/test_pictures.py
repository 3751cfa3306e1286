"""Pictures on the pages: the column, the archive, and what stands in the sheet."""

import io
import re
from collections.abc import Iterator
from threading import BoundedSemaphore
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image

from batchui.batches import checking, decisions, saved_questions, surveys
from batchui.batches.models import Batch
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from batchui.web.asking.starting_points import DESCRIBE
from batchui.web.forms.pictures import picture_columns
from batchui.web.sheet import pictures as sheet_pictures
from tests.batches.conftest import rows, work
from tests.batches.picturing import (
    BLIND,
    LOOK,
    SEES,
    PictureServer,
    add_archive,
    archive,
    jpeg,
    naming,
    picture_server,
)
from tests.teams.people import join, outsider
from tests.web.visiting import (
    HTMX,
    answers,
    drafted,
    html,
    listed_models,
    press_start,
    said,
    signed_in,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings: Any) -> Iterator[PictureServer]:
    with picture_server(a_jpg=jpeg("red", (640, 480))) as served:
        settings.PICTURE_HOSTS = frozenset({served.host})
        yield served


@pytest.fixture
def draft(web: Client) -> Batch:
    batch = drafted(web, naming("a.jpg", "b.jpg"))
    add_archive(batch, archive("a.jpg", "b.jpg"))
    return batch


def choose(web: Client, batch: Batch, column: str, **typed: Any) -> Any:
    address = reverse("choose_pictures", args=[batch.pk])
    return web.post(address, answers(batch, picture_column=column, **typed), headers=HTMX)


def add(web: Client, batch: Batch, content: bytes, name: str = "photos.zip") -> Any:
    sent = {"pictures": SimpleUploadedFile(name, content)}
    return web.post(reverse("add_pictures", args=[batch.pk]), sent, headers=HTMX)


def picture(web: Client, batch: Batch, number: int, query: str = "") -> Any:
    return web.get(reverse("row_picture", args=[batch.pk, number]) + query)


def field_of(page: str) -> str:
    return page.split('id="id_picture_column"')[1].split("</select>")[0]


# -- the column -----------------------------------------------------------------------------------


def test_the_field_stands_beside_the_question_of_a_file_with_pictures(web: Client) -> None:
    page = html(web.get(drafted(web, naming("https://x.example/a.jpg")).get_absolute_url()))
    assert page.index('id="id_picture_column"') < page.index('id="more-settings"')


def test_the_first_rows_are_read_once_however_many_columns_there_are(
    web: Client, draft: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Any] = []
    rows_of = Batch.first_rows.fget
    monkeypatch.setattr(Batch, "first_rows", property(lambda b: read.append(b) or rows_of(b)))
    assert (picture_columns(draft), len(read)) == (["photo"], 1)


def test_elsewhere_it_is_among_more_settings(web: Client) -> None:
    page = html(web.get(drafted(web, rows(3)).get_absolute_url()))
    assert page.index('id="id_picture_column"') > page.index('id="more-settings"')


def test_a_model_that_sees_is_chosen_with_the_column(web: Client, draft: Batch) -> None:
    response = choose(web, draft, "photo", model=BLIND, template="{{photo}}")
    draft.refresh_from_db()
    assert (draft.picture_column, draft.model) == ("photo", "@cf/google/gemma-4-26b-a4b-it")
    assert draft.template == "Describe this picture in one plain sentence."
    told = "Each row is asked with its picture, in “photo”. Llama 3.3 70B cannot see pictures, so"
    assert told in said(response)
    models = re.findall(r'name="model" value="([^"]+)"', listed_models(web, draft))
    assert BLIND not in models
    assert SEES in models


def test_a_model_that_sees_already_stays_and_so_do_words(web: Client, draft: Batch) -> None:
    choose(web, draft, "photo", model=SEES, template="Is it new?")
    draft.refresh_from_db()
    assert (draft.model, draft.template) == (SEES, "Is it new?")


def test_it_can_be_taken_back(web: Client, draft: Batch) -> None:
    choose(web, draft, "photo", model=BLIND, template="About {{photo}}")
    web.post(reverse("undo_question", args=[draft.pk]), headers=HTMX)
    draft.refresh_from_db()
    found = (draft.picture_column, draft.model, draft.template)
    assert found == ("", BLIND, "About {{photo}}")


def test_none_asks_without_pictures(web: Client, draft: Batch) -> None:
    choose(web, draft, "photo")
    response = choose(web, draft, "", model=SEES, template="{{photo}}")
    draft.refresh_from_db()
    assert draft.picture_column == ""
    assert "Rows are asked without pictures." in said(response)


def test_none_takes_only_the_words_away_that_pictures_brought(web: Client, draft: Batch) -> None:
    choose(web, draft, "photo", template="")
    draft.refresh_from_db()
    assert draft.template == DESCRIBE
    for words, left in ((DESCRIBE, ""), ("My own words", "My own words")):
        choose(web, draft, "", model=SEES, template=words)
        draft.refresh_from_db()
        assert draft.template == left


def test_a_blind_model_cannot_be_started_with_pictures(web: Client, draft: Batch) -> None:
    response = press_start(web, draft, model=BLIND, template="What?", picture_column="photo")
    assert response.status_code == 422
    assert "Llama 3.3 70B cannot see pictures. Choose a model that can: “Gemma 4 26B”" in said(
        response
    )


def test_names_of_files_need_an_archive(web: Client) -> None:
    batch = drafted(web, naming("a.jpg"))
    assert "“a.jpg” is no address that begins with https://." in said(choose(web, batch, "photo"))
    asked = {"model": SEES, "template": "What?", "picture_column": "photo"}
    response = press_start(web, batch, **asked)
    assert response.status_code == 422
    assert "“a.jpg” is no address that begins with https://." in said(response)
    assert "pictures-dialog" in html(response)
    add_archive(batch, archive("a.jpg"))
    assert press_start(web, batch, **asked).status_code == 302


def test_a_job_without_pictures_leaves_them_out(web: Client, draft: Batch) -> None:
    choose(web, draft, "photo")
    address = reverse("choose_job", args=[draft.pk, "translate"])
    response = web.post(address, answers(draft, picture_column="photo"), headers=HTMX)
    draft.refresh_from_db()
    assert draft.picture_column == ""
    assert "id_picture_column" not in html(response)


def test_a_saved_question_takes_the_pictures_of_another_file(web: Client, draft: Batch) -> None:
    decisions.edit(draft, ask=Ask(**LOOK))
    draft.refresh_from_db()
    saved = saved_questions.save(draft, "Looks", by=None)
    other = drafted(web, b"name,image\nx,https://x.example/a.png\n")
    web.post(reverse("use_saved", args=[other.pk, saved.pk]), answers(other), headers=HTMX)
    other.refresh_from_db()
    assert (other.picture_column, other.template, other.model) == ("image", "What is it?", SEES)


def test_questions_for_pictures_are_offered_with_them(web: Client, draft: Batch) -> None:
    assert "start-from-describe" not in html(choose(web, draft, ""))
    assert "start-from-describe" in html(choose(web, draft, "photo"))
    address = reverse("start_from", args=[draft.pk, "product"])
    web.post(address, answers(draft, model=SEES, picture_column="photo"), headers=HTMX)
    draft.refresh_from_db()
    assert (draft.picture_column, draft.model) == ("photo", SEES)
    assert [column["name"] for column in draft.answer_columns] == ["thing", "colour", "condition"]


# -- the archive ----------------------------------------------------------------------------------


def test_an_archive_is_added_and_its_column_chosen(web: Client) -> None:
    batch = drafted(web, naming("a.jpg"))
    decisions.edit(batch, ask=Ask(model=BLIND, template="Is it new?"))
    assert add(web, batch, archive("a.jpg"))["HX-Refresh"] == "true"
    batch.refresh_from_db()
    assert (batch.pictures_count, batch.picture_column) == (1, "photo")
    assert "1 picture in photos.zip" in said(web.get(batch.get_absolute_url()))


@pytest.mark.parametrize("content", [b"id,text\n1,x\n", archive(readme_txt=b"Hello")])
def test_a_file_without_pictures_says_so_where_it_was_chosen(
    web: Client, draft: Batch, content: bytes
) -> None:
    response = add(web, draft, content, "other.zip")
    assert response.status_code == 422
    assert "“other.zip” cannot be used." in said(response)
    draft.refresh_from_db()
    assert draft.pictures_name == "photos.zip"


def test_the_dialog_comes_when_it_is_opened(web: Client, draft: Batch) -> None:
    address = reverse("add_pictures", args=[draft.pk])
    assert "id_pictures" not in html(web.get(draft.get_absolute_url()))
    assert 'id="id_pictures"' in html(web.get(address, headers=HTMX))
    assert "Remove photos.zip" in said(web.get(address, headers=HTMX))
    assert web.get(address)["Location"] == draft.get_absolute_url()


def test_no_file_says_so(web: Client, draft: Batch) -> None:
    response = web.post(reverse("add_pictures", args=[draft.pk]), headers=HTMX)
    assert (response.status_code, "No file was chosen" in said(response)) == (422, True)


def test_an_archive_is_taken_away(web: Client, draft: Batch) -> None:
    web.post(reverse("remove_pictures", args=[draft.pk]), headers=HTMX)
    draft.refresh_from_db()
    assert draft.pictures_file == ""


def test_an_archive_of_pictures_begins_with_a_question(web: Client) -> None:
    batch = drafted(web, archive("a.jpg", "b.jpg"), "photos.zip")
    page = html(web.get(batch.get_absolute_url()))
    batch.refresh_from_db()
    assert batch.picture_column == "picture"
    assert 'value="picture"' in field_of(page)
    assert "Describe this picture in one plain sentence." in page
    choose(web, batch, "", model=SEES, template="{{picture}}")
    web.get(batch.get_absolute_url())
    batch.refresh_from_db()
    assert batch.picture_column == ""  # as it was chosen


def test_a_page_that_waits_for_its_file_gets_the_pictures(web: Client) -> None:
    response = web.post(reverse("new"), {"file": SimpleUploadedFile("p.zip", archive("a.jpg"))})
    batch = Batch.objects.get(pk=response["Location"].split("/")[-2])
    before = batch.format_key
    decisions.edit(batch, ask=Ask(model=BLIND))  # the page saves what it has
    checking.check_file(batch.pk)
    response = web.get(reverse("checking", args=[batch.pk]), {"form": before}, headers=HTMX)
    assert response["HX-Refresh"] == "true"
    batch.refresh_from_db()
    assert (batch.picture_column, batch.model) == ("picture", "@cf/google/gemma-4-26b-a4b-it")


def test_a_column_that_was_chosen_stays_with_the_archive(web: Client) -> None:
    batch = drafted(web, b"front,back\na.jpg,b.jpg\n")
    decisions.edit(batch, ask=Ask(**LOOK | {"picture_column": "back"}))
    add(web, batch, archive("a.jpg", "b.jpg"))
    batch.refresh_from_db()
    assert batch.picture_column == "back"


def test_a_colleague_who_looks_on_begins_nothing(web: Client, ana: User) -> None:
    batch = drafted(web, archive("a.jpg"), "photos.zip")
    signed_in(join(ana)).get(reverse("checking", args=[batch.pk]), {"form": "x"}, headers=HTMX)
    batch.refresh_from_db()
    assert batch.picture_column == ""


def test_a_colleague_changes_nothing(web: Client, draft: Batch) -> None:
    other = signed_in(outsider())
    assert picture(other, draft, 2).status_code == 404
    assert choose(other, draft, "photo").status_code == 404


# -- the sheet ------------------------------------------------------------------------------------


def test_the_sheet_shows_them_small_and_a_row_larger(web: Client, draft: Batch) -> None:
    decisions.edit(draft, ask=Ask(**LOOK))
    page = html(web.get(draft.get_absolute_url()))
    [address] = re.findall(r'<img class="thumb" data-src="([^"]+/rows/2/[^"]+)" alt=""', page)
    response = web.get(address)
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    assert response["Cache-Control"] == "private, max-age=3600"
    panel = web.get(reverse("row", args=[draft.pk, 2]), headers={**HTMX, "HX-Target": "panel"})
    assert "&amp;large" in html(panel)


def test_other_pictures_have_other_addresses(web: Client, draft: Batch) -> None:
    decisions.edit(draft, ask=Ask(**LOOK))
    found = set()
    for _ in range(2):
        page = html(web.get(draft.get_absolute_url()))
        found.add(re.findall(r"/rows/2/picture/\?of=(\w+)", page)[0])
        add_archive(draft, archive("a.jpg"))
    assert len(found) == 2


def test_a_picture_is_as_large_as_it_is_shown(web: Client, server: PictureServer) -> None:
    batch = drafted(web, naming(server.address("/a.jpg")))
    decisions.edit(batch, ask=Ask(**LOOK))
    small, large = picture(web, batch, 2), picture(web, batch, 2, "?large")
    assert Image.open(io.BytesIO(small.content)).size == (160, 120)
    assert Image.open(io.BytesIO(large.content)).size == (640, 480)


def test_a_started_batch_shows_what_was_sent(
    web: Client, server: PictureServer, sandbox: RunningSandbox
) -> None:
    batch = drafted(web, naming(server.address("/a.jpg"), server.address("/gone.jpg")))
    decisions.start(batch, by=None, ask=Ask(**LOOK), prepare_now=True)
    batch.refresh_from_db()
    work(batch)
    server.replies.clear()
    asked = len(server.asked)
    assert picture(web, batch, 2).status_code == 200
    assert len(server.asked) == asked
    gone = picture(web, batch, 3)
    assert (gone.status_code, gone["Content-Type"]) == (404, "text/plain; charset=utf-8")
    assert "404" in said(gone)


def test_a_page_does_not_wait_long_behind_other_pictures(
    web: Client, server: PictureServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = drafted(web, naming(server.address("/a.jpg")))
    decisions.edit(batch, ask=Ask(**LOOK))
    monkeypatch.setattr(sheet_pictures, "SECONDS", 0.01)
    monkeypatch.setattr(sheet_pictures, "_fetching", BoundedSemaphore(1))
    with sheet_pictures._fetching:
        response = picture(web, batch, 2)
    assert (response.status_code, server.asked) == (404, [])
    assert sheet_pictures.BUSY in said(response)


def test_a_row_without_one_has_none(web: Client, draft: Batch) -> None:
    assert picture(web, draft, 2).status_code == 404  # no column was chosen
    decisions.edit(draft, ask=Ask(**LOOK))
    assert picture(web, draft, 2).status_code == 200
    assert picture(web, draft, 99).status_code == 404


def test_the_preview_shows_the_picture_of_its_row(web: Client, draft: Batch) -> None:
    address = reverse("preview", args=[draft.pk])
    typed = answers(draft, model=SEES, template="What?", picture_column="photo", row="3")
    page = html(web.post(address, typed, headers=HTMX))
    assert re.search(r'<img class="thumb" src="[^"]+/rows/3/picture/[^"]+" alt="The picture', page)


def test_rows_without_one_are_said_before_start(web: Client) -> None:
    batch = drafted(web, naming("https://x.example/a.jpg", "", "https://x.example/b.jpg", ""))
    decisions.edit(batch, ask=Ask(**LOOK))
    surveys.find_out(batch.pk)
    page = said(web.get(batch.get_absolute_url()))
    assert "2 rows have nothing in “photo”: rows 3 and 5. They are skipped." in page


def test_the_price_says_what_a_picture_is_read_as(web: Client, draft: Batch) -> None:
    decisions.edit(draft, ask=Ask(**LOOK))
    page = said(web.get(draft.get_absolute_url()))
    assert "250 to 2,500 tokens for each: a rule of thumb" in page
