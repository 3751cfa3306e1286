"""The jobs of a draft: the row of choices above the question, and the question for each."""

from dataclasses import dataclass, replace

from batchui.batches.catalogues import Catalogue, of_batch
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.ask import Ask
from batchui.prompts.jobs import CHAT, JOBS, ONE_OF, SEVERAL_OF, Job
from batchui.web.asking.guessing import text_column
from batchui.web.asking.starting_points import (
    BY_SLUG,
    TEXT,
    WORDS,
    StartingPoint,
    is_starting_point,
)
from batchui.web.forms.ask import column_mark
from batchui.web.forms.fitting import fitting_models, items_kind
from batchui.web.forms.model_field import models_for
from batchui.web.forms.pictures import offers_pictures

# What a job begins with, where it needs more than a question.
POINTS = {"fields": BY_SLUG["names"], "categories": BY_SLUG["categories"]}


@dataclass(frozen=True)
class ShownJob:
    """A job in the row of choices."""

    job: Job
    is_chosen: bool


def shown_jobs(batch: Batch, chosen: Job) -> list[ShownJob]:
    """The jobs to choose from."""
    return [ShownJob(job, job == chosen) for job in JOBS if is_offered(job, batch)]


def is_offered(job: Job, batch: Batch) -> bool:
    """Whether some model can do it. For ready-made requests the file must have them, too."""
    if job.slug == "items" and not batch.format.items:
        return False
    return bool(models_for(job, of_batch(batch)))


def recommended(job: Job, known: Catalogue, *, sees: bool = False) -> str:
    """The name of the model to recommend for a job: the usual one, while it is listed.

    sees: one that can be shown pictures.
    """
    return models_for(job, known, sees=sees)[0].name


def ask_for(job: Job, batch: Batch, before: Ask) -> Ask:
    """The question of a draft for another job. before: what it asks now, which stays where it fits.

    What does not fit the model of the job is left out; whoever calls keeps `before`, to be undone.
    """
    known = of_batch(batch)
    model = _model(job, batch, before, known)
    changed = replace(
        before,
        job=job.slug,
        model=model,
        as_items=job.slug == "items",
        options=before.options if model == before.model else {},
        answer_columns=before.answer_columns if job.item_formats == CHAT else (),
        picture_column=before.picture_column if offers_pictures(job, known) else "",
    )
    if job.slug == "items":
        return changed
    if job.item_formats != CHAT:
        return replace(changed, template=column_mark(text_column(batch, WORDS)))
    is_question = _is_chat(before.model, known) and not before.as_items and before.template.strip()
    # The words of another job's beginning are nobody's: they go with it.
    is_untouched = is_starting_point(batch, before)
    template = before.template if is_question and not is_untouched else ""
    point = POINTS.get(job.slug)
    if point is None:
        return replace(changed, template=template, answer_columns=())
    return replace(
        changed,
        template=template or point.wording.replace(TEXT, column_mark(text_column(batch, WORDS))),
        answer_columns=point.columns if is_untouched else _columns(job, point, before),
    )


def _columns(job: Job, point: StartingPoint, before: Ask) -> tuple[AnswerColumn, ...]:
    """The answer columns that are there, if they are of this job; else those to begin with."""
    kinds = {column.kind for column in before.answer_columns}
    fits = kinds <= {ONE_OF, SEVERAL_OF} if job.slug == "categories" else True
    return before.answer_columns if kinds and fits else point.columns


def _model(job: Job, batch: Batch, before: Ask, known: Catalogue) -> str:
    """The model as it is, if it can do the job; else the one to recommend."""
    if job.slug == "items" and (fitting := fitting_models(items_kind(batch), known)):
        return before.model if before.model in {one.name for one in fitting} else fitting[0].name
    sees = before.shows_pictures and offers_pictures(job, known)
    fits = before.model in {model.name for model in models_for(job, known, sees=sees)}
    return before.model if fits else recommended(job, known, sees=sees)


def _is_chat(name: str, known: Catalogue) -> bool:
    try:
        return known.find(name).task == "chat"
    except UnknownModel:
        return False
