"""`manage.py bench --format`: reading and writing of files, beside the bare library."""

import csv
import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError

from batchui.bench import files, stays
from batchui.bench.surroundings import BenchFailed
from tests.bench.command import bench, figures


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_reading_and_writing_are_measured_on_both_sides(form: str) -> None:
    printed = bench("--format", form, "--rows", "30")
    assert "30 rows of 8 columns; one round" in printed
    for action in ("read", "write", *(["rows"] if form == "parquet" else [])):
        _, _, bare_peak, _, _, product_peak, *ratios = figures(printed, f"{action} {form} ")
        assert bare_peak > 5
        assert product_peak > 20
        assert min(ratios) > 0
        assert f"{action} {form}: bare: " in printed


def test_a_conversion_is_checked_and_its_child_counts() -> None:
    read, write = (
        figures(bench("--format", "xlsx", "--rows", "30"), f"{action} xlsx ")
        for action in ("read", "write")
    )
    assert read[4] > 0.03  # CPU seconds: a Python was started
    assert len(read) == len(write) == 8


def test_the_splice_stands_beside_loading_and_saving() -> None:
    printed = bench("--format", "workbook", "--rows", "30", "--repeat", "2")
    assert "medians of 2 rounds" in printed
    assert "openpyxl: load and save, as no library puts cells into a workbook in place" in printed
    assert len(figures(printed, "write workbook ")) == 8


@pytest.mark.parametrize("form", ["tsv", "txt", "jsonl", "json", "arrow"])
def test_every_file_gives_the_same_cells_on_both_sides(form: str) -> None:
    assert figures(bench("--format", form, "--rows", "5"), f"read {form} ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "doc"), "invalid choice"),
        (("--format", "csv", "--whole"), "not allowed with"),
        (("--format", "csv", "--slow-clients", "3"), "not allowed with"),
        (("--format", "csv", "--rows", "0"), "at least 1"),
        (("--format", "xls", "--rows", "65536"), "at most 65,535 rows"),
    ],
)
def test_what_cannot_be_measured_is_refused(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        bench(*arguments)


def test_values_have_the_text_that_everybody_shows() -> None:
    values = [True, False, 5, 5.0, 1.25, Decimal("5.0"), Decimal("1.10"), "5.0"]
    texts = ["TRUE", "FALSE", "5", "5", "1.25", "5", "1.10", "5.0"]
    assert [stays.text_of(value) for value in values] == texts
    assert stays.text_of(date(2026, 5, 1)) == "2026-05-01"
    assert stays.text_of(datetime.fromisoformat("2026-05-01T12:30:15")) == "2026-05-01 12:30:15"


def test_a_table_begins_anew_where_its_pool_ends() -> None:
    assert list(stays.numbered([["a"], ["b"]], 3)) == [[1, "a"], [2, "b"], [3, "a"]]
    assert stays.wanted([["a"], ["b"]], 5) == {
        1: ["1", "a"],
        3: ["3", "a"],
        5: ["5", "a"],
    }


def test_all_rows_are_counted_and_some_are_kept() -> None:
    assert stays.seen(iter("abcde"), 5) == (5, {1: "a", 3: "c", 5: "e"})
    assert stays.seen(iter(""), 5) == (0, {})


def write(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([stays.COLUMNS, *rows])


def test_a_wrong_row_or_count_is_no_figure(tmp_path: Path) -> None:
    wanted = stays.wanted(stays.pool(3), 3)
    rows = [[*row] for row in wanted.values()]
    path = tmp_path / "made.csv"
    write(path, rows)
    found, kept = files._written(path, "csv", 3)
    files._compare("write csv", 3, found, wanted, kept)
    with pytest.raises(BenchFailed, match="3 rows instead of 4"):
        files._compare("write csv", 4, found, wanted, kept)
    rows[1][-1] += "!"
    write(path, rows)
    with pytest.raises(BenchFailed, match="row 2 is"):
        files._compare("write csv", 3, 3, wanted, files._written(path, "csv", 3)[1])


def test_the_columns_of_a_json_row_may_stand_apart(tmp_path: Path) -> None:
    columns = dict(zip(stays.COLUMNS, range(8), strict=True))
    path = tmp_path / "made.json"
    apart = {"row": 2, "columns": columns, "answer": "a", "status": stays.STATUS}
    path.write_text(json.dumps([apart, {**columns, "answer": "b"}]))
    numbers = [str(at) for at in range(8)]
    assert files._written(path, "json", 2) == (2, {1: [*numbers, "a"], 2: [*numbers, "b"]})
