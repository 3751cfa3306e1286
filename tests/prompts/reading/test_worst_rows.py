"""Files made to be expensive: their rows have limits, and cost as much as they are long."""

import io
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from batchui.prompts.problems import (
    LIMITS,
    LINE_LIMIT,
    NAME_LIMIT,
    NAMES_LIMIT,
    VALUE_LIMIT,
    BadInput,
    empty_line,
)
from batchui.prompts.reading.dialects import HEAD_ROWS, head_rows
from batchui.prompts.reading.readers import read_blocks
from batchui.prompts.reading.rows import cell_text, decode_row, decode_to_show, encode_row
from tests.prompts.files import cells_of, format_of, report_of, rows_of
from tests.worst import assert_cheap, cost


def lists(number: int, *, of: bytes = b"[]") -> bytes:
    """A line whose object has a list of so many; empty lists are quick to write, and large."""
    return b'{"a":[' + b",".join([of] * number) + b"]}\n"


def test_an_object_has_as_many_values_as_allowed_and_no_more() -> None:
    besides = 2  # the object, and the list with the others
    with_text = lists(VALUE_LIMIT - besides - 1).replace(b"{", b'{"b":",",')
    too_many = lists(VALUE_LIMIT - besides + 1, of=b"1")
    report = report_of(b'{"a":1}\n' + with_text + too_many, "a.jsonl")
    [problem] = report.problems
    assert problem == (
        "Row 3: this object has more than 50,000 values, too many for one row. Shorten "
        "its lists, or skip the row."
    )


def test_a_line_is_as_long_as_allowed_and_no_longer() -> None:
    values = [f'"{key}":"{"x" * 900_000}"' for key in "abcdefgh"]
    object_ = "{%s}" % ",".join(values)  # noqa: UP031
    longest = object_[:-1] + " " * (LINE_LIMIT - len(object_)) + "}"
    # The first piece that is read is the whole line, without the break at its end.
    [row] = rows_of(longest.encode() + b"\n", "a.jsonl", piece=LINE_LIMIT)
    assert row.problem is None
    with pytest.raises(BadInput) as caught:
        rows_of(b"{}\n " + longest.encode() + b"\n", "a.jsonl", piece=LINE_LIMIT + 4)
    assert str(caught.value) == (
        "Line 2: what begins here is longer than 8 MB, too long for one row. Perhaps line breaks "
        "are missing, or a quotation mark is not closed. Correct it, or remove the line."
    )


def test_what_is_in_a_text_is_no_value() -> None:
    text = '[1,{"a":\\"' * 60_000
    [row] = rows_of(json.dumps({"a": text}).encode() + b"\n", "a.jsonl")
    assert (row.cells, row.problem) == ({"a": text}, None)


@pytest.mark.parametrize(
    "line",
    [
        lists(2_600_000),
        lists(300_000),
        b'{"a":"' + b',\\"' * 300_000 + b"}\n",
        b'{"a":"' + b",\\" * 400_000 + b"}\n",
        b'{"a":' + b'","' * 300_000 + b"}\n",
        b'{"' + b"k" * 4_000_000 + b'":1}\n',
    ],
    ids=["8 MB of lists", "lists", "never closed", "backslashes", "commas", "a name"],
)
def test_an_object_that_is_too_large_is_refused_in_no_time(line: bytes) -> None:
    def read() -> None:
        with suppress(BadInput):
            assert report_of(b'{"a":1}\n' + line, "a.jsonl").bad_rows == 1

    assert_cheap(read)


@pytest.mark.parametrize("start", [b"", b'"x"'], ids=["plain", "quoted"])
def test_a_line_of_as_many_cells_as_are_counted_keeps_its_text(start: bytes) -> None:
    line = start + b"," * (VALUE_LIMIT - 1)
    data = b"a,b\n1,2\n" + line + b"\n"
    [problem] = report_of(data).problems
    assert "50,000 cells where the header has 2 columns." in problem
    assert "more than" not in problem
    assert ",".join(cells_of(data)[1]) == line.decode().replace('"', "")


@pytest.mark.parametrize("start", [b"", b'"x"'], ids=["plain", "quoted"])
def test_a_line_of_commas_costs_little_and_keeps_its_text(start: bytes) -> None:
    line = start + b"," * 900_000
    data = b"a,b\n1,2\n" + line + b"\n"
    [problem] = report_of(data).problems
    assert "more than 50,000 cells where the header has 2 columns." in problem
    cells = cells_of(data)[1]
    assert len(cells) == VALUE_LIMIT + 1
    assert ",".join(cells) == line.decode().replace('"', "")


def test_the_longest_line_of_commas_is_refused_in_no_time() -> None:
    data = b"a,b\n1,2\n" + b"," * 7_900_000 + b"\n"

    def read() -> None:
        with pytest.raises(BadInput, match=r"^Row 3: this cell is longer than"):
            report_of(data)

    assert_cheap(read)


