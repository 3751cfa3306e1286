"""Whatever rows go in, in whatever format: the same come out of every download, in their places."""

import re
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from batchui.batches import decisions, intake
from batchui.batches.states import ENDED_BATCHES, BatchStatus
from batchui.exports.rows import Cell, cell_text
from batchui.prompts.ask import Ask
from batchui.teams.models import Team
from tests.batches.any_file import (
    TEXTS,
    AnyFile,
    any_csv,
    any_jsonl,
    any_parquet,
    any_workbook,
)
from tests.batches.any_replies import AnyReplies
from tests.batches.conftest import MODEL
from tests.batches.read_back import (
    Line,
    by_calamine,
    by_openpyxl,
    csv_lines,
    downloads,
    in_ods,
    is_number,
    is_same,
    lines,
    of_json,
    of_jsonl,
    of_parquet,
)

pytestmark = pytest.mark.django_db

ANSWERS = st.lists(TEXTS, min_size=1, max_size=5)
SEEDS = st.integers(0, 2**32)
# The longest answer, in tokens: with so long ones, a part has 25 rows, 8, 3 or 1.
LONGEST = st.sampled_from([1_000, 2_000_000, 5_000_000, 16_000_000])
TRADITIONAL = {"csv", "csv-plain", "json", "jsonl", "xlsx", "ods", "parquet"}
# What may begin a formula: where a cell begins, and behind what another country's Excel splits at.
SIGNS, BLANKS = "=+-@＝＋－＠", "\t\r\n"
BEGINNING = re.compile(r'(?:\A|[\n\r\t;,]"*)\Z')


