"""How a file is read: shown over its first rows, and changed with a click."""

import gzip
import io
import re
from html import unescape

import pyarrow
import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse
from pyarrow.parquet import write_table

from batchui.batches import checking
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.reading.code_pages import NAMES
from tests.batches.books import book, reviews
from tests.web.visiting import HTMX, answers, drafted, element, html, press_start, said, upload

pytestmark = pytest.mark.django_db

LIST = b"".join(b"Where is my parcel %d\n" % number for number in range(25))
TITLE = b"Sales of May;;\n\nid;shop;\n1;K\xf6ln;\n2;Bonn;\n3;Ulm;\n"


def read_as(web: Client, batch: Batch, **chosen: object) -> Batch:
    """What becomes of the batch when somebody chooses how it is read."""
    response = web.post(reverse("read_as", args=[batch.pk]), chosen, headers=HTMX)
    assert (response.status_code, response["HX-Refresh"]) == (200, "true")
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    return batch


def test_a_first_line_that_is_a_row_is_not_eaten(web: Client) -> None:
    batch = drafted(web, LIST)
    assert (batch.status, batch.rows, batch.columns) == (BatchStatus.DRAFT, 25, ("Column 1",))
    page = said(web.get(batch.get_absolute_url()))
    assert "The first line is column names already a row" in page
    assert "Row Column 1 1 Where is my parcel 0 2 Where is my parcel 1" in page
    assert "Start: 25 rows" in page
    assert "Choose another" not in page  # a text has no sheets


def test_the_first_line_can_be_made_the_names_and_a_row_again(web: Client) -> None:
    batch = read_as(web, drafted(web, LIST), header_row=1)
    assert (batch.rows, batch.columns, batch.first_row) == (24, ("Where is my parcel 0",), 2)
    assert batch.choices.header_row == 1
    batch = read_as(web, batch, header_row=0)
    assert (batch.rows, batch.columns, batch.first_row) == (25, ("Column 1",), 1)


def test_what_was_found_is_said_above_the_first_rows(web: Client) -> None:
    batch = drafted(web, TITLE)
    page = web.get(batch.get_absolute_url())
    seen = said(page)
    assert "above the column names, which are in row 3" in seen
    assert "Rows 1 to 2 stand above the column names, so nothing is asked about them." in seen
    assert "The column “Column 3” has nothing in it, so it is left out here." in seen
    assert "column names in row 3 The first line is" in seen
    assert "recognised as Windows-1252 (Western European) Read the text as" in seen
    assert "semicolons Between the cells is a" in seen
    assert "3 rows, 3 columns" in seen
    assert "Row id shop 1 Sales of May 2 3 id shop 4 1 Köln 5 2 Bonn 6 3 Ulm" in seen
    assert "Click the number of that row." in seen
    assert re.findall(r'value="(\d)"\s+aria-pressed="true"', html(page)) == ["3"]
    assert "{{Column 3}}" not in html(page)


def test_a_row_with_cells_beyond_the_last_column_is_marked_and_does_not_count(
    web: Client,
) -> None:
    batch = drafted(web, b"id,text\n1,one\n2,two,a third cell\n3,three\n")
    response = web.get(batch.get_absolute_url())
    assert " 3 2 two Skipped 4 3 three" in said(response)
    assert 'title="Row 3: 3 cells where the header has 2 columns.' in html(response)
    assert "Start: 2 rows" in said(response)


@pytest.mark.parametrize(("columns", "is_there"), [(20, False), (21, True)])
def test_a_column_among_many_can_be_searched(web: Client, columns: int, is_there: bool) -> None:
    names = ",".join(f"name {number}" for number in range(columns))
    cells = ",".join(f"cell {number}" for number in range(columns))
    batch = drafted(web, f"{names}\n{cells}\n{cells}\n".encode())
    assert ("Find a column" in html(web.get(batch.get_absolute_url()))) is is_there


def parquet() -> bytes:
    file = io.BytesIO()
    write_table(pyarrow.table({"id": [1, 2], "text": ["a", "b"]}), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"), [("x.parquet", parquet()), ("x.json", b'["one", "two", "three"]')]
)
def test_where_a_file_says_what_its_columns_are_called_nobody_is_asked(
    web: Client, name: str, content: bytes
) -> None:
    batch = drafted(web, content, name)
    columns = batch.columns
    page = said(web.get(batch.get_absolute_url()))
    assert "The first line is" not in page
    assert "Are the column names in another row?" not in page
    assert 'name="names_in"' not in html(web.get(batch.get_absolute_url()))
    assert read_as(web, batch, names_in=2, header_row=0).columns == columns


