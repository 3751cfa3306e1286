"""The row that a person chose for the column names, and how much may stand above it."""

import io
from itertools import repeat

import pytest

from batchui.prompts.problems import BadInput
from batchui.prompts.reading.dialects import HEAD_ROWS
from batchui.prompts.reading.format import HEAD_BYTES, Choices, Format
from batchui.prompts.reading.readers import rows_above
from batchui.prompts.reading.sniffing import sniff_table
from tests.prompts.files import format_of, place_of

ENDS_ABOVE = (
    "Row 4: the column names cannot be here, because the table ends above this row. Choose another "
    "row."
)
TOO_MUCH_ABOVE = (
    "Row 3: the column names cannot be here, because the rows above are too long together: the "
    "names must be within the first 256 KB of the table. Choose a row further up, or remove what "
    "stands above this one."
)


def csv_format(above: int) -> Format:
    """The format of a CSV with two rows of so many bytes together above `a,b`."""
    first = b"x" * 100_000 + b"\n"
    title = first + b"x" * (above - len(first) - 1) + b"\n"
    return format_of(title + b"a,b\n" + b"1,2\n" * 99, header_row=3, delimiter=",")


def table_format(data: bytes) -> Format:
    head, whole = data[:HEAD_BYTES], len(data) <= HEAD_BYTES
    return sniff_table(head, whole=whole, columns=2, named=None, choices=Choices(header_row=3))


def test_names_that_end_within_the_first_bytes_are_found() -> None:
    # A byte of the next row shows that they have ended.
    found = csv_format(HEAD_BYTES - 5)
    assert (found.columns, found.header_row, found.first_row) == (("a", "b"), 3, 4)


def test_what_stands_above_the_names_has_a_limit() -> None:
    with pytest.raises(BadInput) as caught:
        csv_format(HEAD_BYTES - 4)
    assert str(caught.value) == TOO_MUCH_ABOVE
    assert place_of(caught.value) == (3, None, None)


def test_a_table_has_the_same_limit() -> None:
    names_and_rows = b'["a","b"]\n' + b"[1,2]\n" * 99
    room = HEAD_BYTES - len(b'[""]\n') - len(b'["a","b"]\n') - len(b"[]\n")
    fits = b'["' + b"x" * (room - 1) + b'"]\n[]\n' + names_and_rows
    assert table_format(fits).columns == ("a", "b")
    with pytest.raises(BadInput) as caught:
        table_format(b'["' + b"x" * (room + 1) + b'"]\n[]\n' + names_and_rows)
    assert str(caught.value) == TOO_MUCH_ABOVE


def test_a_row_below_the_table_cannot_have_the_names() -> None:
    for chosen in (4, 1_000):
        with pytest.raises(BadInput) as caught:
            format_of(b"a,b\n1,2\n3,4\n", header_row=chosen)
        assert str(caught.value) == ENDS_ABOVE.replace("4", f"{chosen:,}")
    with pytest.raises(BadInput) as caught:
        table_format(b'["a","b"]\n[1,2]\n')
    assert str(caught.value) == ENDS_ABOVE.replace("4", "3")


def test_the_last_row_that_can_be_chosen_is_found() -> None:
    lines = [*repeat(b"a title", HEAD_ROWS - 1), b"id,text", b"1,one", b""]
    data = b"\n".join(lines)
    found = format_of(data, header_row=HEAD_ROWS, delimiter=",")
    assert found.columns == ("id", "text")
    assert rows_above(io.BytesIO(data), found) == [["a title"]] * 999 + [["id", "text"]]
    table = b"\n".join([*repeat(b'["a title"]', HEAD_ROWS - 1), b'["id"]', b"[1]", b""])
    chosen = Choices(header_row=HEAD_ROWS)
    found = sniff_table(table, whole=True, columns=1, named=None, choices=chosen)
    assert (found.columns, found.first_row) == (("id",), 1_001)
