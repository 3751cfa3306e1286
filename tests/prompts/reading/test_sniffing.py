"""What kind of file it is, seen from its first bytes."""

import json

import pytest

from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import HEAD_BYTES, Choices, Format
from batchui.prompts.reading.sniffing import sniff, sniff_table
from tests.prompts.files import format_of


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_the_one_that_splits_every_row_alike(delimiter: str) -> None:
    table = f"id{delimiter}text\n1{delimiter}plain\n2{delimiter}more\n"
    found = format_of(table.encode())
    assert (found.kind, found.delimiter, found.columns) == ("csv", delimiter, ("id", "text"))


def test_delimiters_within_quoted_cells_do_not_count() -> None:
    found = format_of(b'id;text\n1;"a, b, c"\n2;"d, e, f"\n3;"g, h, ""i"", j"\n')
    assert found.delimiter == ";"


def test_decimal_commas_do_not_make_a_comma_file() -> None:
    assert format_of(b"a;b\n1,5;2,5\n3,5;4,5\n").delimiter == ";"


def test_a_header_with_a_comma_in_a_name_still_finds_the_semicolon() -> None:
    assert format_of(b"name;price, EUR\nx;1,5\ny;2,5\n").columns == ("name", "price, EUR")


def test_rows_that_forgot_to_quote_their_commas_do_not_hide_the_columns() -> None:
    assert format_of(b"id,text\n1,a, b\n2,c, d, e\n3,f\n").columns == ("id", "text")


def test_a_delimiter_must_split_at_least_half_of_the_rows() -> None:
    assert format_of(b"id,text\n1,a\nb\n").columns == ("id", "text")
    assert format_of(b"name, as written\nx, y\nb\nc\n").columns == ("name, as written",)


def test_a_single_column_keeps_the_commas_of_its_text() -> None:
    found = format_of(b"review\nGood, cheap\nBad\n")
    assert not found.backslashes
    assert (found.delimiter, found.columns) == ("", ("review",))


def test_a_line_that_names_the_separator_is_not_the_header() -> None:
    found = format_of(b"sep=|\na|b\n1|2\n")
    assert (found.delimiter, found.columns) == ("|", ("a", "b"))


def test_a_csv_name_always_means_csv() -> None:
    assert format_of(b'{"a": 1}\n{"a": 2}\n', "data.csv").kind == "csv"
    assert format_of(b'{"a": 1}\n{"a": 2}\n', "DATA.TSV").kind == "csv"
    assert format_of(b'{"a": 1}\n{"a": 2}\n', "data.2026.csv").kind == "csv"


def test_a_name_without_a_dot_has_no_ending() -> None:
    assert format_of(b'{"a": 1}\n{"a": 2}\n', "csv").kind == "jsonl"


def test_lines_of_json_objects_may_be_indented() -> None:
    assert format_of(b' {"a": 1}\n\t{"a": 2}\n', "rows.txt").kind == "jsonl"


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.ndjson", "rows.json", "rows.txt", "rows"])
def test_lines_of_json_objects_are_jsonl_whatever_the_name(name: str) -> None:
    found = format_of(b'{"b": 1, "a": "x"}\n{"c": null}\n', name)
    assert (found.kind, found.columns, found.delimiter) == ("jsonl", ("b", "a", "c"), None)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.ndjson"])
def test_a_jsonl_file_with_a_broken_first_line_is_still_jsonl(name: str) -> None:
    assert format_of(b'{"a": 1,}\n{"a": 2}\n', name).kind == "jsonl"


@pytest.mark.parametrize("start", [b"", b" "])
def test_a_jsonl_file_whose_first_line_is_longer_than_the_head_is_still_jsonl(start: bytes) -> None:
    line = b'{"a": "%b"}\n' % (b"x" * HEAD_BYTES)
    assert format_of(start + line, "rows.jsonl").kind == "jsonl"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_object_that_the_head_cuts_off_does_not_count(end: bytes) -> None:
    head = end.join([b'{"a": 1}', b'{"b": 2}', b'{"c'])
    found = sniff(head, name="rows", whole=False)
    assert (found.kind, found.columns) == ("jsonl", ("a", "b"))


def test_the_last_object_of_a_file_needs_no_line_break() -> None:
    found = sniff(b'{"a": 1}\n{"b": 2}', name="rows", whole=True)
    assert (found.kind, found.columns) == ("jsonl", ("a", "b"))


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.ndjson"])
@pytest.mark.parametrize("text", [b'[{"a": 1}]', b'{\n "a": 1\n}\n', b"just words\n"])
def test_a_json_name_without_json_lines_says_what_is_needed(text: bytes, name: str) -> None:
    with pytest.raises(BadInput, match="Write one object on each line"):
        format_of(text, name)


