"""The sandbox does as an instruction says that names the fields of a JSON object."""

import pytest

from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_schema import in_words
from batchui.sandbox.worded_fields import schema_of, without

COLUMNS = (
    AnswerColumn("tone", "one_of", ("good", 'so "so"'), 'How she feels: "good", "bad" or so'),
    AnswerColumn("topics", "several_of", ("a, b", "c")),
    AnswerColumn("score", "number", (), "From 0 to 10"),
    AnswerColumn('"refund"', "yes_no"),
    AnswerColumn("why"),
)


def test_the_words_of_batchui_are_understood() -> None:
    assert schema_of(f"Be brief.\n\n{in_words(COLUMNS)}") == {
        "type": "object",
        "properties": {
            "tone": {"type": "string", "enum": ["good", 'so "so"']},
            "topics": {"type": "array", "items": {"type": "string", "enum": ["a, b", "c"]}},
            "score": {"type": "number"},
            '"refund"': {"type": "boolean"},
            "why": {"type": "string"},
        },
    }


@pytest.mark.parametrize(
    "words",
    ["", "Be brief.", '- "tone": a text', "Answer with one JSON object and nothing else:\n- tone"],
)
def test_other_instructions_ask_for_text(words: str) -> None:
    assert schema_of(words) is None


@pytest.mark.parametrize("prompt", ["Summarise: Lovely room", "- a list\n\nof things"])
def test_the_prompt_is_what_stands_below_the_words(prompt: str) -> None:
    columns = (AnswerColumn("tone", "one_of", ("good", "bad")), AnswerColumn("why"))
    assert without(f"{in_words(columns)}\n\n{prompt}") == prompt
    assert without(prompt) == prompt
