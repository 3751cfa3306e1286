"""The archive of pictures that goes with a draft, and archives that are the file itself."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

from batchui.batches import decisions, files, intake, picture_archives, pictures
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.pictures.problems import NoPicture
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.picturing import LOOK, add_archive, archive, naming

pytestmark = pytest.mark.django_db


def stored(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def draft(receive: MakeBatch) -> Batch:
    return receive(naming("a.jpg", "b.jpg"))


# -- beside the file ------------------------------------------------------------------------------


def test_an_archive_goes_with_a_draft(draft: Batch) -> None:
    add_archive(draft, archive("a.jpg", "b.jpg", readme_txt=b"Hello"))
    assert (draft.pictures_name, draft.pictures_count) == ("photos.zip", 2)
    assert pictures.picture(draft, "a.jpg")[:2] == b"\xff\xd8"
    assert not draft.has_pictures_inside


def test_another_archive_takes_its_place(draft: Batch, files_in: Path) -> None:
    add_archive(draft, archive("a.jpg"))
    first = draft.pictures_file
    add_archive(draft, archive("c.jpg"), name="more.zip")
    assert (draft.pictures_name, draft.pictures_count) == ("more.zip", 1)
    assert not (files_in / first).exists()
    with pytest.raises(NoPicture):
        pictures.picture(draft, "a.jpg")


def test_it_can_be_taken_away(draft: Batch, files_in: Path) -> None:
    add_archive(draft, archive("a.jpg"))
    picture_archives.remove(draft)
    assert (draft.pictures_file, draft.pictures_name, draft.pictures_count) == ("", "", 0)
    assert not any(name.startswith("pictures-") for name in stored(files_in))


@pytest.mark.parametrize("content", [b"", b"id,text\n", archive(), archive(readme_txt=b"Hello")])
def test_a_file_without_pictures_changes_nothing(
    draft: Batch, files_in: Path, content: bytes
) -> None:
    add_archive(draft, archive("a.jpg"))
    before = stored(files_in)
    with pytest.raises(BadInput):
        add_archive(draft, content)
    draft.refresh_from_db()
    assert (draft.pictures_count, stored(files_in)) == (1, before)


def test_a_batch_that_was_started_keeps_its_pictures(draft: Batch, files_in: Path) -> None:
    add_archive(draft, archive("a.jpg", "b.jpg"))
    decisions.start(draft, by=None, ask=Ask(**LOOK), prepare_now=True)
    before = stored(files_in)
    for change in (
        lambda: add_archive(draft, archive("c.jpg")),
        lambda: picture_archives.remove(draft),
    ):
        with pytest.raises(BadInput, match="was started"):
            change()
    assert stored(files_in) == before


def test_an_archive_that_is_too_large_is_refused(draft: Batch, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    with pytest.raises(BadInput, match="limit"):
        add_archive(draft, archive("a.jpg"))


def test_without_an_archive_a_name_is_no_picture(draft: Batch) -> None:
    with pytest.raises(NoPicture, match="no ZIP archive"):
        pictures.picture(draft, "a.jpg")


def test_the_archive_of_another_batch_is_not_mistaken_for_its_own(receive: MakeBatch) -> None:
    one, other = receive(naming("a.jpg")), receive(naming("a.jpg"))
    add_archive(one, archive("a.jpg"))
    add_archive(other, archive("b.jpg"))
    assert pictures.picture(one, "a.jpg")
    with pytest.raises(NoPicture):
        pictures.picture(other, "a.jpg")


# -- the file itself ------------------------------------------------------------------------------


def test_an_archive_of_pictures_alone_has_a_row_for_each(receive: MakeBatch) -> None:
    content = archive("img10.jpg", "img2.JPG", "more/img1.png", "__MACOSX/._img2.JPG", ".DS_Store")
    batch = receive(content, "photos.zip")
    assert batch.status == BatchStatus.DRAFT, batch.problem
    assert (batch.columns, batch.rows) == (("picture",), 3)
    assert [row[0] for row in batch.first_rows] == ["img2.JPG", "img10.jpg", "more/img1.png"]
    assert (batch.has_pictures_inside, batch.pictures_count) == (True, 3)
    assert pictures.picture(batch, "more/img1.png")


def test_an_archive_may_have_the_table_beside_its_pictures(
    receive: MakeBatch, sandbox: RunningSandbox
) -> None:
    content = archive("photos/a.jpg", "photos/b.jpg", table_csv=naming("a.jpg", "b.jpg"))
    batch = receive(content, "shop.zip")
    assert (batch.columns, batch.rows) == (("id", "photo"), 2)
    assert (batch.has_pictures_inside, batch.pictures_count) == (True, 2)
    decisions.start(batch, by=None, ask=Ask(**LOOK), prepare_now=True)
    batch.refresh_from_db()
    assert work(batch).answered == 2


def test_two_tables_beside_pictures_are_named(receive: MakeBatch) -> None:
    batch = receive(archive("a.jpg", one_csv=b"a\n1\n", two_csv=b"a\n1\n"), "shop.zip")
    assert "has 2 files: “one.csv” and “two.csv”" in batch.problem
    assert batch.pictures_file == ""


def test_a_workbook_with_pictures_in_it_is_a_workbook(receive: MakeBatch) -> None:
    from openpyxl import Workbook

    made, again = io.BytesIO(), io.BytesIO()
    book = Workbook()
    book.active.append(["id", "text"])
    book.active.append([1, "x"])
    book.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(again, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("xl/media/image1.png", b"\x89PNG")
    batch = receive(again.getvalue(), "book.xlsx")
    assert (batch.columns, batch.pictures_file) == (("id", "text"), "")


def test_names_that_macos_wrote_are_read_and_found(receive: MakeBatch) -> None:
    # In UTF-8, which its zip does not say.
    batch = receive(archive("Gr____e.jpg").replace(b"Gr____e", "Größe".encode()), "photos.zip")
    decisions.edit(batch, ask=Ask(**LOOK | {"picture_column": "picture"}))
    [[named]] = batch.first_rows
    assert named == "Größe.jpg"
    assert pictures.picture(batch, named)


def test_one_picture_alone_is_an_archive_of_pictures(receive: MakeBatch) -> None:
    assert receive(archive("a.jpg"), "a.zip").rows == 1


def test_the_archive_that_has_the_rows_is_not_taken_away_with_its_pictures(
    receive: MakeBatch, files_in: Path
) -> None:
    batch = receive(archive("a.jpg"), "photos.zip")
    picture_archives.remove(batch)
    assert (files_in / batch.source_file).exists()


# -- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [False, True])
def test_a_batch_that_is_run_again_has_the_pictures_too(
    receive: MakeBatch, sandbox: RunningSandbox, inside: bool
) -> None:
    if inside:
        batch = receive(archive("a.jpg", table_csv=naming("a.jpg")), "shop.zip")
    else:
        batch = receive(naming("a.jpg"))
        add_archive(batch, archive("a.jpg"))
    copy = intake.run_again(batch, by=None)
    assert copy.pictures_file.startswith(f"batches/{copy.pk}/")
    assert copy.has_pictures_inside is inside
    assert (copy.pictures_name, copy.pictures_count) == (batch.pictures_name, 1)
    files.remove_batch_files(batch.pk)
    assert pictures.picture(copy, "a.jpg")


@pytest.mark.parametrize("inside", [False, True])
def test_a_further_question_can_be_asked_of_the_same_pictures(
    receive: MakeBatch, sandbox: RunningSandbox, inside: bool
) -> None:
    if inside:
        batch = receive(archive("a.jpg", table_csv=naming("a.jpg")), "shop.zip")
    else:
        batch = receive(naming("a.jpg"))
        add_archive(batch, archive("a.jpg"))
    decisions.start(batch, by=None, ask=Ask(**LOOK), prepare_now=True)
    batch.refresh_from_db()
    further = intake.ask_further(work(batch), by=None)
    assert further.status == BatchStatus.DRAFT, further.problem
    assert further.pictures_file.startswith(f"batches/{further.pk}/")
    files.remove_batch_files(batch.pk)
    asked = Ask(**LOOK | {"template": "And {{answer}}?"})
    decisions.start(further, by=None, ask=asked, prepare_now=True)
    further.refresh_from_db()
    assert work(further).answered == 1


def test_a_corrected_file_keeps_the_archive_beside_it(draft: Batch, team: Team) -> None:
    add_archive(draft, archive("a.jpg"))
    corrected = intake.receive(
        ContentFile(rows(3), "texts.csv"), team=team, by=None, instead=draft, check_now=True
    )
    assert (corrected.pictures_name, corrected.pictures_count) == ("photos.zip", 1)


def test_a_file_instead_of_an_archive_has_no_pictures(receive: MakeBatch, team: Team) -> None:
    before = receive(archive("a.jpg"), "photos.zip")
    corrected = intake.receive(
        ContentFile(rows(3), "texts.csv"), team=team, by=None, instead=before, check_now=True
    )
    assert corrected.pictures_file == ""
