"""JSON documents become lines of objects, or cells; a mistake names its place."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchui.prompts.conversion.converted import Jsonl, Progress, Sheet
from batchui.prompts.conversion.json_documents import convert
from batchui.prompts.conversion.looking import File
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import Made, made_of_bytes

OBJECTS = [{"a": 1, "b": "x"}, {"a": 2, "b": "ü\n"}]


def made(folder: Path, text: str, name: str = "x.json", encoding: str = "utf-8") -> Made:
    return made_of_bytes(folder, text.encode(encoding), name)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (json.dumps(OBJECTS), None),
        (json.dumps(OBJECTS, indent=4, ensure_ascii=False), None),
        (json.dumps(OBJECTS, indent="\t").replace("\n", "\r\n"), None),
        (" \n\n" + json.dumps(OBJECTS) + "\n \n", None),
        (json.dumps({"data": OBJECTS}), "data"),
        (json.dumps({"count": 2, "names": ["a", "b"], "none": [], "data": OBJECTS}), "data"),
        (json.dumps({"requests": OBJECTS, "meta": {"list": [{"a": 1}]}}, indent=2), "requests"),
        ("\n".join(json.dumps(one, indent=2) for one in OBJECTS), None),
        ("".join(json.dumps(one) for one in OBJECTS), None),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_document_becomes_lines_of_objects(
    tmp_path: Path, text: str, inside: str | None, encoding: str
) -> None:
    found = made(tmp_path, text, encoding=encoding)
    assert found.rows == OBJECTS
    assert found.result == Jsonl("rows.jsonl.zst", 2, inside)


def test_numbers_stay_as_they_are_written(tmp_path: Path) -> None:
    first = '{"a": [1.10, 1e5, 123456789012345678901234567890, -0.0, 1E-400]}'
    second = '{"b" : {"c":1.50}}'
    assert made(tmp_path, f"[{first},\n {second}]").lines == [first, second]


def test_a_single_object_without_a_list_is_a_row(tmp_path: Path) -> None:
    assert made(tmp_path, '{"a": 1, "tags": ["x"],\n "b": []}').lines == [
        '{"a": 1, "tags": ["x"],"b": []}'
    ]


def test_a_list_of_lists_is_a_table(tmp_path: Path) -> None:
    found = made(tmp_path, '[["id", "text"], [1.10, null, "", null], [], [null, {"a": [1.0]}]]')
    assert found.lines == ['["id","text"]', "[1.10]", "[]", '["","{\\"a\\":[1.0]}"]']
    assert found.sheet == Sheet(file="rows.jsonl.zst", name="", rows=4, columns=2)


def test_numbers_that_no_program_can_hold_are_texts_in_a_table(tmp_path: Path) -> None:
    found = made(tmp_path, f"[[1e308, 1e309, -1e400], [{10**308}, {10**309}]]")
    assert found.rows == [[1e308, "1E+309", "-1E+400"], [10**308, str(10**309)]]


def test_the_largest_whole_number_that_programs_hold_is_one(tmp_path: Path) -> None:
    largest = int(sys.float_info.max)
    found = made(tmp_path, f"[[{largest}, {largest + 1}, -{largest}, -{largest + 1}]]")
    assert found.rows == [[largest, str(largest + 1), -largest, f"-{largest + 1}"]]


def test_many_single_values_stay_in_order_and_tell_how_far_they_are(tmp_path: Path) -> None:
    text = json.dumps([f"text {at}" for at in range(1000)])
    found = made(tmp_path, text)
    assert found.rows == [[f"text {at}"] for at in range(1000)]
    assert found.news[0] == Progress(len(text), len(text))


def test_a_list_of_texts_and_numbers_is_a_column(tmp_path: Path) -> None:
    found = made(tmp_path, '["one\\n", 2.50, true, null, "five"]')
    assert found.lines == ['["one\\n"]', "[2.50]", "[true]", "[]", '["five"]']
    assert found.sheet.header is False  # the first text is no name
    assert made(tmp_path, '[["a"], ["b"]]').sheet.header is None


@pytest.mark.parametrize("text", ["[]", '{"data": []}', '{"requests": []}', '{"a": [], "b": []}'])
def test_a_list_without_items_is_empty(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput) as caught:
        made(tmp_path, text)
    sentence = "The list in this JSON document is empty. Choose a file with rows."
    assert str(caught.value) == sentence


def test_an_object_with_an_empty_list_besides_its_texts_is_a_row(tmp_path: Path) -> None:
    assert made(tmp_path, '{"text": "", "tags": []}').rows == [{"text": "", "tags": []}]


def test_lists_on_lines_of_their_own_are_a_table(tmp_path: Path) -> None:
    found = made(tmp_path, '["id", "text"]\n[1, "x"]\n\n[2, "y"]\n', "x.jsonl")
    assert found.rows == [["id", "text"], [1, "x"], [2, "y"]]


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), min_size=1))
@settings(max_examples=60, deadline=None)
def test_whatever_objects_a_list_has_come_back(objects: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        assert made(Path(folder), json.dumps(objects, indent=1)).rows == objects


def test_items_longer_than_what_is_read_at_once(tmp_path: Path) -> None:
    objects = [{"at": at, "text": str(at % 10) * (300_000 * at)} for at in range(1, 5)]
    assert made(tmp_path, json.dumps(objects)).rows == objects
    assert made(tmp_path, json.dumps({"data": objects}, indent=1)).rows == objects


@pytest.mark.parametrize("at", range(262_130, 262_150))
def test_a_number_at_the_end_of_what_is_read_is_not_cut(tmp_path: Path, at: int) -> None:
    text = '["' + "x" * (at - 4) + '",12345]'
    assert made(tmp_path, text).lines[1] == "[12345]"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[{"a": 1},\n{"b": nope}]',
            "Item 2 (line 2): this is no JSON (expecting value). Correct it, and upload the file "
            "again.",
        ),
        (
            '[{"a": 1},\n\n{"a": NaN}]',
            "Item 2 (line 3): this is no JSON (NaN is no number; write null, or leave it out). "
            "Correct it, and upload the file again.",
        ),
        (
            '[{"a": 1} {"a": 2}]',
            "Item 1 (line 1): this is no JSON (“,” or “]” is expected here, not “{”). Correct it, "
            "and upload the file again.",
        ),
        (
            '[{"a": 1}]\n]',
            "Line 2: this is no JSON (the document has ended, and “]” follows). Correct it, and "
            "upload the file again.",
        ),
        (
            '[{"a": 1},\n{"a": 2',
            "Item 2 (line 2): the file ends in the middle. It was not copied or downloaded whole. "
            "Get it again, and upload that.",
        ),
        (
            '[{"a": 1},\n{"a": "x',
            "Item 2 (line 2): the file ends in the middle. It was not copied or downloaded whole. "
            "Get it again, and upload that.",
        ),
        (
            '[{"a": 1}',
            "Item 1 (line 1): the file ends in the middle. It was not copied or downloaded whole. "
            "Get it again, and upload that.",
        ),
        (
            '{"a": 1,\n"x": 1}\n{"a": 2}\n\n{"a": nope}',
            "Item 3 (line 5): this is no JSON (expecting value). Correct it, and upload the file "
            "again.",
        ),
        (
            '{"data": [{"a": 1}],\n"b": nope}',
            "Line 2: this is no JSON (expecting value). Correct it, and upload the file again.",
        ),
        (
            '{"data":\n[{"a": 1}]}\n}',
            "Line 3: this is no JSON (the document has ended, and “}” follows). Correct it, and "
            "upload the file again.",
        ),
        (
            '[{"a": 1}, 2]',
            "Item 2 is a number, while the first is an object. Make all items alike: objects are "
            "best.",
        ),
        (
            '["a", {"b": 1}]',
            "Item 2 is an object, while the first is a text. Make all items alike: objects are "
            "best.",
        ),
        (
            "[[1], null]",
            "Item 2 is null, while the first is a list. Make all items alike: objects are best.",
        ),
        (
            '[1, {"b": 1}]',
            "Item 2 is an object, while the first is a number. Make all items alike: objects are "
            "best.",
        ),
        (
            "[true, [1]]",
            "Item 2 is a list, while the first is true or false. Make all items alike: objects "
            "are best.",
        ),
        (
            '{"a": 1,\n"b": 2}\n7',
            "Line 3: this is no JSON (the document has ended, and “7” follows). Correct it, and "
            "upload the file again.",
        ),
        ("[]", "The list in this JSON document is empty. Choose a file with rows."),
        (
            '{"a": [{"x": 1}], "b": [{"x": 1}]}',
            "This JSON document has two lists of objects, “a” and “b”. Save the one that has your "
            "rows as a file of its own.",
        ),
    ],
)
def test_a_mistake_names_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        made(tmp_path, text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("objects", [1, 40_000])
def test_a_byte_that_no_text_has_names_its_line(tmp_path: Path, objects: int) -> None:
    text = "[" + '{"a": "some text"},\n' * objects + '{"a": "\0"}]'
    with pytest.raises(BadInput, match=rf"^Line {objects + 1:,}: there is a NUL byte, which no"):
        made(tmp_path, text)


def test_a_mistake_far_down_names_its_item_and_line(tmp_path: Path) -> None:
    text = "[" + '{"a": "some text"},\n' * 40_000 + '{"a": nope}]'
    with pytest.raises(
        BadInput, match=r"^Item 40,001 \(line 40,001\): this is no JSON \(expecting"
    ):
        made(tmp_path, text)


def test_a_long_object_without_a_list_of_objects(tmp_path: Path) -> None:
    text = json.dumps({"a": "x" * 1_100_000, "b": [1, 2]})
    with pytest.raises(BadInput) as caught:
        made(tmp_path, text)
    assert str(caught.value) == (
        "There is no list of objects in this JSON document. Write the rows as a list: "
        '[{"text": "…"}, {"text": "…"}].'
    )


def test_an_item_that_is_too_long_for_a_row(tmp_path: Path) -> None:
    fits = '[{"a": 1}, {"a": "%s"}]'
    assert len(made(tmp_path, fits % ("x" * 7_900_000)).rows) == 2
    with pytest.raises(BadInput, match=r"^Item 2 \(line 1\): what begins here is longer than 8 MB"):
        made(tmp_path, fits % ("x" * 9_000_000))


def test_what_is_nested_too_deeply(tmp_path: Path) -> None:
    deep = "[" * 100_000
    with pytest.raises(BadInput, match=r"this is no JSON \(its lists and objects are nested too"):
        made(tmp_path, '[{"a": 1}, {"a": ' + deep + "]" * 100_000 + "}]")


def test_a_number_with_a_million_digits(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"\(it has a number with more than 4,300 digits\)"):
        made(tmp_path, '[{"a": ' + "9" * 1_000_000 + "}]")


def test_what_is_no_document_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"hello")
    out = Output(tmp_path, most_bytes=100, tell=lambda news: None)
    with pytest.raises(BadInput) as caught:
        convert(File(path, "x.json", b"hello"), out)
    assert str(caught.value) == (
        "This is no JSON document: it has to begin with [ or {. Write a list of objects, like "
        '[{"text": "…"}, {"text": "…"}], or one object on each line.'
    )


def test_a_mistake_deep_inside_a_long_item_is_found_before_its_end(tmp_path: Path) -> None:
    text = '[{"a": "%s", "b": nope, "c": "%s"}]' % ("x" * 10, "y" * 2_000_000)  # noqa: UP031
    with pytest.raises(BadInput, match=r"^Item 1 \(line 1\): this is no JSON \(expecting value\)"):
        made(tmp_path, text)
