"""The columns of the answer on the page and in the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.http import QueryDict

from batchui.batches import decisions
from batchui.batches.models import Batch
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.ask import Ask
from batchui.web.forms.answer_columns import MOST_LINES
from batchui.web.forms.ask import AskForm
from tests.batches.conftest import MODEL, MakeBatch, rows
from tests.web.submitting import PROMPT, TRANSLATION, Ran, written

pytestmark = pytest.mark.django_db

TONE = AnswerColumn("tone", "one_of", ("good", "bad"), "How she feels")
SCORE = AnswerColumn("score", "number")


@pytest.fixture
def draft(receive: MakeBatch) -> Batch:
    return receive(rows(3))


def form(draft: Batch, *lines: tuple[str, str, str, str], **more: str) -> AskForm:
    """The form as a page with these lines sends it."""
    sent = QueryDict(mutable=True)
    sent.update({"name": "x", "model": MODEL, "template": "{{text}}", "max_tokens": "9"})
    sent["answer_columns"] = ""
    for line in lines:
        for name, value in zip(("name", "kind", "choices", "meaning"), line, strict=True):
            sent.appendlist(f"column_{name}", value)
    for name, value in more.items():
        sent[name] = value
    return AskForm(sent, batch=draft)


LINES = (("tone", "one_of", "good; bad", "How she feels"), ("score", "number", "1, 2", ""))


def test_each_line_becomes_a_column(draft: Batch) -> None:
    sent = form(draft, *LINES)
    assert sent.is_valid()
    assert sent.ask.answer_columns == (TONE, SCORE)
    assert decisions.edit(draft, ask=sent.ask)
    assert Batch.objects.get().ask.answer_columns == (TONE, SCORE)


def test_a_line_with_nothing_in_it_is_no_column(draft: Batch) -> None:
    sent = form(draft, ("", "number", " ", ""), *LINES, ("", "text", "", ""))
    assert sent.is_valid()
    assert sent.ask.answer_columns == (TONE, SCORE)


def test_a_page_without_the_lines_leaves_the_columns_alone(draft: Batch) -> None:
    decisions.edit(draft, ask=Ask(answer_columns=(TONE,)))
    draft.refresh_from_db()
    sent = form(draft)
    assert sent.is_valid()
    assert sent.ask.answer_columns == ()
    without = sent.data.copy()
    del without["answer_columns"]
    kept = AskForm(without, batch=draft)
    assert kept.is_valid()
    assert kept.ask.answer_columns == (TONE,)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (("", "text", "", "a meaning"), "Answer column 1 has no name"),
        (("tone", "one_of", "good", ""), "write two values or more"),
        (("tone", "date", "", ""), "“date” is no kind of column"),
    ],
)
def test_a_line_that_is_wrong_is_said_and_stays_as_typed(
    draft: Batch, line: tuple[str, str, str, str], why: str
) -> None:
    sent = form(draft, line)
    assert why in str(sent.errors["answer_columns"])
    [shown] = sent.answer_lines
    assert (shown.name, shown.kind, shown.choices, shown.meaning) == line


def test_the_draft_is_shown_as_it_is(draft: Batch) -> None:
    decisions.edit(draft, ask=Ask(answer_columns=(TONE, SCORE)))
    draft.refresh_from_db()
    tone, score = AskForm(batch=draft).answer_lines
    assert (tone.name, tone.choices) == ("tone", "good; bad")
    assert (score.kind, score.choices) == ("number", "")


def test_a_pasted_schema_becomes_the_columns(draft: Batch) -> None:
    schema = {"properties": {"tone": {"enum": ["good", "bad"], "description": "How she feels"}}}
    sent = form(draft, *LINES, column_schema=json.dumps(schema))
    assert sent.is_valid()
    assert sent.ask.answer_columns == (TONE,)
    wrong = form(draft, column_schema="{}")
    assert "no “properties”" in str(wrong.errors["answer_columns"])
    assert wrong.answer_lines == []


def test_so_many_lines_are_not_read(draft: Batch) -> None:
    sent = form(draft, *[("x", "text", "", "")] * (MOST_LINES + 5))
    assert len(sent.answer_lines) == MOST_LINES
    assert "are possible" in str(sent.errors["answer_columns"])


@pytest.mark.parametrize("lines", [LINES, [("tone", "one_of", "only", "")]])
def test_lines_that_the_page_hides_do_not_count(
    draft: Batch, lines: list[tuple[str, str, str, str]]
) -> None:
    sent = form(draft, *lines, model=TRANSLATION, target_lang="de")
    assert sent.is_valid(), sent.errors
    assert sent.ask.answer_columns == ()


# -- the terminal -------------------------------------------------------------------------------


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return written(tmp_path, rows(3))


def test_columns_in_words(texts: Path) -> None:
    columns = ("--column", "tone:one_of:good;bad", "--column", "score:number")
    assert Ran(texts, *PROMPT, *columns).status == 0
    assert Batch.objects.get().ask.answer_columns == (
        AnswerColumn("tone", "one_of", ("good", "bad")),
        SCORE,
    )


@pytest.mark.parametrize(
    "content",
    [
        [
            {
                "name": "tone",
                "kind": "one_of",
                "choices": ["good", "bad"],
                "meaning": "How she feels",
            }
        ],
        {"properties": {"tone": {"enum": ["good", "bad"], "description": "How she feels"}}},
    ],
)
def test_columns_of_a_file_come_before_those_in_words(texts: Path, content: Any) -> None:
    file = texts.with_name("columns.json")
    file.write_text(json.dumps(content))
    options = ("--answer-columns", str(file), "--column", "score:number")
    assert Ran(texts, *PROMPT, *options).status == 0
    assert Batch.objects.get().ask.answer_columns == (TONE, SCORE)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--column", "tone:one_of:good"), "--column: “tone” needs a list to choose from"),
        (("--column", "tone:date"), "--column: “date” is no kind of column"),
        (("--answer-columns", "not there.json"), "--answer-columns not there.json: it cannot be"),
    ],
)
def test_what_is_wrong_is_said_with_its_option(
    texts: Path, options: tuple[str, ...], why: str
) -> None:
    ran = Ran(texts, *PROMPT, *options)
    assert ran.status == 2
    assert why in ran.err
    assert not Batch.objects.exists()


def test_a_model_that_does_not_write_refuses_columns(texts: Path) -> None:
    options = ("--text-column", "text", "--target-lang", "de", "--column", "tone")
    ran = Ran(texts, *options, model=TRANSLATION)
    assert ran.status == 2
    assert "--column: This model writes no answers in columns." in ran.err


def test_a_file_that_is_no_list_of_columns_is_said(texts: Path) -> None:
    file = texts.with_name("columns.json")
    for content, why in (("[{}]", "These are no answer columns"), ("{", "This is not JSON")):
        file.write_text(content)
        ran = Ran(texts, *PROMPT, "--answer-columns", str(file))
        assert ran.status == 2
        assert why in ran.err
