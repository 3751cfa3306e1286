"""The form's field for the columns of the answer: a line of inputs for each of them."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from django import forms

from batchui.prompts import answer_columns
from batchui.prompts.answer_columns import BETWEEN, AnswerColumn, choices_of
from batchui.prompts.answer_schema import columns_of
from batchui.prompts.problems import BadInput

# The inputs of one line. Each name is sent once for every line, in the order of the page.
NAME, KIND, CHOICES, MEANING = "column_name", "column_kind", "column_choices", "column_meaning"
# A JSON Schema that was pasted. The columns are made of it, and it is not kept.
SCHEMA = "column_schema"
# So many lines are read, and so many characters of each input; who sends more did not use the page.
MOST_LINES = 200
LONGEST_INPUT = 20_000


class AnswerColumnsWidget(forms.Widget):
    """Reads the lines that a page sent.

    A page that has them sends `answer_columns`, too: without any line there are no columns. A
    program sends them there as JSON.
    """

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        """A list of lines, the JSON of a program, or None: they are not on the page.

        With a schema, it is {"schema", "lines"}: the columns are made of it.
        """
        if name not in data:
            return None
        given = data.get(name)
        if given or not hasattr(data, "getlist"):
            return given or []
        sent = [data.getlist(one)[:MOST_LINES] for one in (NAME, KIND, CHOICES, MEANING)]
        lines = [
            [text[:LONGEST_INPUT] for text in line]
            for line in zip(*sent, strict=False)
            if any(text.strip() for text in (line[0], line[2], line[3]))
        ]
        schema = data.get(SCHEMA, "").strip()
        return {"schema": schema, "lines": lines} if schema else lines


class AnswerColumnsField(forms.Field):
    """The columns of the answer. None: the page did not have them, so they stay as they are."""

    widget = AnswerColumnsWidget

    def to_python(self, value: Any) -> tuple[AnswerColumn, ...] | None:
        """The columns. Raises ValidationError, with the name of the one that is wrong."""
        try:
            if value is None:
                return None
            if isinstance(value, Mapping):
                return columns_of(value["schema"])
            if isinstance(value, str):
                return answer_columns.from_json(msgspec.json.decode(value.encode()))
            return answer_columns.checked(map(_of_line, value))
        except (BadInput, ValueError, RecursionError) as problem:
            said = str(problem) if isinstance(problem, BadInput) else "This is not JSON."
            raise forms.ValidationError(said) from None


class Line:
    """One line of the form as it is shown: what was typed, or what the draft has."""

    def __init__(self, name: str = "", kind: str = "text", choices: str = "", meaning: str = ""):
        self.name, self.kind, self.choices, self.meaning = name, kind, choices, meaning

    @classmethod
    def of(cls, column: AnswerColumn) -> "Line":
        """The line of a column."""
        choices = f"{BETWEEN} ".join(column.choices)
        return cls(column.name, column.kind, choices, column.meaning)

    @property
    def told(self) -> str:
        """“number”, “one of good, mixed, bad”: as `static/asking.js` says it of what is typed."""
        kind = next((one for one in answer_columns.KINDS if one == self.kind), None)
        words = answer_columns.KIND_WORDS[kind] if kind else ""
        listed = ", ".join(choices_of(self.choices))
        return words.replace("a list", listed) if listed else words


def lines_of(value: Any) -> list[Line]:
    """The lines to show for the value of a field: columns, or what was sent."""
    if not isinstance(value, list | tuple):
        return []
    return [Line.of(one) if isinstance(one, AnswerColumn) else Line(*one) for one in value]


def those_that_fit(value: Any) -> tuple[AnswerColumn, ...]:
    """The columns of the lines that are right, while others are still being written."""
    found: tuple[AnswerColumn, ...] = ()
    for line in value if isinstance(value, list) else ():
        with suppress(BadInput):
            found = answer_columns.checked([*found, _of_line(line)])
    return found


def _of_line(line: list[str]) -> AnswerColumn:
    name, kind, choices, meaning = line
    found = next((one for one in answer_columns.KINDS if one == kind), None)
    if found is None:
        raise BadInput(f"“{kind[:40]}” is no kind of column. Choose one of the list.")
    return AnswerColumn(name, found, choices_of(choices), meaning)