def test_the_rows_after_a_long_one_are_not_in_memory_with_it() -> None:
    data = b"a\n" + b"x" * 990_000 + b"\n" + (b"y" * 99 + b"\n") * 15_000
    blocks = read_blocks(io.BytesIO(data), format_of(data))
    assert max(sum(len(cells[0]) for cells in block.cells) for block in blocks) < 1_100_000


@pytest.mark.parametrize("mark", ["", '"'], ids=["plain", "quoted"])
def test_a_long_line_takes_little_more_memory_than_its_text(mark: str) -> None:
    cell = f"{mark}\U0001f600{'x' * 900_000}{mark}"  # one such sign, and all take four bytes
    data = f"a,b,c,d,e,f,g,h\n{','.join([cell] * 8)}\n".encode()
    assert report_of(data).rows == 1
    assert_cheap(lambda: report_of(data))


def test_the_sentence_about_a_row_is_made_when_somebody_reads_it() -> None:
    data = b"a,b\n1,2\n" + b"\n" * 5_000 + b"3,4\n"
    blocks = list(read_blocks(io.BytesIO(data), format_of(data)))
    assert {made for block in blocks for made in block.problems.values()} == {empty_line}
    assert blocks[0].problem(1) == empty_line([], 3, 3)


def test_the_delimiter_is_found_in_the_first_rows() -> None:
    text = "a,b\n" + "\n1,2\n" * 2 * HEAD_ROWS
    rows = head_rows(text, ",", whole=True)
    assert (len(rows), rows[-2:]) == (HEAD_ROWS, [["1", "2"], []])


# -- names of columns ---------------------------------------------------------------------------

LONGEST = "n" * NAME_LIMIT


def test_a_column_of_a_csv_has_a_name_as_long_as_allowed_and_no_longer() -> None:
    assert format_of(f"a,{LONGEST}\n1,2\n".encode()).columns == ("a", LONGEST)
    with pytest.raises(
        BadInput, match=r"^Row 1: the name of column 2, “n{60}…”, has 1,001 characters; at most"
    ):
        format_of(f"a,{LONGEST}n\n1,2\n".encode(), header_row=1)


def test_a_key_is_as_long_as_allowed_and_no_longer() -> None:
    def line(name: str) -> bytes:
        return json.dumps({name: 1}).encode() + b"\n"

    assert report_of(line("a") + line(LONGEST), "a.jsonl").format.columns == ("a", LONGEST)
    with pytest.raises(
        BadInput, match=r"^Row 2: the key “n{60}…” has 1,001 characters; at most 1,000"
    ):
        report_of(line("a") + line(f"{LONGEST}n"), "a.jsonl")


def test_keys_are_as_long_together_as_allowed_and_no_longer() -> None:
    def lines(number: int) -> bytes:
        names = (f"{key:0{NAME_LIMIT}}" for key in range(number))
        return b"".join(json.dumps({name: 1}).encode() + b"\n" for name in names)

    most = NAMES_LIMIT // NAME_LIMIT
    assert len(report_of(lines(most), "a.jsonl").format.columns) == most
    with pytest.raises(BadInput, match=r"or keys of more than 250,000 characters together, too"):
        report_of(lines(most + 20), "a.jsonl")


def test_long_lines_without_a_header_are_prompts_also_with_a_comma_each() -> None:
    line = b"x" * NAME_LIMIT + b"y,z\n"
    assert format_of(line * 3, "prompts").kind == "txt"
    names = b"x" * NAME_LIMIT + b",z\n"
    assert format_of(names + b"a,b\n" * 2, "prompts").kind == "csv"


# -- rows that are shown ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [None, "", "a", '"é\n', 0, 1.5, True, [], [None, "é"], {"a": {"b": []}}]
)
def test_a_stored_cell_that_is_shown_is_the_same_text(value: object) -> None:
    shown = decode_to_show(encode_row({"a": value}))
    assert isinstance(shown, dict)
    assert cell_text(shown["a"]) == cell_text(value)


def test_nothing_is_made_of_the_lists_in_a_row_that_is_shown() -> None:
    line = lists(5_000)

    def megabytes(decode: Callable[[bytes], Any]) -> float:
        return cost(lambda: decode(line))[1]

    assert 100 * megabytes(decode_to_show) < megabytes(decode_row)


def test_the_limits_are_those_that_were_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LIMITS, "cell", 5_000)
    monkeypatch.setattr(LIMITS, "columns", 2)
    assert report_of(b"a,b\n1,%b\n" % (b"x" * 5_000)).rows == 1
    for data, name in (
        (b"a,b\n1,%b\n", "r.csv"),
        (b'a,b\n1,"%b"\n', "r.csv"),
        (b"%b\n", "r.txt"),
        (b'{"a": "%b"}\n', "r.jsonl"),
    ):
        with pytest.raises(BadInput, match=r"this cell is longer than 5,000 characters"):
            report_of(data % (b"x" * 5_001), name)
    with pytest.raises(BadInput, match=r"^The table has 3 columns; at most 2 can be read"):
        format_of(b"a,b,c\n1,2,3\n")
    with pytest.raises(BadInput, match=r"more than 2 different keys"):
        report_of(b'{"a": 1, "b": 2}\n{"c": 3}\n', "r.jsonl")
