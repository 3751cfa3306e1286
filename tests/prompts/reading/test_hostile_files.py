"""What bad input gets: a sentence that names the place, and no more memory than a chunk."""

import itertools
import random
import tracemalloc
from typing import BinaryIO, cast

import pytest

from batchui.prompts.problems import CELL_LIMIT, BadInput
from batchui.prompts.reading.checking import FirstProblems, check
from batchui.prompts.reading.format import HEAD_BYTES, Format
from batchui.prompts.reading.readers import read
from tests.prompts.files import Endless, format_of, place_of, report_of, rows_of

TABLE = Format("csv", "utf-8", ",", ("a", "b"), header_row=1, first_row=2)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.txt", "x"])
@pytest.mark.parametrize("data", [b"", b"\n\n  \r\n", b"\xef\xbb\xbf", " \n".encode("utf-16")])
def test_an_empty_file(name: str, data: bytes) -> None:
    with pytest.raises(BadInput, match=r"The file is empty. Choose a file with at least one row"):
        format_of(data, name)


def test_a_file_that_begins_with_nothing_but_blanks() -> None:
    with pytest.raises(BadInput, match=r"The file is empty"):
        format_of(b" " * HEAD_BYTES)
    with pytest.raises(
        BadInput, match=r"^The first 256 KB of the file are blank. Remove the blank lines"
    ):
        format_of(b" " * HEAD_BYTES + b"a,b\n1,2\n")


@pytest.mark.parametrize(
    "data", [b"id,text", b"id,text\n\n\n", b"\xef\xbb\xbfid,text\r\n", b"sep=;\nid;text\n"]
)
def test_a_header_without_rows(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"column names .“id” and “text”. but no rows under it. Add"):
        format_of(data)


def test_a_long_header_without_rows_is_found_by_the_check() -> None:
    data = b"id,text\n" + b"\n" * 300_000
    with pytest.raises(BadInput, match=r"The file has no rows"):
        report_of(data)


@pytest.mark.parametrize("seed", range(5))
def test_binary_rubbish_with_a_csv_name(seed: int) -> None:
    rubbish = b"\x07" + random.Random(seed).randbytes(5000)
    with pytest.raises(BadInput, match=r"This file is not text.*save it as CSV"):
        format_of(rubbish, "data.csv")


def test_text_with_one_control_character_in_thirty_bytes_is_text() -> None:
    assert format_of(b"x" * 28 + b"\x01\n", "x.txt").kind == "txt"
    with pytest.raises(BadInput, match="This file is not text"):
        format_of(b"x" * 27 + b"\x01\n", "x.txt")


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"%PDF-1.7\n", "a PDF document"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
        (b"Rar!\x1a\x07", "a RAR archive"),
        (b"SQLite format 3\x00", "a SQLite database"),
        (b"\x89PNG\r\n\x1a\n", "a picture .PNG"),
        (b"\xff\xd8\xff", "a picture .JPEG"),
        (b"{\\rtf", "a rich text document"),
        (b"<!DOCTYPE html>\n<html>", "a web page"),
    ],
)
def test_another_kind_of_file_is_called_by_its_name(start: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=rf"This file is .*{said}"):
        format_of(start + b"xx" * 50, "data.csv")


@pytest.mark.parametrize("start", [b"%PDF-1.7\n", b"\xff\xd8\xff", b"{\\rtf1"])
def test_what_to_do_with_another_kind_of_file_is_said_once(start: bytes) -> None:
    with pytest.raises(BadInput, match=r", then upload that\.$") as caught:
        format_of(start + b"xx" * 50, "data.csv")
    assert str(caught.value).count("upload") == 1


def test_a_header_that_merely_starts_like_an_archive_is_a_header() -> None:
    assert format_of(b"PK,text\n1,x\n").columns == ("PK", "text")


