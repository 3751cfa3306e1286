"""Items with pictures: what they look like, what they need, and how many fit into a request."""

import json
from base64 import b64decode
from typing import Any

import msgspec
import pytest

from batchui.cloudflare import catalogue
from batchui.prompts.ask import Ask
from batchui.prompts.cutting import Limits, cut
from batchui.prompts.items import ItemWriter
from batchui.prompts.payload import payload
from batchui.prompts.pictures import (
    LARGEST_PICTURE,
    PICTURE_BYTES,
    is_picture_name,
    with_picture,
)
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.readers import Row
from batchui.prompts.reading.rows import encode_row
from tests.prompts.files import together

COLUMNS = ("id", "photo")
SEES = "@cf/google/gemma-4-26b-a4b-it"


def writer(**changes: Any) -> ItemWriter:
    asked = {"template": "What is it?", "picture_column": "photo"} | changes
    return ItemWriter("messages", Ask(**asked), COLUMNS)


def test_a_picture_stands_behind_the_text_of_the_last_message() -> None:
    item = writer(instruction="Be brief", temperature=0.5).encode(3, ["1", "a.jpg"])
    pictured = json.loads(with_picture(item, b"\x89PNG", "image/png"))
    before = json.loads(item)
    system, user = pictured["messages"]
    assert system == before["messages"][0]
    text, picture = user["content"]
    assert text == {"type": "text", "text": "What is it?"}
    assert picture == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    assert {**before, "messages": 0} == {**pictured, "messages": 0}


@pytest.mark.parametrize("size", [1, 2, 3, LARGEST_PICTURE - 1, LARGEST_PICTURE])
def test_no_picture_adds_more_bytes_than_it_is_counted_with(size: int) -> None:
    item = writer().encode(3, ["1", "a.jpg"])
    added = len(with_picture(item, b"x" * size, "image/jpeg")) - len(item)
    assert added <= PICTURE_BYTES
    assert size < LARGEST_PICTURE or added == PICTURE_BYTES


def test_a_question_with_a_picture_needs_no_column() -> None:
    assert json.loads(writer().encode(3, ["1", "a.jpg"]))["messages"][0]["content"] == "What is it?"
    with pytest.raises(BadInput, match="names no column"):
        writer(picture_column="")


def test_a_question_with_a_picture_may_have_columns() -> None:
    item = json.loads(writer(template="Is {{id}} new?").encode(3, ["7", "a.jpg"]))
    assert item["messages"][0]["content"] == "Is 7 new?"


def test_a_mark_that_is_not_closed_is_told_beside_a_picture_too() -> None:
    with pytest.raises(BadInput, match="does not close"):
        writer(template="Is {{id new?")


def test_a_column_of_pictures_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInput, match="The column for pictures, “image”, is not in the file"):
        writer(picture_column="image")


def test_a_model_that_sees_nothing_is_told() -> None:
    blind = catalogue.find("@cf/qwen/qwen3-30b-a3b-fp8")
    asked = Ask(template="What is it?", picture_column="photo")
    with pytest.raises(BadInput, match="Qwen3 30B cannot see pictures"):
        ItemWriter("messages", asked, COLUMNS, model=blind)
    ItemWriter("messages", asked, COLUMNS, model=catalogue.find(SEES))
    with pytest.raises(BadInput, match="takes no pictures"):
        ItemWriter("prompt", asked, COLUMNS, model=msgspec.structs.replace(blind, sees=True))


@pytest.mark.parametrize("cell", ["", "  ", "\n"])
def test_a_row_without_a_picture_is_blank(cell: str) -> None:
    made = writer(template="Is {{id}} new?")
    for asked in (
        lambda: made.encode(3, ["7", cell]),
        lambda: made.size(3, ["7", cell], stored=20, enough=10_000),
    ):
        with pytest.raises(BadInput) as caught:
            asked()
        assert caught.value.problem.blank
        assert "photo" in str(caught.value)
    assert made.question(["7", cell]) is None


