"""The uploaded workbook comes back with the answers, and nothing else changed."""

import io
import tempfile
import tracemalloc
import warnings

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from batchui.exports.workbook.writer import PROGRESS_ROWS, Added, add_columns
from tests.exports.samples import PLAIN_XML, SAMPLES, Sample, add_to_sample
from tests.exports.workbook.sample_workbooks import by_hand
from tests.exports.workbook.splice import (
    COLUMNS,
    add,
    answers_for,
    cells_in,
    compressed,
    number_of,
    sheet_member,
    sheet_xml,
    without_columns,
)
from tests.exports.workbook.xml_by_hand import sheet

every_sample = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


def read_by(library: str) -> list[str]:
    return [name for name in SAMPLES if library in SAMPLES[name].readers]


def expected(sample: Sample) -> dict[tuple[int, int], object]:
    """The new cells, by row and column."""
    first = number_of(sample.first)
    found: dict[tuple[int, int], object] = {}
    for row in sample.rows:
        found |= {(row, first + at): value for at, value in enumerate(answers_for(row))}
    if sample.header_row:
        found |= {(sample.header_row, first + at): name for at, name in enumerate(COLUMNS)}
    return found


def as_xml(value: object) -> tuple[str, str]:
    if isinstance(value, bool):
        return "b", f"{value:d}"
    return ("inlineStr", value) if isinstance(value, str) else ("n", str(value))


def test_there_are_enough_samples() -> None:
    assert len(SAMPLES) > 45


@every_sample
def test_the_answers_stand_in_the_first_free_columns(sample: Sample) -> None:
    _, added = add_to_sample(sample)
    assert added.letters[0] == sample.first
    assert (added.rows, added.cut, added.has_names) == (
        len(sample.rows),
        0,
        bool(sample.header_row),
    )


@every_sample
def test_every_cell_is_there_and_the_new_ones_beside(sample: Sample) -> None:
    content, _ = add_to_sample(sample)
    old = cells_in(sheet_xml(sample.content, sample.sheet))
    new = {place: as_xml(value) for place, value in expected(sample).items()}
    assert not set(old) & set(new)
    assert cells_in(sheet_xml(content, sample.sheet)) == old | new


@every_sample
def test_without_the_new_cells_the_sheet_is_the_old_one_byte_for_byte(sample: Sample) -> None:
    content, added = add_to_sample(sample)
    old = without_columns(sheet_xml(sample.content, sample.sheet), added.letters)
    assert without_columns(sheet_xml(content, sample.sheet), added.letters) == old


@every_sample
def test_every_other_member_keeps_its_compressed_bytes_and_its_place(sample: Sample) -> None:
    content, _ = add_to_sample(sample)
    old, new = compressed(sample.content), compressed(content)
    assert list(old) == list(new)
    changed = {name for name in old if old[name] != new[name]}
    assert changed == {sheet_member(sample.content, sample.sheet)}


@pytest.mark.parametrize("name", read_by("calamine"))
def test_calamine_reads_the_old_cells_and_the_new_ones(name: str) -> None:
    sample = SAMPLES[name]
    content, _ = add_to_sample(sample)
    old = by_calamine(sample.content, sample.sheet)
    assert by_calamine(content, sample.sheet) == old | expected(sample)


@pytest.mark.parametrize("name", read_by("openpyxl"))
@pytest.mark.parametrize("read_only", [False, True])
def test_openpyxl_reads_the_old_cells_and_the_new_ones(name: str, read_only: bool) -> None:
    sample = SAMPLES[name]
    content, _ = add_to_sample(sample)
    old = by_openpyxl(sample.content, sample.sheet, read_only=False)
    assert by_openpyxl(content, sample.sheet, read_only=read_only) == old | expected(sample)


def by_calamine(content: bytes, sheet: str) -> dict[tuple[int, int], object]:
    found = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_name(sheet)
    if found.start is None:
        return {}
    top, left = found.start
    return {
        (top + row + 1, left + column + 1): value
        for row, values in enumerate(found.to_python())
        for column, value in enumerate(values)
        if value != ""
    }


def by_openpyxl(content: bytes, sheet: str, *, read_only: bool) -> dict[tuple[int, int], object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what openpyxl does not know
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=read_only)
        found = {
            (cell.row, cell.column): getattr(cell.value, "text", cell.value)
            for row in book[sheet].iter_rows()
            for cell in row
            if cell.value is not None
        }
        book.close()
    return found


def test_progress_is_told_every_few_thousand_rows() -> None:
    told: list[int] = []
    last = 2 * PROGRESS_ROWS + 3
    rows = [(row, ["x"]) for row in range(1, last + 1)]
    _, added = add(
        by_hand(PLAIN_XML),
        header_row=0,
        columns=["a"],
        rows=rows,
        last_row=last,
        progress=told.append,
    )
    assert told == [PROGRESS_ROWS, 2 * PROGRESS_ROWS]
    assert added.rows == last


def test_cut_cells_are_counted() -> None:
    long = "x" * 40_000
    content, added = add(
        by_hand(PLAIN_XML), columns=["a", "b"], rows=[(2, [long, 1]), (4, [1, long])]
    )
    assert added == Added(("D", "E"), rows=2, cut=2)
    assert cells_in(sheet_xml(content))[2, 4] == ("inlineStr", "x" * 32_767)


def test_what_a_person_should_know_is_told() -> None:
    told = {name: add_to_sample(sample)[1] for name, sample in SAMPLES.items()}
    assert told["plain"] == Added(("D", "E", "F"), rows=3)
    assert told["by hand: no header"] == Added(("D", "E", "F"), rows=4, has_names=False)
    assert told["filtered"] == Added(("D", "E", "F"), rows=3, is_hidden=True, has_filter=True)
    assert told["table"] == Added(("E", "F", "G"), rows=3, has_filter=True)
    assert told["pictures"] == Added(("D", "E", "F"), rows=3, is_covered=True)


def test_it_is_told_in_sentences() -> None:
    assert Added(("D",), rows=3).remarks() == []
    sentences = Added(("D",), 3, 1_234, False, True, True, True).remarks()
    assert len(sentences) == 5
    assert "32,767 characters are cut in the workbook: 1,234." in sentences[0]
    for at, word in enumerate(("no names", "hidden", "chart", "filter"), 1):
        assert word in sentences[at]
    assert Added(("D",), 3, is_covered=True).remarks() == [sentences[3]]


def test_rows_are_taken_as_they_are_written() -> None:
    """Memory stays the same for any number of rows, of the sheet and of the answers."""

    def peak(rows: int) -> int:
        lines = (f'<row r="{row}"><c r="A{row}"><v>1</v></c></row>' for row in range(1, rows))
        source = io.BytesIO(by_hand(sheet("".join(lines))))
        answers = ((row, ("answer " * 20, row, True)) for row in range(2, rows))
        with tempfile.TemporaryFile() as target:
            options = {"sheet": "Data", "header_row": 1, "columns": COLUMNS, "rows": answers}
            tracemalloc.start()
            try:
                add_columns(source, target, **options)  # type: ignore[arg-type]
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    peak(10)  # what Python keeps
    assert peak(20_000) < 1.3 * peak(5_000) < 8_000_000


def test_nothing_of_the_source_is_changed_and_both_files_stay_open() -> None:
    source, target = io.BytesIO(by_hand(PLAIN_XML)), io.BytesIO()
    before = source.getvalue()
    source.seek(7)
    add_columns(source, target, sheet="Data", header_row=1, columns=["a"], rows=[])
    assert source.getvalue() == before
    assert not target.closed
    assert ">a</t>" in sheet_xml(target.getvalue())
