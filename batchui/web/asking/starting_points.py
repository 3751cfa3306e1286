"""Good questions to start from, by the job that somebody has: filled with the columns of a file.

`{text}` stands for the column that is asked about, `{other}` for a second one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from batchui.batches import saved_questions
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.cloudflare import catalogue
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.ask import Ask
from batchui.prompts.jobs import BY_SLUG as JOBS
from batchui.web.asking.guessing import second_column, text_column
from batchui.web.forms.ask import column_mark
from batchui.web.forms.model_field import models_for

TEXT, OTHER = "{text}", "{other}"
DESCRIBE = "Describe this picture in one plain sentence."
# Names of columns with what people wrote, the surest first.
WORDS = ("review", "comment", "feedback", "message", "text", "description", "answer", "note")


@dataclass(frozen=True)
class StartingPoint:
    """A question for a job.

    slug: its word in addresses. hints: parts of the names of columns it is likely to be about.
    columns: the columns of the answer; () for one text.
    """

    slug: str
    label: str
    wording: str
    hints: Sequence[str] = WORDS
    columns: tuple[AnswerColumn, ...] = ()

    def ask(self, batch: Batch, before: Ask) -> Ask:
        """The question for a draft. before: what it asks now, of which other settings stay."""
        column = text_column(batch, self.hints)
        other = second_column(batch, besides=column) if OTHER in self.wording else ""
        wording = self.wording.replace(TEXT, column_mark(column))
        return Ask(
            model=_chat_model(before, batch),
            template=wording.replace(OTHER, column_mark(other)),
            answer_columns=self.columns,
            max_tokens=before.max_tokens,
            effort=before.effort,
            move_references=before.move_references,
            reference_column=before.reference_column,
            resend_once=before.resend_once,
            skip_invalid=before.skip_invalid,
            picture_column=before.picture_column,
        )


def _chat_model(before: Ask, batch: Batch) -> str:
    """The chosen model, if it answers questions; else the usual one."""
    known, sees = of_batch(batch), before.shows_pictures
    chat = [model.name for model in models_for(JOBS["ask"], known, sees=sees)]
    fits = before.model in chat
    return before.model if fits else next(iter(chat), catalogue.DEFAULT_MODEL)


STARTING_POINTS = (
    StartingPoint(
        "summarise",
        "Summarise",
        "Summarise this text in one plain sentence. Say what matters most, and add nothing that is "
        "not in it.\n\nText: {text}",
    ),
    StartingPoint(
        "tone",
        "Judge the tone",
        "Judge the tone of this text, and give the words that show it.\n\nText: {text}",
        columns=(
            AnswerColumn("tone", "one_of", ("good", "mixed", "bad"), "How the writer feels"),
            AnswerColumn("because", "text", (), "The words of the text that show it"),
        ),
    ),
    StartingPoint(
        "rewrite",
        "Rewrite politely",
        "Rewrite this text so that it is polite, short and clear. Keep what it says and its "
        "language, and answer with the new text alone.\n\nText: {text}",
    ),
    StartingPoint(
        "categories",
        "Sort into categories",
        "Sort this text into the category that fits best.\n\nText: {text}",
        columns=(
            AnswerColumn(
                "category",
                "one_of",
                ("praise", "complaint", "question", "suggestion", "other"),
                "What the writer wants",
            ),
        ),
    ),
    StartingPoint(
        "names",
        "Pull out names",
        "Find the names in this text. Leave a column empty where there are none; put a semicolon "
        "between several.\n\nText: {text}",
        columns=(
            AnswerColumn("people", "text", (), "Names of people"),
            AnswerColumn("organisations", "text", (), "Names of companies and other organisations"),
            AnswerColumn("places", "text", (), "Towns, countries and other places"),
        ),
    ),
    StartingPoint(
        "translate",
        "Translate",
        "Translate this text into English. Keep names and numbers as they are, and answer with the "
        "translation alone.\n\nText: {text}",
    ),
    StartingPoint(
        "reply",
        "Answer a customer",
        "Write a friendly answer to this customer, in the customer's language and in at most four "
        "sentences. Thank them, take up what they say, and promise nothing.\n\nMessage: {text}",
        ("message", "mail", "complaint", "question", *WORDS),
    ),
    StartingPoint(
        "topics",
        "Tag by topic",
        "Which of these topics does this text speak of?\n\nText: {text}",
        columns=(
            AnswerColumn(
                "topics",
                "several_of",
                ("price", "quality", "service", "delivery", "website", "other"),
                "Every topic that the text speaks of",
            ),
        ),
    ),
    StartingPoint(
        "rule",
        "Judge against a rule",
        "Rule: A text must not give the name, address or phone number of a person.\n\nDoes this "
        "text keep the rule?\n\nText: {text}",
        columns=(
            AnswerColumn("keeps the rule", "yes_no"),
            AnswerColumn("because", "text", (), "The words that break it; empty if none do"),
        ),
    ),
    StartingPoint(
        "address",
        "Clean an address",
        "Take this address apart. Mend plain spelling mistakes, and leave a column empty where the "
        "address does not say it.\n\nAddress: {text}",
        ("address", "adress", "street", "location", *WORDS),
        (
            AnswerColumn("street", "text", (), "Street and number"),
            AnswerColumn("postcode"),
            AnswerColumn("town"),
            AnswerColumn("country"),
        ),
    ),
    StartingPoint(
        "amounts",
        "Find dates and amounts",
        "Find the date and the amount in this text. Leave a column empty where it has none."
        "\n\nText: {text}",
        ("invoice", "payment", "purpose", "booking", *WORDS),
        (
            AnswerColumn("date", "text", (), "As 2026-05-31"),
            AnswerColumn("amount", "number", (), "Without its currency"),
            AnswerColumn("currency", "text", (), "Such as EUR or USD"),
        ),
    ),
    StartingPoint(
        "compare",
        "Compare two columns",
        "Do these two texts say the same?\n\nFirst: {text}\n\nSecond: {other}",
        columns=(
            AnswerColumn("same", "yes_no", (), "Whether they say the same in other words"),
            AnswerColumn("difference", "text", (), "What is different; empty if nothing is"),
        ),
    ),
    StartingPoint(
        "language",
        "Detect the language",
        "Which language is this text in?\n\nText: {text}",
        columns=(
            AnswerColumn("language", "text", (), "Its English name, such as German"),
            AnswerColumn("code", "text", (), "Its code of two letters, such as de"),
        ),
    ),
)
# For rows with pictures.
PICTURE_POINTS = (
    StartingPoint("describe", "Describe the picture", DESCRIBE),
    StartingPoint(
        "read",
        "Read the text in it",
        "Copy all text that can be read in this picture, line by line. Answer with the text alone; "
        "where there is none, answer with a dash.",
    ),
    StartingPoint(
        "product",
        "Name the thing",
        "Say what the main thing in this picture is. Leave a column empty where the picture does "
        "not show it.",
        columns=(
            AnswerColumn("thing", "text", (), "In one to three words"),
            AnswerColumn("colour", "text", (), "Its main colour"),
            AnswerColumn("condition", "one_of", ("new", "used", "damaged", "unclear")),
        ),
    ),
)
BY_SLUG = {point.slug: point for point in (*STARTING_POINTS, *PICTURE_POINTS)}


def is_starting_point(batch: Batch, asked: Ask) -> bool:
    """Whether a question is one of these as it was filled in, and nobody has changed it."""
    return any(
        (point.ask(batch, asked).template, point.columns) == (asked.template, asked.answer_columns)
        for point in BY_SLUG.values()
    )


# So many stand on the page; the others are in a menu.
SHOWN = 3
SAVED_SHOWN = 30


def starting_context(batch: Batch) -> dict[str, Any]:
    """What the page needs to offer the starting points and the saved questions."""
    points: Sequence[StartingPoint] = STARTING_POINTS
    if batch.ask.shows_pictures:
        points = (*PICTURE_POINTS, *STARTING_POINTS)
    return {
        "points_shown": points[:SHOWN],
        "points_more": points[SHOWN:],
        "saved_questions": saved_questions.of_team(batch.team)[:SAVED_SHOWN],
    }