def test_any_row_can_be_chosen_for_the_names(web: Client) -> None:
    batch = read_as(web, drafted(web, TITLE), header_row=3, names_in=1)
    assert (batch.format.header_row, batch.rows) == (1, 5)
    assert batch.columns == ("Sales of May", "Column 2", "Column 3")


def test_a_row_that_is_not_there_cannot_have_the_names(web: Client) -> None:
    batch = drafted(web, TITLE)
    for row, said_of_it in ((7, "the table ends above this row"), (6, "but no rows under it")):
        response = web.post(reverse("read_as", args=[batch.pk]), {"names_in": row}, headers=HTMX)
        assert response.status_code == 422
        assert said_of_it in said(response)
    batch.refresh_from_db()
    assert (batch.format.header_row, batch.choices.header_row) == (3, None)


def test_a_wrong_encoding_is_corrected_with_one_choice(web: Client) -> None:
    batch = drafted(web, "id;text\n1;Größe\n2;Šárka\n".encode("cp1250"))
    batch = read_as(web, batch, encoding="cp1252")
    assert (batch.format.encoding, batch.first_rows[1]) == ("cp1252", ["2", "Šárka"])
    batch = read_as(web, batch, encoding="cp1251")
    assert batch.first_rows[1] == ["2", "Љбrka"]
    assert batch.choices.encoding == "cp1251"


def test_all_encodings_come_when_somebody_is_at_their_button(web: Client) -> None:
    batch = drafted(web, "id;text\n1;Größe\n".encode("cp1250"))
    page = html(web.get(batch.get_absolute_url()))
    (select,) = re.findall(r'<select name="encoding".*?</select>', page, re.DOTALL)
    assert re.findall(r'<option value="([^"]*)" selected>', select) == [batch.format.encoding]
    assert select.count("<option") == 1
    address = reverse("encodings", args=[batch.pk])
    assert f'hx-get="{address}"' in select
    every = html(web.get(address, headers=HTMX))
    assert 'id="id_reading_encoding"' in select
    assert 'id="id_reading_encoding"' in every
    assert re.findall(r'<option value="([^"]*)"', every) == list(NAMES)
    assert re.findall(r'value="([^"]*)" selected>', every) == [batch.format.encoding]


def test_another_delimiter_makes_other_columns(web: Client) -> None:
    batch = drafted(web, b"a;b|c\n1;2|3\n4;5|6\n")
    assert batch.columns == ("a", "b|c")
    assert read_as(web, batch, delimiter="|").columns == ("a;b", "c")
    assert read_as(web, batch, delimiter="none").columns == ("a;b|c",)


def test_each_delimiter_is_offered_by_its_name_and_sign(web: Client) -> None:
    batch = drafted(web, b"a;b|c\n1;2|3\n4;5|6\n")
    offered = "comma ( , ) semicolon ( ; ) tab pipe ( | ) nothing: there is one column"
    assert offered in said(web.get(batch.get_absolute_url()))


def test_objects_within_objects_are_columns_or_stay_as_they_are(web: Client) -> None:
    batch = drafted(web, b'{"a": {"b": 1}}\n{"a": {"b": 2}}\n', "rows.jsonl")
    assert batch.columns == ("a.b",)
    assert read_as(web, batch, nested="text").columns == ("a",)


def test_what_is_typed_is_kept_when_the_file_is_read_differently(web: Client) -> None:
    batch = drafted(web, LIST)
    typed = answers(batch, template="Answer {{Column 1}} kindly")
    batch = read_as(web, batch, header_row=1, **typed)
    assert batch.ask.template == "Answer {{Column 1}} kindly"


def test_a_file_that_is_lost_is_said(web: Client) -> None:
    text, packed = drafted(web, TITLE), drafted(web, gzip.compress(TITLE), "texts.csv.gz")
    for batch, name in ((text, text.source_file), (packed, packed.converted_file)):
        default_storage.delete(name)
        chosen = {"names_in": 1}
        response = web.post(reverse("read_as", args=[batch.pk]), chosen, headers=HTMX)
        assert response.status_code == 422
        assert "This server could not read or store the file: No such file" in said(response)
    again = web.post(reverse("run_again", args=[text.pk]), follow=True)
    assert "This server could not read or store the file: No such file" in html(again)
    assert Batch.objects.count() == 2


