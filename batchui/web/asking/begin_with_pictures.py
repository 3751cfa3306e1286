"""A question that begins with pictures: the column, a model that sees, and words to begin with."""

from dataclasses import replace

from batchui.batches import saved_questions
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.prompts.ask import Ask
from batchui.prompts.jobs import BY_SLUG, CHAT, job_of
from batchui.web.asking.starting_points import DESCRIBE
from batchui.web.forms.ask import AskForm, column_mark
from batchui.web.forms.pictures import first_choice, seeing


def begin_with_pictures(batch: Batch) -> bool:
    """Ask the rows of a draft with its pictures, where it has an archive of them.

    False: it has none, or the question has a column of pictures already.
    """
    column = first_choice(batch)
    if not column or batch.ask.picture_column or batch.ask.as_items:
        return False
    model = batch.ask.model or AskForm(batch=batch).initial["model"]
    return saved_questions.fill_in(
        batch, with_pictures(batch, replace(batch.ask, model=model), column)
    )


def with_pictures(batch: Batch, ask: Ask, column: str) -> Ask:
    """A question with the pictures of a column, and a model that sees them; "": without."""
    if not column:
        # What it began with makes no sense without them.
        asks_nothing = ask.template.strip() == DESCRIBE
        return replace(ask, picture_column="", template="" if asks_nothing else ask.template)
    known = of_batch(batch)
    model = seeing(known, ask.model)
    is_chat = job_of(ask, known.find(ask.model).item_format).item_formats == CHAT
    # The name of a file is nothing to ask about.
    is_name = ask.template.strip() in ("", column_mark(column))
    return replace(
        ask,
        picture_column=column,
        model=model,
        options=ask.options if model == ask.model else {},
        job=ask.job if is_chat else BY_SLUG["ask"].slug,
        template=DESCRIBE if is_name else ask.template,
    )
