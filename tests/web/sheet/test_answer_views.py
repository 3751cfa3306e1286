"""How an answer is shown in full."""

import json

import msgspec
import pytest

from batchui.web.sheet import answer_views
from batchui.web.sheet.answer_views import view_of


def raw(value: object) -> bytes:
    return msgspec.json.encode(value)


def test_no_answer_is_an_empty_text() -> None:
    assert view_of(None).text == ""
    assert view_of(None).kind == "text"


def test_a_text_keeps_its_line_breaks() -> None:
    view = view_of(raw("One.\n\n  Two."))
    assert (view.kind, view.text, view.is_cut) == ("text", "One.\n\n  Two.", False)


@pytest.mark.parametrize("answer", [raw(12), raw(True), raw("12"), raw("{no json"), b'"half \\ud8'])
def test_whatever_is_no_structure_is_text(answer: bytes) -> None:
    assert view_of(answer).kind == "text"


@pytest.mark.parametrize("answer", [b'{"a":[1,{"b":"c"}]}', raw('{"a":[1,{"b":"c"}]}')])
def test_json_is_laid_out_as_a_value_and_as_a_text(answer: bytes) -> None:
    view = view_of(answer)
    assert view.kind == "json"
    assert view.text == json.dumps({"a": [1, {"b": "c"}]}, indent=2)


def test_a_number_in_json_stays_as_it_was_written() -> None:
    assert "1.10" in view_of(b'{"price":1.10}').text


def test_markdown_is_shown_and_its_text_is_there_to_copy() -> None:
    view = view_of(raw("This is **bold**."))
    assert view.kind == "markdown"
    assert view.html == "<p>This is <strong>bold</strong>.</p>\n"
    assert view.text == "This is **bold**."


def test_an_embedding_is_a_strip_of_bars() -> None:
    view = view_of(raw([0.5, -1, *[0.25] * 14]))
    assert view.kind == "vectors"
    (vector,) = view.vectors
    assert vector.sentence == "16 numbers, from -1 to 0.5"
    # The farthest from 0 fills its half; the middle is at 20, and above is less.
    assert vector.path.startswith("M1 20V10.0M3 20V40.0M5 20V15.0")
    assert vector.width == 32
    assert view.text.startswith("[0.5,-1,0.25")


def test_a_long_embedding_has_as_many_bars_as_can_be_seen() -> None:
    (vector,) = view_of(raw([0.1] * 1_000 + [-0.9] + [0.1] * 23)).vectors
    assert vector.length == 1_024
    assert vector.path.count("M") == answer_views.MOST_BARS
    assert vector.path.count("V40.0") == 1  # what is farthest from 0 is not lost among others


def test_an_embedding_of_noughts_is_flat() -> None:
    (vector,) = view_of(raw([0] * 16)).vectors
    assert set(vector.path.split("M")[1:]) == {f"{2 * n + 1} 20V20.0" for n in range(16)}


def test_several_embeddings_are_counted_and_the_first_are_drawn() -> None:
    view = view_of(raw([[0.1] * 16] * 20))
    assert (view.vector_count, len(view.vectors)) == (20, answer_views.MOST_VECTORS)


@pytest.mark.parametrize(
    "value", [[1] * 15, [1.5] * 15 + ["x"], [True] * 16, [[0.1] * 16, [0.1] * 17], [[]], []]
)
def test_another_list_is_json(value: list[object]) -> None:
    assert view_of(raw(value)).kind == "json"


def test_a_page_shows_so_much_of_a_text() -> None:
    longest = answer_views.LONGEST
    assert not view_of(raw("a" * longest)).is_cut
    view = view_of(raw("a" * (longest + 1)))
    assert (view.is_cut, view.text) == (True, "a" * longest)


def test_a_huge_answer_is_not_taken_apart() -> None:
    huge = raw({"a": "b" * answer_views.LONGEST_TAKEN_APART})
    view = view_of(huge)
    assert (view.kind, view.is_cut) == ("text", True)
    assert view.text.startswith('{"a":"bbb')


def test_json_nested_deep_breaks_nothing() -> None:
    assert view_of(b'"' + b"[" * 50_000 + b'"').kind == "text"
