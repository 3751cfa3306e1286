"""Every download has one column for each answer column, with values of its type."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pyarrow.parquet
import pytest

from batchui.batches import exporting, further, intake
from batchui.batches.models import Batch
from batchui.batches.part_answers import Answer
from batchui.batches.progress import untold
from batchui.batches.sources import open_rows
from batchui.batches.states import BatchStatus
from batchui.batches.whole_files import rows_going_out
from batchui.exports.further import object_lines
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.prompts.reading.readers import read
from batchui.prompts.reading.rows import as_list, typed_cell
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.books import reviews
from tests.batches.conftest import MakeBatch, work
from tests.batches.read_back import by_calamine, by_openpyxl, csv_lines, downloads
from tests.batches.sheet.made import made, no, put, summed

pytestmark = pytest.mark.django_db

COLUMNS = (
    AnswerColumn("tone", "one_of", ("good", "bad")),
    AnswerColumn("topics", "several_of", ("price", "staff")),
    AnswerColumn("score", "number"),
    AnswerColumn("refund", "yes_no"),
    AnswerColumn("text"),  # a name that the file has
)
GOOD = '{"tone":"Good","topics":["staff","price"],"score":"2.5","refund":true,"text":"007"}'
BLANKS = '{"tone":"bad","topics":[],"score":null,"refund":false,"text":""}'
ANGRY = '{"tone":"angry","topics":[],"score":3,"refund":false,"text":"x"}'
WHY = "“tone” is “angry”, which is not one of good, bad."
HEADER = ["id", "text", "tone", "topics", "score", "refund", "text_2"]


def as_json(answer: str, status: str = "answered", error: str | None = None) -> Answer:
    return Answer(status, msgspec.Raw(answer.encode()), error)


def batch_of(team: Team, *answers: Answer) -> Batch:
    return made(team, answers, answer_columns=to_json(COLUMNS))


@pytest.fixture
def fitting(team: Team) -> Batch:
    """Three rows: all fields have values, most are blank, and it failed."""
    return batch_of(team, as_json(GOOD), as_json(BLANKS), no())


@pytest.fixture
def unfit(team: Team) -> Batch:
    """Two rows, of which one does not fit."""
    return batch_of(team, as_json(GOOD), as_json(ANGRY, "unfit", WHY))


def test_csv_has_a_column_for_each_field(fitting: Batch, tmp_path: Path) -> None:
    got = downloads(fitting, tmp_path)
    for word in ("csv", "csv-plain"):
        assert csv_lines(got[word], ",") == [
            [*HEADER, "status", "error"],
            ["1", "text 1", "good", "staff; price", "2.5", "TRUE", "007", "answered", ""],
            ["2", "text 2", "bad", "", "", "FALSE", "", "answered", ""],
            ["3", "text 3", "", "", "", "", "", "failed", "broken"],
        ]


def test_sheets_have_values_of_their_types(fitting: Batch, tmp_path: Path) -> None:
    got = downloads(fitting, tmp_path)
    first = by_openpyxl(got["xlsx"])[1]
    assert first == [1, "text 1", "good", "staff; price", 2.5, True, "007", "answered", None]
    second = by_openpyxl(got["xlsx"])[2]
    assert second == [2, "text 2", "bad", None, None, False, None, "answered", None]
    table = by_calamine(got["ods"])
    assert table[0] == [*HEADER, "status", "error"]
    assert table[1][:-1] == [1, "text 1", "good", "staff; price", 2.5, True, "007", "answered"]


def test_parquet_has_a_type_for_each_column(fitting: Batch, tmp_path: Path) -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(downloads(fitting, tmp_path)["parquet"]))
    assert table.column_names == [*HEADER, "status", "error"]
    types = dict(zip(table.column_names, map(str, table.schema.types), strict=True))
    assert (types["score"], types["refund"], types["text_2"]) == ("double", "bool", "string")
    assert table.column("refund").to_pylist() == [True, False, None]
    assert table.column("score").to_pylist() == [2.5, None, None]
    assert table.column("topics").to_pylist() == ["staff; price", None, None]


def test_json_has_an_object_with_lists_and_numbers(fitting: Batch, tmp_path: Path) -> None:
    got = downloads(fitting, tmp_path)
    wanted = [
        {"tone": "good", "topics": ["staff", "price"], "score": 2.5, "refund": True, "text": "007"},
        {"tone": "bad", "topics": None, "score": None, "refund": False, "text": None},
        None,
    ]
    lines = [json.loads(line) for line in got["jsonl"].splitlines()]
    assert [line["answer"] for line in lines] == wanted
    assert json.loads(got["json"]) == lines
    assert not any("whole_answer" in line for line in lines)


def test_an_answer_that_does_not_fit_goes_out_as_it_came_too(unfit: Batch, tmp_path: Path) -> None:
    got = downloads(unfit, tmp_path)
    table = csv_lines(got["csv"], ",")
    assert table[0] == [*HEADER, "answer", "status", "error"]
    assert table[2] == ["2", "text 2", "", "", "3", "FALSE", "x", ANGRY, "unfit", WHY]
    assert by_openpyxl(got["xlsx"])[2][7:] == [ANGRY, "unfit", WHY]
    assert by_calamine(got["ods"])[2][7:] == [ANGRY, "unfit", WHY]
    parquet = pyarrow.parquet.read_table(io.BytesIO(got["parquet"])).to_pylist()
    assert [row["answer"] for row in parquet] == [GOOD, ANGRY]
    lines = [json.loads(line) for line in got["jsonl"].splitlines()]
    assert [line["answer"]["tone"] for line in lines] == ["good", None]
    assert lines[1]["whole_answer"] == json.loads(ANGRY)


def test_rows_that_do_not_fit_are_among_those_that_need_attention(unfit: Batch) -> None:
    choice = exporting.Choice(only="attention", answer="mood")
    assert rows_going_out(unfit, choice) == 1
    table = csv_lines(b"".join(exporting.csv(unfit, choice)), ",")
    assert [row[-2] for row in table] == ["status", "unfit"]
    assert table[0][-3] == "mood"


def test_a_batch_without_answer_columns_goes_out_as_ever(team: Team, tmp_path: Path) -> None:
    batch = made(team, [as_json(GOOD)])
    table = csv_lines(downloads(batch, tmp_path)["csv"], ",")
    assert table == [
        ["id", "text", "answer", "status", "error"],
        ["1", "text 1", GOOD, "answered", ""],
    ]


# -- her own workbook, and a further question ---------------------------------------------------


@pytest.fixture
def answered(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A workbook whose rows are answered in columns; its row 6 was skipped."""
    return work(
        start(
            reviews(),
            "reviews.xlsx",
            template="{{id}}",
            skip_invalid=True,
            answer_columns=COLUMNS,
        )
    )