def test_a_row_with_a_picture_and_no_other_text_is_asked_all_the_same() -> None:
    made = writer(template="Is {{id}} new?")
    item = json.loads(made.encode(3, ["", "a.jpg"]))
    assert item["messages"][0]["content"] == "Is  new?"
    assert made.size(3, ["", "a.jpg"], stored=20, enough=0) >= len(made.encode(3, ["", "a.jpg"]))


def test_the_same_question_of_two_pictures_is_not_the_same() -> None:
    made = writer()
    same, other = ["1", "a.jpg"], ["2", "b.jpg"]
    assert made.question(same) == made.question(["9", " a.jpg "]) != made.question(other)


def test_a_picture_is_what_its_cell_says() -> None:
    assert writer().picture(["1", " a.jpg\n"]) == "a.jpg"
    assert writer().picture({"photo": "b.jpg"}) == "b.jpg"
    assert writer().picture(["1"]) == ""
    assert writer(picture_column="", template="{{id}}").picture(["1", "a.jpg"]) == ""


def test_ready_made_items_are_sent_without_one() -> None:
    made = writer(as_items=True, template="")
    assert (made.picture({"photo": "a.jpg"}), made.picture_bytes) == ("", 0)


# -- how many fit ---------------------------------------------------------------------------------


def rows(count: int, text: str = "x") -> list[Row]:
    return [Row(number, number, [text, "a.jpg"], None, None) for number in range(2, count + 2)]


def sizes_of(parts: Any) -> list[int]:
    return [len(part.lines) for part in parts]


def test_parts_are_cut_so_that_their_pictures_fit() -> None:
    limits = Limits(parts=1)
    [first, *_] = parts = list(cut(together(rows(120)), writer(), total=120, limits=limits))
    assert sizes_of(parts) == [49, 49, 22]
    body = payload(
        first.lines,
        None,
        first_row=2,
        writer=writer(),
        picture_of=lambda _: (b"x" * LARGEST_PICTURE, "image/jpeg"),
    )
    assert len(body) <= first.item_bytes <= limits.item_bytes
    assert len(body) + PICTURE_BYTES > limits.item_bytes


def test_a_picture_does_not_count_as_text_that_the_model_has_to_read() -> None:
    [part] = cut(together(rows(1)), writer(), total=1, limits=Limits(context_window=100))
    assert part.invalid == {}
    [part] = cut(
        together(rows(1, "x" * 600)),
        writer(template="{{id}}"),
        total=1,
        limits=Limits(context_window=100),
    )
    assert list(part.invalid) == [0]


def test_a_question_that_leaves_its_picture_no_room_is_too_large() -> None:
    limits = Limits(item_bytes=PICTURE_BYTES + 500)
    [part] = cut(together(rows(1)), writer(), total=1, limits=limits)
    assert part.invalid == {}
    [part] = cut(together(rows(1, "x" * 400)), writer(template="{{id}}"), total=1, limits=limits)
    assert list(part.invalid) == [0]


def test_each_item_of_a_request_has_the_picture_of_its_own_row() -> None:
    lines = [encode_row([str(number), f"{number}.jpg"]) for number in range(3)]
    body = payload(
        lines,
        [0, 2],
        first_row=2,
        writer=writer(),
        picture_of=lambda position: (b"%d" % position, "image/jpeg"),
    )
    items = json.loads(body)["requests"]
    urls = [item["messages"][0]["content"][1]["image_url"]["url"] for item in items]
    assert [b64decode(url.partition(",")[2]) for url in urls] == [b"0", b"2"]
    assert [item["external_reference"] for item in items] == ["2", "4"]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("a.JPG", True), ("b/c.jpeg", True), ("c.png", True), ("d.txt", False), ("jpg", False)],
)
def test_a_picture_is_known_by_the_end_of_its_name(name: str, is_one: bool) -> None:
    assert is_picture_name(name) is is_one