def test_an_unclosed_quotation_mark_names_the_line_where_it_opens() -> None:
    for piece in (1, 5, 1 << 20):
        with pytest.raises(BadInput) as caught:
            rows_of(b'a,b\n1,2\n3,"four\n5,6\n7,8\n', piece=piece)
        assert str(caught.value) == (
            "Row 3, column “b”: a quotation mark opens the cell here and nothing closes "
            "it. Close the cell where it ends, and write a quotation mark that belongs to the "
            'text as two ("").'
        )
        assert place_of(caught.value) == (3, 3, "b")


def test_an_unclosed_quotation_mark_behind_another_long_cell_names_its_own_line() -> None:
    with pytest.raises(BadInput, match=r"^Row 2 \(line 4\), column “b”"):
        rows_of(b'a,b\n"one\ntwo\nthree","four\nfive\n')


def test_an_unclosed_quotation_mark_that_a_later_one_closes_names_both_lines() -> None:
    with pytest.raises(BadInput, match=r"^Row 2, column “b”.* in line 4, has text"):
        rows_of(b'a,b\n1,"two\n3,4\n5,"six"\n')


def test_a_doubled_quotation_mark_does_not_close_a_cell() -> None:
    with pytest.raises(BadInput, match=r"^Row 2, column “b”.*nothing closes it"):
        rows_of(b'a,b\n1,"two""\n3,4\n')


@pytest.mark.parametrize(
    ("header", "what"),
    [
        (b'"a,b\n1,2\n', "not closed"),
        (b'a,"b\n1,2\n', "not closed"),
        (b'"a"x,b\n1,2\n', "closed within the cell"),
    ],
)
def test_quotation_marks_that_go_wrong_in_the_header(header: bytes, what: str) -> None:
    opens = "^Line 1: the quotation mark that opens a cell here is"
    with pytest.raises(BadInput, match=rf"{opens} {what}\. Put each"):
        format_of(header)


def test_nul_bytes_are_named_by_line() -> None:
    with pytest.raises(BadInput, match=r"^Line 3: there is a NUL byte") as caught:
        format_of(b"a,b\n1,2\n3,\0\n")
    assert place_of(caught.value)[1] == 3
    with pytest.raises(BadInput, match=r"^Line 2: there is a NUL byte"):
        format_of(b"a,b\n1,\0\n3,\0\n")
    late = b"a,b\n" + b"1,2\n" * 100_000 + b"3,\0\n"
    with pytest.raises(BadInput, match=r"^Line 100,002: there is a NUL byte"):
        report_of(late, max_rows=200_000)


@pytest.mark.parametrize("kind", ["csv", "txt", "jsonl"])
def test_a_line_of_50_mb_is_refused_after_8_mb(kind: str) -> None:
    start = [b"a,b\n1,2\n3,"]
    stream = Endless(itertools.chain(start, itertools.repeat(b"x" * 65_536, 800)))
    fmt = Format(kind, "utf-8", "," if kind == "csv" else None, ("a", "b"))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"^Line 3: what begins here is longer than 8 MB"):
        list(read(cast(BinaryIO, stream), fmt))
    assert stream.taken < 8_200_000


def test_a_quoted_cell_without_an_end_is_refused_after_a_million_characters() -> None:
    stream = Endless(itertools.chain([b'a,b\n1,"'], itertools.repeat(b"line\n" * 10_000, 1000)))
    with pytest.raises(BadInput, match=r"^Row 2, column “b”.*nothing closes it"):
        list(read(cast(BinaryIO, stream), TABLE))
    assert stream.taken < 2_200_000


