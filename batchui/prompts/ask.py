"""The question that is asked of every row, as one list of fields.

The columns of the database, the form of the page, the options of `manage.py submit` and "run again"
all take their fields from `Ask`. A new field is one line here, its place on the page, and a
migration.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_type_hints

from batchui.prompts.answer_columns import AnswerColumn

EFFORTS = ("low", "medium", "high")


@dataclass(frozen=True, kw_only=True)
class About:
    """How a field looks to people.

    label, help: on the page. least, most: the bounds of a number; for a text, `most` is the largest
    number of characters. option: the option in the terminal; a field without one is given there as
    `--option NAME=VALUE`. more: the field is under "More settings".
    """

    label: str
    help: str = ""
    least: float | None = None
    most: int | None = None
    option: str = ""
    option_help: str = ""
    more: bool = False


def _asked(default: Any, **about: Any) -> Any:
    metadata = {"about": About(**about)}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What to ask of each row, of which model, and what to do if that is not possible.

    job: what is to be done with each row, as in `jobs.py`; "" to take it from the rest.
    model: its name. template: the question, with `{{column}}` for a cell of the row.
    query: what the passages are ranked against, with `{{column}}` for a cell of the row.
    instruction: for all rows, as a system message or as text before the prompt. Embedding and
    translation models accept none, so it is not sent to them.
    max_tokens: the longest answer, in tokens. The default is 1,024, because the API's own default
    of 256 cuts answers off. temperature: None for the default of the model.
    effort: how long a model thinks that can be asked so: "low", "medium" or "high"; "" for its own.
    answer_columns: the columns that the answer is wanted in; (): it is one text.
    picture_column: the column with a picture for each row, as an address or the name of a file of
    the zip that goes with the batch; "" for none. The model is shown it after the question.
    options: further fields of the API (top_p, seed, response_format, …). They replace the settings
    above.
    reference_column: the column for the external_reference; "" for the row number.
    as_items: send the JSONL objects as they are. Template and instruction are not used then, and
    the settings fill in only fields that an object does not have. move_references: an
    external_reference inside `contexts` becomes that of its request.
    """

    model: str = _asked(
        "",
        label="Model",
        most=200,
        option="--model",
        option_help="such as @cf/meta/llama-3.3-70b-…",
    )
    job: str = _asked("", label="Job", most=20)
    template: str = _asked(
        "",
        label="What to ask of every row",
        option="--prompt",
        option_help="what to ask, with {{column}}",
    )
    query: str = _asked(
        "",
        label="What to rank by",
        help="A question or a topic: the same for every row, or a column, like {{question}}.",
        option="--query",
        option_help="what to rank the passages of each row against",
    )
    instruction: str = _asked(
        "",
        label="Instruction for all rows",
        help="Who the model should be, and how it should answer. Sent with every row.",
        option="--system",
        option_help="an instruction for all rows",
    )
    answer_columns: tuple[AnswerColumn, ...] = _asked(
        tuple,
        label="Answer columns",
        help="Leave them out, and the answer is one text.",
        option="--column",
        option_help="a column of the answer, as NAME:KIND:CHOICES, such as "
        "“tone:one_of:good;mixed;bad”; may be given more than once",
    )
    target_lang: str = _asked(
        "",
        label="Translate into",
        most=20,
        option="--target-lang",
        option_help="language to translate into",
    )
    source_lang: str = _asked(
        "",
        label="Language of the file",
        most=20,
        option="--source-lang",
        option_help="language of the file (en)",
    )
    max_tokens: int = _asked(
        1024,
        label="Longest answer",
        help="In tokens; 1,024 are about 750 English words. Longer answers are cut off. A model "
        "that thinks before it answers gets room for that besides.",
        least=1,
        most=32_768,
        more=True,
    )
    temperature: float | None = _asked(
        None,
        label="Temperature",
        help="0: the same answer every time; a higher number: more varied answers. Leave it empty "
        "to use the model's own setting.",
        least=0,
        most=5,
        more=True,
    )
    effort: str = _asked(
        "",
        label="Effort",
        help="How long the model thinks before it answers. Thinking is paid for like an answer.",
        most=10,
        option="--effort",
        option_help="how long the model thinks: low, medium or high",
    )
    reference_column: str = _asked(
        "",
        label="Reference",
        help="A column whose value is sent with each row, such as an order number.",
        option="--reference-column",
        option_help="the column whose value is sent with each row",
        more=True,
    )
    picture_column: str = _asked(
        "",
        label="Pictures",
        help="A column with the address of a picture, or the name of its file in a ZIP archive. "
        "The model sees it with the question.",
        option="--picture-column",
        option_help="the column with a picture for each row: its address, or the name of a file in "
        "--pictures",
    )
    as_items: bool = _asked(
        False, label="The lines of the file are ready-made requests; send them as they are"
    )
    move_references: bool = _asked(
        False,
        label="Move the references inside “contexts” to their request",
        help="Several of one request are joined with commas.",
        option="--move-references",
        option_help="move an external_reference inside contexts to its request",
    )
    skip_invalid: bool = _asked(
        False,
        label="Skip rows that cannot be asked",
        help="They stay in the file you download, marked as invalid.",
        option="--skip-invalid",
        option_help="skip rows that cannot be asked",
    )
    stop_at_blank: bool = _asked(
        False,
        label="Do not start while a row has nothing to ask about",
        help="Otherwise such rows are skipped. They stay in the file you download.",
        option="--stop-at-blank",
        option_help="do not start while a row has nothing to ask about; otherwise such rows are "
        "skipped",
        more=True,
    )
    ask_once: bool = _asked(
        False,
        label="Ask the same question only once",
        help="Rows that ask exactly the same get the answer of the first of them, so that fewer "
        "rows are paid for.",
        option="--ask-once",
        option_help="ask the same question only once, and give every such row that answer",
        more=True,
    )
    resend_once: bool = _asked(
        False,
        label="If it is unclear whether a part was sent, send it again once",
        help="Otherwise batchui waits for your decision. Rows sent twice may be charged twice.",
        option="--resend-once",
        option_help="send a part again, once, when it is unclear whether it was sent",
        more=True,
    )
    options: Mapping[str, Any] = _asked(
        dict,
        label="Further options",
        help="Fields of the API that are sent with every row, as a JSON object.",
        more=True,
    )

    @property
    def shows_pictures(self) -> bool:
        """Whether each row is asked with a picture."""
        return bool(self.picture_column) and not self.as_items


@dataclass(frozen=True)
class Field:
    """One field of Ask: its name, its type, its default (None if it has none), its texts."""

    name: str
    kind: Any
    default: Any
    about: About

    @property
    def is_long(self) -> bool:
        """Whether it is a text of any length, with line breaks; or shown as one."""
        return self.name == "answer_columns" or (self.kind is str and not self.about.most)


@cache
def fields() -> tuple[Field, ...]:
    """The fields of Ask, in order."""
    kinds = get_type_hints(Ask)
    return tuple(
        Field(
            name=found.name,
            kind=kinds[found.name],
            default=None if found.default is dataclasses.MISSING else found.default,
            about=found.metadata["about"],
        )
        for found in dataclasses.fields(Ask)
    )


NAMES = tuple(found.name for found in fields())