def test_her_workbook_gets_a_column_for_each_field(answered: Batch, tmp_path: Path) -> None:
    content = downloads(answered, tmp_path)["workbook"]
    sheet = openpyxl.load_workbook(io.BytesIO(content))["May"]
    added = [[cell.value for cell in row][-7:] for row in sheet.iter_rows(min_row=3)]
    assert added[0] == ["tone", "topics", "score", "refund", "text_2", "status", "error"]
    tone, topics, score, refund, text, status, _ = added[1]
    assert (tone in ("good", "bad"), status) == (True, "answered")
    assert isinstance(refund, bool)
    assert isinstance(score, int | float)
    assert isinstance(text, str)
    assert "; " in topics
    assert added[3][:5] == [None] * 5


def test_a_further_question_reads_the_fields_as_columns(answered: Batch) -> None:
    draft = intake.ask_further(answered, by=None)
    draft.refresh_from_db()
    if draft.status == BatchStatus.CHECKING:  # it is for the worker
        changes: Any = further.make_file(draft, progress=untold)
        Batch.objects.filter(pk=draft.pk).update(**changes)
        draft.refresh_from_db()
    with open_rows(draft) as source:
        cells = [
            as_list(row.cells, draft.columns, typed_cell) for row in read(source, draft.format)
        ]
    columns = dict(zip(draft.columns, zip(*cells, strict=True), strict=True))
    assert set(columns["tone"]) <= {"good", "bad", ""}
    assert [type(cell) for cell in columns["refund"]].count(bool) == answered.answered
    assert columns["status"].count("answered") == answered.answered


def test_a_further_question_of_objects_keeps_lists(team: Team) -> None:
    batch = batch_of(team, as_json(GOOD))
    put(batch.parts.get(), [as_json(GOOD)])
    batch = summed(batch)
    [line] = object_lines(exporting.export_rows(batch), exporting.table(batch))
    assert json.loads(line)["topics"] == ["staff", "price"]
