"""The jobs that people have: what is asked of each row, in their words.

A question says its job (`Ask.job`). Where it does not, or no longer fits the model, the model and
the answer columns say it: questions from before there were jobs go on.
"""

from dataclasses import dataclass
from typing import Literal

from batchui.prompts.ask import Ask

Slug = Literal["ask", "fields", "categories", "translate", "embed", "rank", "items"]
ONE_OF, SEVERAL_OF = "one_of", "several_of"


@dataclass(frozen=True)
class Job:
    """One job.

    label: on its button. about: what it is for, beneath it. text_label: of the field of the
    question. item_formats: of the models that can do it. needs_columns: it is nothing without
    answer columns.
    """

    slug: Slug
    label: str
    about: str
    text_label: str
    item_formats: tuple[str, ...]
    needs_columns: bool = False


CHAT = ("prompt", "messages", "input")
TEXTS = ("text", "contexts")
JOBS = (
    Job(
        "ask",
        "Ask about each row",
        about="Summarise, answer, rewrite",
        text_label="What to ask of every row",
        item_formats=CHAT,
    ),
    Job(
        "fields",
        "Pull out fields",
        about="Names, dates, amounts: a column for each",
        text_label="What to find in every row",
        item_formats=CHAT,
        needs_columns=True,
    ),
    Job(
        "categories",
        "Sort into categories",
        about="One of your own list, or several",
        text_label="What to sort",
        item_formats=CHAT,
        needs_columns=True,
    ),
    Job(
        "translate",
        "Translate",
        about="Each text into another language",
        text_label="The text to translate",
        item_formats=("translation",),
    ),
    Job(
        "embed",
        "Turn into embeddings",
        about="Numbers that tell which texts are alike",
        text_label="The text to turn into numbers",
        item_formats=TEXTS,
    ),
    Job(
        "rank",
        "Rank passages against a question",
        about="How well each text answers it",
        text_label="The columns with the passages",
        item_formats=("contexts",),
    ),
    Job(
        "items",
        "Send my own requests",
        about="As they are in the file",
        text_label="",
        item_formats=(*CHAT, "translation", *TEXTS),
    ),
)
BY_SLUG: dict[str, Job] = {job.slug: job for job in JOBS}


def job_of(ask: Ask, item_format: str) -> Job:
    """The job of a question, for the item format of its model."""
    if ask.as_items:
        return BY_SLUG["items"]
    named = BY_SLUG.get(ask.job)
    if named and named.slug != "items" and item_format in named.item_formats:
        return named
    if item_format == "translation":
        return BY_SLUG["translate"]
    if item_format == "contexts" and ask.query:
        return BY_SLUG["rank"]
    if item_format in ("text", "contexts"):
        return BY_SLUG["embed"]
    kinds = [column.kind for column in ask.answer_columns]
    if len(kinds) == 1 and kinds[0] in (ONE_OF, SEVERAL_OF):
        return BY_SLUG["categories"]
    return BY_SLUG["fields" if kinds else "ask"]