def test_ready_made_items_are_recognised() -> None:
    assert format_of(b'{"prompt": "a"}\n{"prompt": "b", "max_tokens": 9}\n', "i.jsonl").items
    assert format_of(b'{"messages": [], "external_reference": "1"}\n', "i.jsonl").items
    assert not format_of(b'{"prompt": "a", "author": "Ann"}\n', "i.jsonl").items
    assert not format_of(b'{"max_tokens": 9}\n', "i.jsonl").items


def test_text_is_a_prompt_a_line_even_when_it_has_commas() -> None:
    found = format_of(b"Hello, you\nBye, you\n", "prompts.txt")
    assert (found.kind, found.columns) == ("txt", ("prompt",))
    assert format_of(b"Hello, you\nBye, you\n", "prompts").kind == "txt"


def test_text_with_tabs_is_the_table_that_excel_calls_unicode_text() -> None:
    found = format_of("id\ttext\n1\tché\n".encode("utf-16"), "book.txt")
    assert (found.kind, found.delimiter, found.encoding) == ("csv", "\t", "utf-16-le")


def test_a_txt_that_looks_like_a_table_with_commas_is_a_prompt_a_line() -> None:
    assert format_of(b"id,text\n1,a\n2,b\n", "rows.txt").kind == "txt"
    assert format_of(b"id,text\n1,a\n2,b\n", "rows").kind == "csv"


def test_a_single_line_without_a_telling_name_is_a_prompt() -> None:
    assert format_of(b"yes,no\n", "prompt").kind == "txt"
    assert format_of(b"yes,no\nmaybe,never\n", "rows").kind == "csv"


def test_numbered_prompts_are_no_table() -> None:
    found = format_of(b"1\tTell me a joke\n2\tTell me another\n", "prompts.txt")
    assert found.kind == "txt"


def test_a_table_without_a_telling_name_is_recognised() -> None:
    assert format_of(b"id,text\n1,a\n2,b\n", "export").columns == ("id", "text")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"id,text\n1,a\n", "csv"),
        (b"id,text\n\n1,a\n", "csv"),
        (b"x" * 1_000 + b",b\n1,a\n", "csv"),
        (b"x" * 1_001 + b",b\n1,a\n", "txt"),
        (b"id, text\n1, a\n", "txt"),
        (b"id,id\n1,a\n", "txt"),
        (b"id,7\n1,a\n", "txt"),
        (b"id,\n1,a\n", "txt"),
        (b"id,text\n1,a\n2\n", "txt"),
        (b'{"a": 1}\nno object\n', "txt"),
        (b'{"a": 1}\n\n \n', "jsonl"),
    ],
)
def test_what_a_file_without_a_telling_name_is(data: bytes, kind: str) -> None:
    assert format_of(data, "rows").kind == kind


@pytest.mark.parametrize(("bytes_more", "columns"), [(0, ("a", "b")), (1, ("a",))])
def test_a_file_no_longer_than_what_is_looked_at_is_seen_whole(
    bytes_more: int, columns: tuple[str, ...]
) -> None:
    start = b'{"a": 1}\n{"b": 2'
    data = start + b"}".rjust(HEAD_BYTES - len(start) + bytes_more)
    assert sniff(data, name="rows.jsonl", whole=True).columns == columns


def test_a_table_made_of_a_sheet_has_as_many_columns_as_allowed_and_no_more() -> None:
    rows = b'["a"]\n["b"]\n'
    assert len(sniff_table(rows, whole=True, columns=2_000, named=True).columns) == 2_000
    for columns in (2_001, 16_384):
        with pytest.raises(BadInput, match=r"^The table has 2,001 columns; at most 2,000 can be"):
            sniff_table(rows, whole=True, columns=columns, named=True)


def test_a_table_made_of_a_sheet_needs_rows_below_its_names() -> None:
    with pytest.raises(BadInput) as caught:
        sniff_table(b'["a"]\n', whole=True, columns=1, named=True)
    assert str(caught.value) == (
        "This table has column names but no rows under them. Add the rows, or choose another sheet."
    )
    # The last line of what was read may be half a row.
    found = sniff_table(b'["a"]\n["b', whole=False, columns=1, named=True)
    assert (found.columns, found.first_row) == (("a",), 2)


