"""Turns the options of `manage.py submit` into the fields of the page's form."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from batchui.batches.catalogues import is_known_anywhere
from batchui.batches.models import LONGEST_NAME, Batch
from batchui.batches.phrases import problem_of
from batchui.cloudflare import catalogue
from batchui.prompts import answer_columns, ask
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_schema import LONGEST_SCHEMA, columns_of
from batchui.prompts.problems import BadInput, listed
from batchui.web.forms.ask import NO_TEMPLATE, AskForm, column_mark


def add_arguments(parser: ArgumentParser) -> None:
    """An option for each field of `Ask` that has one."""
    for field in ask.fields():
        about = field.about
        if field.kind is bool and about.option:
            parser.add_argument(
                about.option, dest=field.name, action="store_true", help=about.option_help
            )
        elif field.name == "answer_columns":
            parser.add_argument(
                about.option,
                dest=field.name,
                action="append",
                default=[],
                metavar="NAME:KIND:CHOICES",
                help=about.option_help,
            )
        elif about.option:
            parser.add_argument(
                about.option,
                dest=field.name,
                default="",
                required=field.name == "model",
                help=about.option_help,
            )
    parser.add_argument(
        "--answer-columns",
        dest="answer_columns_file",
        type=Path,
        metavar="FILE",
        help="a JSON file with the columns of the answer, or with a JSON Schema of it",
    )


def checked(options: dict[str, Any]) -> dict[str, Any]:
    """The options after the checks that need no file. Raises BadInput, which names the option."""
    if len(options["name"]) > LONGEST_NAME:
        raise BadInput(f"--name: use at most {LONGEST_NAME} characters.")
    _check_model(options["model"])
    return options | {
        "answer_columns": _answer_columns(
            options["answer_columns"], options["answer_columns_file"]
        ),
        "option": _pairs(options["option"]),
        "target_lang": _language(options["target_lang"], "--target-lang"),
        "source_lang": _language(options["source_lang"], "--source-lang"),
    }


def fields(options: dict[str, Any], batch: Batch) -> dict[str, Any]:
    """The fields of the form for `checked` options, as the page would send them."""
    template = _template(options["template"], options["text_column"])
    initial = AskForm(batch=batch).initial
    extra = dict(options["option"])
    sent: dict[str, Any] = {"name": batch.name}
    for field in ask.fields():
        if not field.about.option and field.name in extra:
            sent[field.name] = extra.pop(field.name)
        else:
            given = options[field.name] if field.about.option else initial[field.name]
            sent[field.name] = ("on" if given else "") if field.kind is bool else given
    sent["template"] = template or initial["template"]
    sent["as_items"] = "on" if initial["as_items"] and not template else ""
    sent["options"] = msgspec.json.encode(extra).decode() if extra else ""
    return sent


def _template(prompt: str, column: str) -> str:
    """The prompt, the column, or the prompt followed by the column."""
    if not column:
        return prompt
    mark = column_mark(column)
    if not prompt or mark in prompt:
        return prompt or mark
    return f"{prompt}\n\n{mark}"


def _pairs(given: list[str]) -> dict[str, Any]:
    """KEY=VALUE pairs as a dictionary. A value that is not JSON is text."""
    extra: dict[str, Any] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise BadInput(f"--option {pair}: write it as key=value, such as max_tokens=200.")
        try:
            extra[key.strip()] = msgspec.json.decode(value.encode())
        except msgspec.DecodeError:
            extra[key.strip()] = value
    return extra


def _answer_columns(words: list[str], file: Path | None) -> str:
    """The columns of the answer as JSON, from options and from a file. Raises BadInput."""
    try:
        columns = [*map(answer_columns.from_words, words)]
        answer_columns.checked(columns)
    except BadInput as problem:
        raise BadInput(f"--column: {problem}") from None
    if file is not None:
        columns = [*_columns_of_file(file), *columns]
    return msgspec.json.encode(columns).decode() if columns else ""


def _columns_of_file(file: Path) -> Sequence[AnswerColumn]:
    """The columns in a file: a list of columns, or a JSON Schema."""
    try:
        with file.open("rb") as stream:
            text = stream.read(4 * LONGEST_SCHEMA).decode()
        if text.lstrip().startswith("["):
            return answer_columns.from_json(msgspec.json.decode(text.encode()))
        return columns_of(text)
    except BadInput as problem:
        raise BadInput(f"--answer-columns {file}: {problem}") from None
    except (OSError, ValueError) as problem:
        raise BadInput(f"--answer-columns {file}: it cannot be read: {problem}") from None


def _check_model(name: str) -> None:
    try:
        catalogue.find(name)
    except catalogue.UnknownModel as problem:
        if is_known_anywhere(name):
            return
        raise BadInput(f"--model: {problem}") from None


def _language(given: str, option: str) -> str:
    """The code of a language that is given by its code or its English name."""
    try:
        return catalogue.find_language(given).code if given else ""
    except catalogue.UnknownLanguage as problem:
        raise BadInput(f"{option}: {problem}") from None


def first_error(form: AskForm, options: dict[str, Any]) -> str:
    """The first error, with the name of its option."""
    field, errors = next(iter(form.errors.items()))
    if field == "skip_invalid":
        return f"{problem_of(form.batch)} (--skip-invalid skips such rows.)"
    if errors[0] == NO_TEMPLATE:
        columns = listed(form.batch.columns)
        return (
            "--prompt: write what to ask, and name a column, like {{name}}. The columns are "
            f"{columns}."
        )
    option = _option_of(field)
    if field == "template" and not options["template"]:
        option = "--text-column"
    return f"{option}: {errors[0]}" if option else str(errors[0])


def _option_of(name: str) -> str:
    """The option for a field of the form; "" if there is none."""
    if name == "name":
        return "--name"
    asked = {field.name: field.about.option for field in ask.fields()}
    if name == "options":
        return "--option"
    return asked.get(name) or (f"--option {name}" if name in asked else "")
