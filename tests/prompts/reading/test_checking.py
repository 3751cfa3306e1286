"""The whole file, checked before anything is sent."""

import io
import json

import pytest

from batchui.prompts.problems import BadInput
from batchui.prompts.reading.checking import Blank, FirstProblems, check
from tests.prompts.files import format_of, report_of


def test_a_good_file_has_rows_a_sample_and_nothing_else() -> None:
    report = report_of(b"id,text\n" + b"".join(b"%d,x\n" % at for at in range(30)))
    assert (report.rows, report.bad_rows, report.problems, report.blanks) == (30, 0, [], {})
    assert report.sample == [f'["{at}","x"]' for at in range(20)]


def test_problems_name_row_and_line_and_only_the_first_hundred_are_kept() -> None:
    report = report_of(b"a,b\n" + b'"1\n",2\n3\n' * 150)
    assert (report.rows, report.bad_rows, len(report.problems)) == (300, 150, 100)
    assert (report.problems[0].row, report.problems[0].line) == (3, 4)
    assert (report.problems[99].row, report.problems[99].line) == (201, 301)
    assert report.problems[99].startswith("Row 201 (line 301), column “b”: the cell is missing.")


def test_blank_cells_are_counted_by_column_with_the_first_row() -> None:
    report = report_of(b"a,b,c\n1,,x\n2, \t,x\n3,y,x\n4,,x\nbad\n")
    assert report.blanks == {"b": Blank(count=3, first_row=2)}


def test_blank_cells_are_counted_across_blocks() -> None:
    report = report_of(b"a,b\n" + b"1,x\n" * 30_000 + b"2,\n" * 30_000, max_rows=100_000)
    assert report.blanks == {"b": Blank(count=30_000, first_row=30_002)}


def test_a_key_that_an_object_does_not_have_is_a_blank_cell() -> None:
    lines = (
        b'{"a": "x", "b": 0}\n{"a": " "}\nbroken\n{"b": false, "c": null}\n{"a": "y", "c": []}\n'
    )
    report = report_of(lines, "r.jsonl")
    assert report.blanks == {"a": Blank(2, 2), "b": Blank(2, 2), "c": Blank(3, 1)}
    assert report.format.columns == ("a", "b", "c")
    assert report.bad_rows == 1


def test_more_rows_than_a_batch_takes_are_refused_with_the_limit() -> None:
    assert report_of(b"a,b\n1,2\n3,4\n", max_rows=2).rows == 2
    with pytest.raises(BadInput, match=r"more than 2 rows.*Split it"):
        report_of(b"a,b\n1,2\n3,4\n5,6\n", max_rows=2)


def test_progress_tells_the_rows_and_ends_with_the_whole_file() -> None:
    data = b"id,text\n" + b"1,some text that is not very long\n" * 300_000
    told: list[int] = []
    report_of(data, max_rows=10**6, progress=told.append)
    assert told[-1] == 300_000
    assert told == sorted(told)
    assert 3 <= len(told) <= 5


def test_the_stream_is_closed_again() -> None:
    opened: list[io.BytesIO] = []

    def open_stream() -> io.BytesIO:
        opened.append(io.BytesIO(b"a,b\n" + b"1,2\n" * 200_000 + b"3,\xe9\n"))
        return opened[-1]

    check(open_stream, format_of(b"a,b\n1,2\n"), problems=FirstProblems, max_rows=10**6)
    assert [stream.closed for stream in opened] == [True] * 3  # in two encodings, and its first row


def test_the_sample_has_twenty_rows_also_where_the_first_ones_are_long() -> None:
    long = "".join(f"{number},{'x' * 30_000}\n" for number in range(1, 6))
    short = "".join(f"{number},short\n" for number in range(6, 101))
    report = report_of(f"id,text\n{long}{short}".encode())
    assert [json.loads(row)[0] for row in report.sample] == [str(n) for n in range(1, 21)]


def test_objects_with_nothing_in_them_are_no_rows() -> None:
    with pytest.raises(BadInput) as caught:
        report_of(b"{}\n{}\n", "file.jsonl")
    sentence = "All objects in the file are empty. Choose a file whose objects have texts."
    assert str(caught.value) == sentence
    assert report_of(b'{}\n{"a":1}\n', "file.jsonl").format.columns == ("a",)
