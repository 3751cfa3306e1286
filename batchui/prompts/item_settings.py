"""What is the same in every item of a batch: its settings, and the instruction."""

from typing import Any, Literal

from batchui.prompts.answer_schema import JSON_OPTIONS, in_words, response_format
from batchui.prompts.ask import Ask
from batchui.prompts.model_facts import Takes, effort_setting, longest_written, takes
from batchui.prompts.problems import BadInput, quoted

ItemFormat = Literal["messages", "prompt", "input", "text", "contexts", "translation"]

# The field for the longest answer, if the format has one; and all fields with this meaning.
LONGEST = {"messages": "max_tokens", "prompt": "max_tokens", "input": "max_output_tokens"}
LONGEST_FIELDS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})
REFERENCE = "external_reference"
# Fields that an option must not overwrite.
OURS = ("prompt", "messages", "input", "text", "source_lang", "target_lang", REFERENCE)


def whole_instruction(ask: Ask) -> str:
    """The instruction as it is sent: with the answer columns, if there are any."""
    if not ask.answer_columns:
        return ask.instruction
    return "\n\n".join(filter(None, (ask.instruction, in_words(ask.answer_columns))))


def settings_of(item_format: ItemFormat, ask: Ask, model: Takes | None) -> dict[str, Any]:
    """The fields, besides the question, that are the same in every item.

    A temperature is left out beside a model that takes none, and so is an effort.
    """
    for name in ask.options:
        if name in OURS:
            raise BadInput(
                f"The option {quoted(name)} is filled in from the question and the file, and "
                "cannot be set by hand. Remove it."
            )
    settings: dict[str, Any] = {}
    if item_format == "translation":
        if not ask.target_lang and not ask.as_items:
            raise BadInput("No language to translate into is chosen. Choose one.")
        if ask.source_lang:
            settings["source_lang"] = ask.source_lang
        if ask.target_lang:
            settings["target_lang"] = ask.target_lang
    elif item_format in LONGEST:
        if LONGEST_FIELDS.isdisjoint(ask.options):
            settings[LONGEST[item_format]] = longest_written(model, ask)
        if ask.temperature is not None and (model is None or takes(model, "temperature")):
            settings["temperature"] = ask.temperature
        settings |= effort_setting(model, ask.effort)
    if ask.answer_columns:
        _check_answer_columns(item_format, ask)
        if model and model.schema_nesting:
            settings["response_format"] = response_format(
                ask.answer_columns, named=model.schema_nesting == "named"
            )
    return {**settings, **ask.options}


def _check_answer_columns(item_format: ItemFormat, ask: Ask) -> None:
    if item_format not in LONGEST:
        raise BadInput(
            "This model writes no answers in columns. Choose one that answers questions, or remove "
            "the answer columns."
        )
    if taken := [name for name in JSON_OPTIONS if name in ask.options]:
        raise BadInput(
            f"The option {quoted(taken[0])} and the answer columns both say what the answer looks "
            "like. Remove one of them."
        )