@pytest.mark.parametrize(
    ("data", "name", "place"),
    [
        (b"a,b\n1,2\n3,%s\n", "x.csv", r"Row 3, column “b”"),
        (b'a,b\n1,2\n3,"%s"\n', "x.csv", r"Row 3, column “b”"),
        (b'{"a": 1}\n{"b": "%s"}\n', "x.jsonl", r"Row 2, column “b”"),
        (b"one\n%s\n", "x.txt", r"Row 2"),
    ],
)
def test_a_cell_over_a_million_characters(data: bytes, name: str, place: str) -> None:
    perhaps = r" If it is not so long, perhaps a quotation mark before it is not closed\."
    advice = rf"Shorten it\.{perhaps if name == 'x.csv' else ''}$"
    with pytest.raises(
        BadInput, match=rf"^{place}: this cell is longer than 1,000,000 characters\. {advice}"
    ):
        rows_of(data % (b"x" * (CELL_LIMIT + 1)), name)


@pytest.mark.parametrize("name", ["x.csv", "x.txt"])
def test_a_cell_of_exactly_a_million_characters_is_read(name: str) -> None:
    [*_, row] = rows_of(b"a\n" + b"x" * CELL_LIMIT + b"\n", name)
    assert row.cells == ["x" * CELL_LIMIT]


def test_a_cell_of_exactly_a_million_characters_may_come_in_two_pieces() -> None:
    first, second = b'a,b\n1,"' + b"x" * (CELL_LIMIT - 2) + b"\n", b'y"\n'
    [row] = rows_of(first + second, piece=len(first))
    assert row.cells == ["1", "x" * (CELL_LIMIT - 2) + "\ny"]


def test_a_long_cell_that_begins_far_behind_another_is_read() -> None:
    cells = ["\n".join(letter * 99 for _ in range(9_000)) for letter in "ab"]
    data = "id,text\n" + "".join(f'{number},"{cell}"\n' for number, cell in enumerate(cells, 1))
    found = rows_of(data.encode(), "x.csv")
    assert [row.cells for row in found] == [["1", cells[0]], ["2", cells[1]]]


def test_a_value_of_exactly_a_million_characters_is_read() -> None:
    [row] = rows_of(b'{"a": "%b"}\n' % (b"x" * CELL_LIMIT), "x.jsonl")
    assert row.cells == {"a": "x" * CELL_LIMIT}


def test_too_many_columns_are_refused() -> None:
    names = ",".join(f"c{at}" for at in range(2001))
    with pytest.raises(BadInput, match=r"^The table has 2,001 columns; at most 2,000"):
        format_of(f"{names}\n{names}\n".encode())
    fewer = names.rpartition(",")[0]
    assert len(format_of(f"{fewer}\n{fewer}\n".encode()).columns) == 2_000
    data = "".join(f'{{"key {at}": 1}}\n' for at in range(2001)).encode()
    with pytest.raises(BadInput, match=r"^Row 2,001: .*more than 2,000 different"):
        report_of(data, "x.jsonl", max_rows=9999)


def test_a_header_longer_than_the_head_is_refused() -> None:
    with pytest.raises(BadInput, match=r"first line of the file is longer than 256 KB"):
        format_of(b"a" * 300_000 + b",b\n1,2\n")


def test_names_from_the_file_are_harmless_in_sentences() -> None:
    with pytest.raises(BadInput) as caught:
        format_of(b'a,"x\x1b[31m\n\r<b>' + b"y" * 1_000 + b'"\n1,2\n', header_row=1)
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_many_stray_quotation_marks_take_no_longer_than_they_must() -> None:
    data = b"a,b\n" + b'"x"y,1\n' * 40_000
    report = report_of(data, max_rows=100_000)
    assert (report.rows, report.bad_rows, len(report.problems)) == (40_000, 40_000, 100)


def peak_of_check(pieces: int) -> int:
    def stream() -> BinaryIO:
        rows = itertools.repeat(b'1,"some text, of a row"\n2,more\n' * 1000, pieces)
        return cast(BinaryIO, Endless(itertools.chain([b"a,b\n"], rows)))

    tracemalloc.start()
    try:
        report = check(stream, TABLE, problems=FirstProblems, max_rows=10**9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.rows == 2000 * pieces
    return peak


def test_memory_does_not_grow_with_the_file() -> None:
    assert peak_of_check(60) < 1.2 * peak_of_check(10)
