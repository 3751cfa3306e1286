"""Values are found in JSON without decoding them, whatever is in them, and in linear time."""

import json
import time

import pytest

from batchui.cloudflare import json_scanner
from batchui.cloudflare.json_scanner import Broken, Scanner, depth

VALUES = [
    b"null",
    b"-1.5e+3",
    b"NaN",
    b'""',
    b'"a \\" b \\\\"',
    b'"{[,:]}"',
    b"[]",
    b"{}",
    b"[[],{}]",
    b'{"a": [1, {"b": "]"}], "c": "}"}',
    b"[" * 10_000 + b"]" * 10_000,
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("blank", [b"", b" \t\r\n"])
def test_a_value_ends_where_it_ends(value: bytes, blank: bytes) -> None:
    scanner = Scanner(blank + value + blank)
    assert scanner.kind() == value[:1]
    assert scanner.value() == value
    scanner.end()
    assert scanner.kind() == b""


@pytest.mark.parametrize("value", VALUES)
def test_elements_and_members_are_found_taken_or_not(value: bytes) -> None:
    text = b" [ %b , 7,%b ] " % (value, value)
    scanner = Scanner(text)
    assert [scanner.value() for _ in scanner.elements()] == [value, b"7", value]
    scanner.end()
    scanner = Scanner(text)
    assert len(list(scanner.elements())) == 3
    scanner.end()
    text = b' { "a" : %b , "b":7,"a\\"":%b } ' % (value, value)
    scanner = Scanner(text)
    found = [(name, scanner.value()) for name in scanner.members()]
    assert found == [(b"a", value), (b"b", b"7"), (b'a\\"', value)]
    scanner.end()
    scanner = Scanner(text)
    assert list(scanner.members()) == [b"a", b"b", b'a\\"']
    scanner.end()


def test_an_empty_list_has_no_elements_and_an_empty_object_no_members() -> None:
    scanner = Scanner(b"[[ ],{ }]")
    counts = []
    for _ in scanner.elements():
        is_list = scanner.kind() == b"["
        counts.append(len(list(scanner.elements() if is_list else scanner.members())))
    assert counts == [0, 0]
    scanner.end()


def walk(text: bytes) -> None:
    """To the end of the text, by its elements if it is a list."""
    scanner = Scanner(text)
    if scanner.kind() == b"[":
        list(scanner.elements())
    else:
        scanner.value()
    scanner.end()


@pytest.mark.parametrize(
    "text",
    [b"", b",", b"]", b'"no end', b'"no end\\"', b"[1", b"[[1]", b'["]', b"[1 2]", b"[,]", b"7 7"],
)
def test_what_is_broken_is_said(text: bytes) -> None:
    with pytest.raises(Broken, match=f"^JSON is broken after byte [0-9]+ of {len(text)}$"):
        walk(text)


@pytest.mark.parametrize("text", [b"{7: 1}", b'{"a" 1}', b'{"a": }', b'{"a": 1 "b": 2}', b'{"a":1'])
def test_an_object_that_is_broken_is_said(text: bytes) -> None:
    with pytest.raises(Broken):
        list(Scanner(text).members())


def test_what_has_too_many_lists_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert json_scanner.MOST_BRACKETS == 3_000_000
    monkeypatch.setattr(json_scanner, "MOST_BRACKETS", 1_000)
    # The first two brackets follow each other, and the last two.
    fits, over = b"[" + b'{},"[",' * 499 + b"[7]]", b"[" + b'{},"[",' * 500 + b"7]"
    assert len(Scanner(fits).value()) == len(fits)
    with pytest.raises(Broken, match=r"^more than 1,000 lists and objects$"):
        Scanner(over).value()
    with pytest.raises(Broken, match="more than"):  # the values of one text count together
        list(Scanner(b"[%b,%b]" % (fits, fits)).elements())


@pytest.mark.parametrize("text", [b'["' + b'\\"' * 500_000, b'[{"' * 300_000, b"[" * 1_000_000])
def test_what_has_no_end_is_found_broken_in_linear_time(text: bytes) -> None:
    began = time.process_time()
    with pytest.raises(Broken):
        Scanner(text).value()
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("value", "levels"),
    [(7, 0), ("[[[", 0), ([], 1), ([[], {}], 2), ({"a": [1, {"b": [[]]}], "c": [[]]}, 5)],
)
def test_the_depth_is_that_of_the_deepest_value(value: object, levels: int) -> None:
    assert depth(json.dumps(value).encode()) == levels
    assert depth(json.dumps([value, [0]]).encode()) == max(levels + 1, 2)
