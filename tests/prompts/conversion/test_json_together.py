"""Objects of a list that are taken many at a time come out as if each had been read alone."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from batchui.prompts.conversion.json_text import LONGEST_TOGETHER, JsonText
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import made_of_bytes

# More than is read at once (256 KB).
MANY = 4_000


def review(number: int, text: str = "ok") -> dict[str, Any]:
    """An object with what may look like the end of one: in texts, in lists, in objects."""
    tricks = ['},{"', "},\n{", "\\", '"}', "ü]}", "{[", ""]
    return {
        "row": number,
        "text": f"{text} {tricks[number % len(tricks)]}",
        "inner": {"list": [{"a": number}, {"b": [{}]}, {}], "none": None},
        "tags": [] if number % 3 else [{"tag": "x"}, {"tag": "y"}],
    }


@pytest.mark.parametrize(
    ("form", "line_break"),
    [
        ({}, ""),
        ({"separators": (",", ":")}, ""),
        ({"indent": 2, "ensure_ascii": False}, "\n"),
        ({"indent": "\t"}, "\r\n"),
        ({"indent": 1}, "\r"),
    ],
)
def test_a_long_list_comes_back_whole_and_in_order(
    tmp_path: Path, form: dict[str, Any], line_break: str
) -> None:
    wanted = [review(number) for number in range(MANY)]
    text = json.dumps(wanted, **form).replace("\n", line_break)
    found = made_of_bytes(tmp_path, text.encode(), "x.json")
    assert [json.loads(line) for line in found.files[0].split(b"\n")[:-1]] == wanted
    assert b"\r" not in found.files[0]


def test_numbers_keep_their_text_where_many_objects_are_taken_together(tmp_path: Path) -> None:
    lines = [f'{{"a": {number}.10, "b":1E-400}}' for number in range(12_000)]
    found = made_of_bytes(tmp_path, f"[{', '.join(lines)}]".encode(), "x.json")
    assert found.lines == lines


def test_most_objects_are_taken_together(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([review(number) for number in range(MANY)]))
    with path.open("rb") as stream:
        text = JsonText(stream)
        taken = [value.lines for value in text.items()]
    assert sum(taken) == MANY
    assert text.done == path.stat().st_size
    assert taken[0] == 1, "the first is known before others are taken"
    assert len(taken) < 20


@pytest.mark.parametrize(("longer", "taken"), [(0, [1, 9]), (1, [1] * 10)])
def test_only_objects_without_very_long_numbers_are_taken_together(
    longer: int, taken: list[int]
) -> None:
    one = '{"a": "%s"}' % ("x" * (LONGEST_TOGETHER + longer - len('{"a": ""}')))
    stream = io.BytesIO(f"[{', '.join([one] * 10)}]".encode())
    assert [value.lines for value in JsonText(stream).items()] == taken


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ('{"a": NaN}', "Item 3,001 (line 3,001): this is no JSON (NaN is no number; write null"),
        ('{"a": 1', "Item 3,001 (line 3,002): this is no JSON (expecting property name"),
        ("7", "Item 3,001 is a number, while the first is an object."),
        ('["a"]', "Item 3,001 is a list, while the first is an object."),
        (
            f'{{"a": {"1" * (LONGEST_TOGETHER + 1)}}}',
            "Item 3,001 (line 3,001): this is no JSON (it has a number with more than 4,300",
        ),
        ('{"a": 1}\n{"b": 2}', "Item 3,001 (line 3,002): this is no JSON (“,” or “]” is expected"),
    ],
)
def test_a_mistake_among_many_objects_names_its_item(
    tmp_path: Path, wrong: str, sentence: str
) -> None:
    objects = [json.dumps(review(number)) for number in range(MANY)]
    objects[3_000] = wrong
    with pytest.raises(BadInput) as caught:
        made_of_bytes(tmp_path, ("[" + ",\n".join(objects) + "]").encode(), "x.json")
    assert str(caught.value).startswith(sentence)


def test_an_object_of_many_letters_is_read_alone(tmp_path: Path) -> None:
    wanted = [review(number, "x" * (LONGEST_TOGETHER + 1)) for number in range(200)]
    found = made_of_bytes(tmp_path, json.dumps(wanted).encode(), "x.json")
    assert found.rows == wanted