def property_of(examples: int) -> settings:
    return settings(
        deadline=None,
        max_examples=examples,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink takes minutes
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


class Answered:
    """A batch of a file, answered: some rows only by a retry, some not at all."""

    def __init__(
        self, file: AnyFile, team: Team, *, seed: int, texts: list[str], longest: int
    ) -> None:
        self.file = file
        upload = ContentFile(file.content, file.name)
        batch = intake.receive(upload, team=team, by=None, choices=file.choices, check_now=True)
        assert (batch.status, batch.problem) == (BatchStatus.DRAFT, "")
        assert (list(batch.columns), batch.first_row) == (file.columns, file.first_row)
        ask = Ask(model=MODEL, template="Ask {{id}}", max_tokens=longest, skip_invalid=True)
        assert decisions.start(batch, by=None, ask=ask, prepare_now=True)
        batch.refresh_from_db()
        self.empty = {at for at, row in enumerate(file.rows, file.first_row) if not any(row)}
        wrong = [row for row in file.rows if len(row) > len(file.columns)]
        assert (batch.invalid, batch.skipped) == (len(wrong), len(self.empty))
        self.batch = batch
        self.replies = AnyReplies(seed, lambda row: f"{texts[row % len(texts)]} ({row})")
        self.replies.answer(batch, failing=0.5)
        if batch.can_retry:
            assert decisions.retry(batch, by=None)
            self.replies.answer(batch, failing=0.2)
        assert batch.status in ENDED_BATCHES

    def status(self, row: int) -> str:
        """What became of a row."""
        if row in self.replies.answers:
            return "answered"
        return self.replies.without.get(row, "skipped" if row in self.empty else "invalid")

    def check(self, found: list[Line], *, same: Callable[[Cell, Any], bool] = is_same) -> None:
        """Every cell of every row is there, in its place, with its answer beside it."""
        assert len(found) == len(self.file.rows)
        width = len(self.file.columns)
        for row, (cells, line) in enumerate(
            zip(self.file.rows, found, strict=True), self.file.first_row
        ):
            for cell, read in zip(cells[:width], line.cells, strict=True):
                assert same(cell, read), (row, cell, read)
            for cell, read in zip_longest(cells[width:], line.beyond, fillvalue=""):
                assert same(cell, read), (row, cell, read)
            answer = self.replies.answers.get(row, "")
            assert same(answer, line.answer), (row, answer, line.answer)
            assert line.status == self.status(row)
            assert bool(line.error) == (line.status != "answered")


def check_all(answered: Answered, folder: Path) -> None:
    """Every kind of download has every cell."""
    file, batch = answered.file, answered.batch
    made = downloads(batch, folder)
    assert set(made) == TRADITIONAL | ({"workbook"} if file.name.endswith(".xlsx") else set())
    width, above = len(file.columns), max(1, file.first_row - 1)
    delimiter = file.choices.delimiter or ","
    plain = lines(csv_lines(made["csv-plain"], delimiter), header_row=above, width=width)
    answered.check(plain, same=lambda cell, read: read == file.text(cell))
    of_excel = ";" if delimiter == ";" else ","
    for_excel = lines(csv_lines(made["csv"], of_excel), header_row=above, width=width)
    answered.check(for_excel, same=lambda cell, read: is_same_but_inert(file.text(cell), read))
    for read in (by_calamine, by_openpyxl):
        answered.check(lines(read(made["xlsx"]), header_row=above, width=width), same=has_type)
    found = lines(by_calamine(made["ods"]), header_row=above, width=width)
    answered.check(found, same=lambda cell, read: is_same(in_ods(cell), read))
    answered.check(of_parquet(made["parquet"], width))
    check_objects(answered, of_json(made["json"]))
    assert of_jsonl(made["jsonl"]) == of_json(made["json"])
    if "workbook" in made:
        check_workbook(answered, made["workbook"])


def is_same_but_inert(text: str, read: str) -> bool:
    """The same, or the same with what keeps it from running as a formula."""
    at, held = 0, -1
    for char in read:
        if text.startswith(char, at):
            at += 1
        elif at != held and holds_off(char, text, at):
            held = at
        else:
            return False
    return at == len(text)


def holds_off(char: str, text: str, at: int) -> bool:
    """Whether this, put before a place of the text, keeps a formula from beginning there."""
    signs = {*SIGNS, *BLANKS} if at == 0 else {*SIGNS}
    begins = text[at : at + 1] in signs and BEGINNING.search(text[:at]) is not None
    return begins and (char == "'" or (char == " " and text[at] == "-"))


@pytest.mark.parametrize("read", ["'\n=a", "'\n=a, '-b", "\n'=a,-b'", "\n= a,-b"])
def test_a_cell_is_not_the_same_with_what_was_put_elsewhere(read: str) -> None:
    assert is_same_but_inert("\n=a,-b", "'\n'=a, -b")
    assert not is_same_but_inert("\n=a,-b", read)


def has_type(cell: Cell, read: Any) -> bool:
    """The same, and a number, a boolean or a date is one, as far as workbooks have it."""
    if isinstance(cell, bool) or (is_number(cell) and len(cell_text(cell)) <= 15):
        return not isinstance(read, str) and is_same(cell, read)
    return is_same(cell, read)


def check_objects(answered: Answered, found: list[dict[str, Any]]) -> None:
    """The objects of JSON have every value, and the number of its row."""
    file = answered.file
    numbers = range(file.first_row, file.first_row + len(file.rows))
    assert [one["row"] for one in found] == list(numbers)
    for at, one in enumerate(found):
        assert list(one["columns"]) == file.columns
        if file.objects is not None:
            assert one["columns"] == file.objects[at]
        assert (one["answer"] is None) == (answered.status(one["row"]) != "answered")
    if file.objects is None:
        answered.check([line_of(one) for one in found])


def line_of(one: dict[str, Any]) -> Line:
    cells = list(one["columns"].values())
    return Line(cells, one["answer"], one["status"], one["error"], one.get("extra_cells", []))


def check_workbook(answered: Answered, content: bytes) -> None:
    """The very workbook: its sheet as it was, with three columns to the right."""
    file = answered.file
    for read in (by_calamine, by_openpyxl):
        before, after = read(file.content, "Rows"), read(content, "Rows")
        assert [row[:3] for row in after] == [row[:3] for row in before]
        answered.check(lines(after, header_row=3, width=3), same=has_type)
    assert by_calamine(content, "Read me") == by_calamine(file.content, "Read me")
    assert by_openpyxl(content, "Notes") == [["=Rows!A3"]]


@property_of(10)
@given(any_csv(), SEEDS, ANSWERS, LONGEST)
def test_a_text_table_comes_back_in_every_format(
    team: Team, tmp_path: Path, file: AnyFile, seed: int, texts: list[str], longest: int
) -> None:
    check_all(Answered(file, team, seed=seed, texts=texts, longest=longest), tmp_path)


@property_of(8)
@given(any_jsonl(), SEEDS, ANSWERS, LONGEST)
def test_objects_come_back_in_every_format(
    team: Team, tmp_path: Path, file: AnyFile, seed: int, texts: list[str], longest: int
) -> None:
    check_all(Answered(file, team, seed=seed, texts=texts, longest=longest), tmp_path)


@property_of(8)
@given(any_workbook(), SEEDS, ANSWERS, LONGEST)
def test_a_workbook_comes_back_in_every_format(
    team: Team, tmp_path: Path, file: AnyFile, seed: int, texts: list[str], longest: int
) -> None:
    check_all(Answered(file, team, seed=seed, texts=texts, longest=longest), tmp_path)


@property_of(8)
@given(any_parquet(), SEEDS, ANSWERS, LONGEST)
def test_parquet_comes_back_in_every_format(
    team: Team, tmp_path: Path, file: AnyFile, seed: int, texts: list[str], longest: int
) -> None:
    check_all(Answered(file, team, seed=seed, texts=texts, longest=longest), tmp_path)
