"""The uploaded workbook comes back with the answers, and nothing else changed."""

import io
import warnings

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from tests.exports.samples import SAMPLES, Sample, add_to_sample
from tests.exports.splice import (
    COLUMNS,
    answers_for,
    cells_in,
    compressed,
    number_of,
    sheet_member,
    sheet_xml,
    without_columns,
)

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