def test_a_choice_with_which_the_file_cannot_be_read_changes_nothing(web: Client) -> None:
    batch = drafted(web, TITLE)
    before = (batch.source_format, batch.source_choices, batch.epoch)
    address = reverse("read_as", args=[batch.pk])
    response = web.post(address, {"encoding": "utf-8"}, headers=HTMX)
    assert response.status_code == 422
    said_so = "This file is not in UTF-8. Choose another encoding. Until then it is read as before."
    assert said_so in said(response)
    assert element(html(response), "reading")
    batch.refresh_from_db()
    assert (batch.source_format, batch.source_choices, batch.epoch) == before


@pytest.mark.parametrize("chosen", [{"encoding": "klingon"}, {"header_row": "x"}, {"names_in": 0}])
def test_a_choice_that_was_not_offered_changes_nothing(
    web: Client, chosen: dict[str, object]
) -> None:
    batch = drafted(web, TITLE)
    response = web.post(reverse("read_as", args=[batch.pk]), chosen, headers=HTMX)
    assert response.status_code == 422
    epoch = batch.epoch
    batch.refresh_from_db()
    assert batch.epoch == epoch


def test_without_scripts_the_choice_leads_back_to_the_page(web: Client) -> None:
    batch = drafted(web, LIST)
    response = web.post(reverse("read_as", args=[batch.pk]), {"header_row": 1})
    assert response["Location"] == batch.get_absolute_url()


def test_a_started_batch_is_not_read_differently(web: Client) -> None:
    batch = drafted(web, b"id,review\n1,good\n")
    assert press_start(web, batch, template="{{review}}").status_code == 302
    before = batch.source_format
    web.post(reverse("read_as", args=[batch.pk]), {"header_row": 0}, headers=HTMX)
    batch.refresh_from_db()
    assert (batch.status, batch.source_format) == (BatchStatus.PREPARING, before)


def shown_key(web: Client, batch: Batch) -> str:
    """What the page of a draft sends with Start, of how the file is read."""
    found = re.search(r'name="read_as" value="(\w+)"', html(web.get(batch.get_absolute_url())))
    assert found
    return found[1]


def test_a_page_that_shows_another_sheet_starts_nothing(web: Client) -> None:
    names = ["id", "text"]
    content = book(("May", [names, ["1", "in May"]]), ("June", [names, ["1", "in June"]]))
    batch = drafted(web, content, "reviews.xlsx")
    seen = shown_key(web, batch)
    read_as(web, batch, sheet="June")
    asked = answers(batch, template="Sum up: {{text}}", read_as=seen)
    page = web.post(reverse("start", args=[batch.pk]), asked, follow=True)
    assert "you or a colleague changed how the file is read" in html(page)
    assert "Sum up: in June" in said(page)  # what was typed is kept
    batch.refresh_from_db()
    assert batch.status == BatchStatus.DRAFT
    press_start(web, batch, template="Sum up: {{text}}", read_as=shown_key(web, batch))
    batch.refresh_from_db()
    assert batch.status == BatchStatus.PREPARING


def test_a_packed_text_can_be_read_in_another_encoding_too(web: Client) -> None:
    packed = gzip.compress("id;text\n1;Größe\n2;Šárka\n".encode("cp1250"))
    batch = drafted(web, packed, "texts.csv.gz")
    batch = read_as(web, batch, encoding="cp1251")
    assert batch.first_rows[1] == ["2", "Љбrka"]
    batch = read_as(web, batch, encoding="cp1250")
    assert batch.first_rows[1] == ["2", "Šárka"]


def test_what_is_found_out_later_replaces_what_the_page_shows(web: Client) -> None:
    upload(web, reviews(), "reviews.xlsx")
    batch = Batch.objects.get()
    page = html(web.get(batch.get_absolute_url()))
    assert "The first rows appear here as soon as they are read." in page
    found = re.search(r'hx-get="([^"]*/checking/[^"]*)"', page)
    assert found
    address = unescape(found[1])
    assert web.get(address, headers=HTMX).status_code == 204
    checking.check_file(batch.pk)
    fresh = web.get(address, headers=HTMX)
    assert "Reviews of May" in said(fresh)
    assert 'id="sheet"' in html(fresh)
    assert html(fresh).count('hx-swap-oob="true"') == 4
    assert 'data-insert="{{stars}}"' in html(fresh)