def test_a_head_cut_within_a_row_does_not_mislead() -> None:
    head = b"id,text\n" + b"1,ok\n" * 10 + b'2,"cut, off, he'
    found = sniff(head, name="x.csv", whole=False)
    assert (found.delimiter, found.columns) == (",", ("id", "text"))


def test_only_the_head_of_a_longer_one_is_looked_at() -> None:
    data = b"id,text\n" + b"1,ok\n" * HEAD_BYTES
    assert sniff(data, name="x.csv", whole=True).columns == ("id", "text")
    # The head ends between the two bytes of an "é", which is no damage.
    cut = "é" * (HEAD_BYTES // 2)
    assert sniff(f"a\n1{cut}\n".encode(), name="x.csv", whole=True).encoding == "utf-8"


@pytest.mark.parametrize(
    ("data", "name"), [(b"a;b\n1;2\n", "x.csv"), (b'{"a": 1}\n', "x.jsonl"), (b"hello\n", "x.txt")]
)
def test_a_format_survives_the_database(data: bytes, name: str) -> None:
    found = format_of(data, name)
    assert Format.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_a_comma_in_the_only_name_does_not_make_two_columns() -> None:
    found = format_of(b"review, as written\nGood\nBad\nFine, all in all\n")
    assert (found.delimiter, found.columns) == ("", ("review, as written",))


def test_of_two_delimiters_the_one_that_fits_more_rows_wins() -> None:
    assert format_of(b"a,b;c,d\n1,2;3,4\n5,6,7\n").columns == ("a", "b;c", "d")
    assert format_of(b"a;b,c;d\n1;2,3;4\n5;6;7\n").columns == ("a", "b,c", "d")


def test_of_two_delimiters_that_fit_alike_the_more_usual_one_wins() -> None:
    assert format_of(b"a,b;c\n1,2;3\n").columns == ("a", "b;c")
    assert format_of(b"a;b\tc\n1;2\t3\n").columns == ("a", "b\tc")


def test_rows_that_fit_the_header_count_more_than_a_wider_header() -> None:
    assert format_of(b"a,b;c,d\n1,5;2\n3,5;4\n").columns == ("a,b", "c,d")


def test_of_two_delimiters_the_share_of_rows_that_fit_counts_and_not_their_number() -> None:
    assert format_of(b'a;b,c\n1;"x\ny",2\n').delimiter == ";"


def test_a_header_without_rows_fits_no_better_than_one_whose_rows_fit() -> None:
    assert format_of(b'a,x;"b\n1,c"\n').delimiter == ","


def test_a_line_break_within_a_name_is_kept_as_it_is() -> None:
    assert format_of(b'"a\r\nb",c\r\n1,2\r\n').columns == ("a\r\nb", "c")


def test_a_file_of_nothing_but_the_separator_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^Line 2: there are no column names below .* “sep=;”"):
        format_of(b"sep=;\n\n")


def test_names_are_checked_below_the_line_that_names_the_separator() -> None:
    with pytest.raises(BadInput, match=r"^Line 2: the quotation mark that opens a cell here"):
        format_of(b'sep=;\n"a;b\n1;2\n')


@pytest.mark.parametrize("ending", ["xls", "xlsx", "xlsm", "xlsb", "ods"])
def test_a_text_that_is_called_a_workbook_is_a_table(ending: str) -> None:
    data = b"Reviews\n\nid\ttext\n1\tone\n2\ttwo\n"
    found = format_of(data, f"r.{ending}")
    assert (found.kind, found.columns, found.header_row) == ("csv", ("id", "text"), 3)
    assert format_of(data, "r.log").kind == "txt"


def test_a_tar_archive_is_named() -> None:
    with pytest.raises(BadInput) as caught:
        format_of(b"r.csv".ljust(257, b"\0") + b"ustar\x0000" + bytes(248))
    sentence = "This file is a tar archive, not text. Unpack it, then upload what is in it."
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("named", "row"), [(True, 1), (False, 0), (None, 1)])
def test_what_is_known_of_the_names_of_a_table_is_not_guessed(named: bool | None, row: int) -> None:
    rows = b'["Name a town."]\n["Rome"]\n'
    found = sniff_table(rows, whole=True, columns=1, named=named)
    assert (found.header_row, found.first_row) == (row, row + 1)
    chosen = Choices(header_row=1 - row)
    assert (
        sniff_table(rows, whole=True, columns=1, named=named, choices=chosen).header_row == 1 - row
    )
