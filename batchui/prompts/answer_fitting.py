"""Takes the values of answer columns out of an answer, and says what does not fit.

A value is changed only where nothing is lost: the text "3" becomes the number 3, "Yes" becomes
true, and a choice gets the capitals that were asked for. A blank value (null, "" or an empty list)
fits every column: there may be nothing to say.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from batchui.prompts.answer_columns import BETWEEN, AnswerColumn, folded
from batchui.prompts.problems import listed, quoted

Value = str | int | float | Decimal | bool | list[str] | None

# A larger answer is not taken apart: its columns would have no use for it.
LARGEST = 1_000_000
# So many sentences are said about one answer, and so many choices are named in one.
MOST_PROBLEMS = 3
CHOICES_SHOWN = 8

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_LONGEST_NUMBER = 60
# Before or behind the point. Written out, a number such as 1e999999 would fill a page.
_MOST_DIGITS = 300
# A whole number with so few has fewer digits.
_FEW_BITS = 64
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_encode = msgspec.json.Encoder(decimal_format="number").encode
_decode = msgspec.json.Decoder(float_hook=Decimal).decode

NOT_JSON = "The answer is not the JSON object that was asked for: it begins {}."
CUT_OFF = "The answer ends in the middle of its JSON. Allow a longer answer, then ask again."
TOO_LARGE = "The answer is too long for the columns that were asked for."


class Fitted(NamedTuple):
    """The values of the columns, in their order, and sentences about what does not fit.

    The value of a column that is not there, or does not fit, is None.
    """

    values: list[Value]
    problems: list[str]

    @property
    def error(self) -> str:
        """One text with the first problems; "" if everything fits."""
        said = self.problems[:MOST_PROBLEMS]
        if more := len(self.problems) - len(said):
            said.append(f"{more} more {'field does' if more == 1 else 'fields do'} not fit.")
        return " ".join(said)


class _Unfit(Exception):
    """A value that does not fit its column. str() ends the sentence "“tone” is “angry”, …"."""


def fitted(answer: bytes, columns: Sequence[AnswerColumn]) -> Fitted:
    """The values in an answer, which is JSON. Any bytes are allowed."""
    nothing: list[Value] = [None] * len(columns)
    if len(answer) > LARGEST:
        return Fitted(nothing, [TOO_LARGE])
    try:
        value = _decode(answer)
    except (ValueError, RecursionError):
        return Fitted(nothing, [NOT_JSON.format("in a way that cannot be read")])
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, dict):
        return _of_object(value, columns)
    if len(columns) == 1 and not _looks_cut_off(value):
        return _of_object({columns[0].name: value}, columns)
    if _looks_cut_off(value):
        return Fitted(nothing, [CUT_OFF])
    return Fitted(nothing, [NOT_JSON.format(_shown(value))])


def _looks_cut_off(value: Any) -> bool:
    """Whether this is the text of JSON that was not whole, or else it would not be a text."""
    return isinstance(value, str) and value.lstrip("` \njsonJSON").startswith("{")


def fields_of(answer: bytes | None, columns: Sequence[AnswerColumn]) -> list[Value]:
    """The values of an answer by column; None for each that is blank or does not fit."""
    if answer is None:
        return [None] * len(columns)
    return fitted(answer, columns).values


def with_value(
    answer: bytes | None, columns: Sequence[AnswerColumn], at: int, value: Value
) -> bytes:
    """The answer with another value in the column at this place, as JSON on one line.

    What fits in the other columns stays; what does not is blank.
    """
    values = fields_of(answer, columns)
    values[at] = value
    names = [column.name for column in columns]
    return _encode(dict(zip(names, values, strict=True)))


def _of_object(found: Mapping[str, Any], columns: Sequence[AnswerColumn]) -> Fitted:
    # Most answers have the names as they were asked for.
    by_name = found
    if any(column.name not in found for column in columns):
        by_name = {folded(name): value for name, value in found.items()} | dict(found)
    values: list[Value] = []
    problems: list[str] = []
    missing: list[str] = []
    for column in columns:
        name = column.name if column.name in found else folded(column.name)
        value: Value = None
        if name not in by_name:
            missing.append(column.name)
        else:
            try:
                value = _fit(by_name[name], column)
            except _Unfit as problem:
                shown = _shown(by_name[name])
                problems.append(f"{quoted(column.name)} is {shown}, {problem}.")
        values.append(value)
    if missing:
        problems.insert(0, f"The answer has no {listed(missing)}.")
    return Fitted(values, problems)


def _fit(value: Any, column: AnswerColumn) -> Value:
    """The value as the column has it. Raises _Unfit."""
    if (
        value is None
        or value == []
        or value == {}
        or (isinstance(value, str) and not value.strip())
    ):
        return None
    match column.kind:
        case "number":
            return _number(value)
        case "yes_no":
            return _yes_or_no(value)
        case "one_of":
            return _choice(value, column.choices)
        case "several_of":
            return _several(value, column.choices)
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, dict | list):
        raise _Unfit("which is not a text")
    return value if isinstance(value, str) else _encode(value).decode()


def _number(value: Any) -> Value:
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
            raise _Unfit("which is not a number")
        value = _decode(text.encode())
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _Unfit("which is not a number")
    if isinstance(value, int) and value.bit_length() < _FEW_BITS:
        return value
    if abs(Decimal(value).adjusted()) > _MOST_DIGITS:
        raise _Unfit("which is larger or smaller than any number that people use")
    return value


def _yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = folded(value).rstrip(".!") if isinstance(value, str) else ""
    if word not in _WORDS:
        raise _Unfit("which is neither yes nor no")
    return _WORDS[word]


def _choice(value: Any, choices: Sequence[str]) -> str:
    """The choice that a value names, however it is written. Raises _Unfit."""
    if isinstance(value, str) and value in choices:
        return value
    if isinstance(value, list) and len(value) == 1:
        [value] = value
    if not isinstance(value, dict | list):
        by_word = {folded(choice): choice for choice in choices}
        words = ["yes" if value else "no"] if isinstance(value, bool) else []
        for word in [folded(_text(value)), folded(_text(value)).rstrip(".!"), *words]:
            if word in by_word:
                return by_word[word]
    shown = ", ".join(choices[:CHOICES_SHOWN])
    raise _Unfit(f"which is not one of {shown}{', …' if len(choices) > CHOICES_SHOWN else ''}")


def _several(value: Any, choices: Sequence[str]) -> list[str]:
    """The choices that a list names, each once. A text may have them with commas between."""
    if isinstance(value, str):
        try:
            return [_choice(value, choices)]
        except _Unfit:
            value = [one for one in re.split(f"[,{BETWEEN}\n]", value) if one.strip()]
    named = [_choice(one, choices) for one in (value if isinstance(value, list) else [value])]
    return list(dict.fromkeys(named))


def _shown(value: Any) -> str:
    """A value in a sentence: a text between quotation marks, anything else as JSON."""
    if isinstance(value, str):
        return quoted(value)
    text = _encode(value).decode()
    return text if len(text) <= CHOICES_SHOWN * 5 else f"{text[: CHOICES_SHOWN * 5]}…"
