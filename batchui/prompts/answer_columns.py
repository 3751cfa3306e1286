"""The columns that an answer is wanted in: "tone", one of good, mixed and bad; "score", a number.

People write them in a form, or in a file for the terminal. They are checked here, and stored as
plain JSON: a list of {"name", "kind", "choices", "meaning"}.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from batchui.prompts.problems import BadInput, quoted

Kind = Literal["text", "number", "yes_no", "one_of", "several_of"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# What people call them.
KIND_WORDS: Mapping[Kind, str] = {
    "text": "text",
    "number": "number",
    "yes_no": "yes or no",
    "one_of": "one of a list",
    "several_of": "several of a list",
}
WITH_CHOICES: frozenset[Kind] = frozenset({"one_of", "several_of"})

# How many there may be, and their lengths in characters. All of them are sent with every row.
MOST_COLUMNS = 30
MOST_CHOICES = 100
LONGEST_NAME = 60
LONGEST_CHOICE = 100
LONGEST_MEANING = 500
# Between the choices of a form's field or of an option, and between the values of a table's cell.
BETWEEN = ";"


class AnswerColumn(msgspec.Struct, frozen=True):
    """One column of the answer.

    choices: of the kinds in WITH_CHOICES, what the values may be; else (). meaning: what the model
    should write there, in the words of a person; "" if the name says enough.
    """

    name: str
    kind: Kind = "text"
    choices: tuple[str, ...] = ()
    meaning: str = ""


def to_json(columns: Iterable[AnswerColumn]) -> list[dict[str, Any]]:
    """Plain JSON, for the database."""
    return [msgspec.to_builtins(column) for column in columns]


def from_json(stored: Any) -> tuple[AnswerColumn, ...]:
    """The columns that `to_json` wrote, or that a person wrote in the same way.

    Raises BadInput for anything else, with the place.
    """
    try:
        found = msgspec.convert(stored, tuple[AnswerColumn, ...])
    except msgspec.ValidationError as problem:
        raise BadInput(
            f"These are no answer columns: {problem}. Write a list of objects with “name”, “kind” "
            f"({', '.join(KINDS)}), “choices” and “meaning”."
        ) from None
    return checked(found)


def from_words(text: str) -> AnswerColumn:
    """The column that `name:kind:choice; choice` describes; the kind may be left out.

    Raises BadInput.
    """
    name, _, rest = text.partition(":")
    word, _, listed = rest.partition(":")
    kind = word.strip().replace("-", "_").replace("/", "_") or "text"
    if kind not in KINDS:
        raise BadInput(f"{quoted(word.strip())} is no kind of column. Choose {', '.join(KINDS)}.")
    return AnswerColumn(name.strip(), kind, choices_of(listed))


def choices_of(text: str) -> tuple[str, ...]:
    """The choices that a person wrote: one on each line, or with semicolons or commas between.

    Commas part them only where there is nothing else that does.
    """
    lines = text.replace("\r", "\n").replace(BETWEEN, "\n")
    if "\n" not in lines.strip():
        lines = lines.replace(",", "\n")
    return tuple(dict.fromkeys(filter(None, map(str.strip, lines.split("\n")))))


def checked(columns: Iterable[AnswerColumn]) -> tuple[AnswerColumn, ...]:
    """The columns, without blanks around texts. Raises BadInput for the first that is wrong."""
    found = tuple(map(_tidy, columns))
    if len(found) > MOST_COLUMNS:
        raise BadInput(
            f"There are {len(found)} answer columns; {MOST_COLUMNS} are possible. Remove some."
        )
    names: set[str] = set()
    for number, column in enumerate(found, 1):
        if problem := _problem(column, number, names):
            raise BadInput(problem)
        names.add(folded(column.name))
    return found


def folded(text: str) -> str:
    """The text as it is compared: capitals and blanks around it do not count."""
    return " ".join(text.split()).casefold()


def _tidy(column: AnswerColumn) -> AnswerColumn:
    choices = tuple(choice.strip() for choice in column.choices)
    return AnswerColumn(
        column.name.strip(),
        column.kind,
        choices if column.kind in WITH_CHOICES else (),
        column.meaning.strip().replace("\r\n", "\n"),
    )


def _problem(column: AnswerColumn, number: int, taken: set[str]) -> str:
    """What is wrong with a column, as a sentence; "" if nothing is."""
    if not column.name:
        return f"Answer column {number} has no name. Give it one, such as “tone”."
    name = quoted(column.name)
    if len(column.name) > LONGEST_NAME:
        return f"The name {name} is too long. Use at most {LONGEST_NAME} characters."
    if not column.name.isprintable():
        return f"The name {name} has a line break or another sign that cannot be seen. Remove it."
    if folded(column.name) in taken:
        return f"Two answer columns are called {name}. Give one of them another name."
    if len(column.meaning) > LONGEST_MEANING or "\0" in column.meaning:
        return f"What {name} means is too long. Use at most {LONGEST_MEANING} characters."
    return _problem_of_choices(column.choices, name) if column.kind in WITH_CHOICES else ""


def _problem_of_choices(choices: Sequence[str], name: str) -> str:
    if len(choices) < 2:
        return f"{name} needs a list to choose from: write two values or more."
    if len(choices) > MOST_CHOICES:
        return f"{name} has {len(choices)} values to choose from; {MOST_CHOICES} are possible."
    if len(set(map(folded, choices))) < len(choices):
        return f"Two values of {name} are the same. Remove one."
    for choice in choices:
        if not choice.isprintable() or not choice or len(choice) > LONGEST_CHOICE:
            return (
                f"A value of {name} cannot be used: {quoted(choice)}. It needs 1 to "
                f"{LONGEST_CHOICE} characters, without line breaks."
            )
        if BETWEEN in choice:
            return f"The value {quoted(choice)} of {name} has a semicolon, which parts values."
    return ""
