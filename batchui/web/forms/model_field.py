"""The field for choosing a model. Models are grouped by task; the catalogue must know the name."""

from typing import Any

from django import forms

from batchui.batches.catalogues import Catalogue
from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model
from batchui.prompts.jobs import Job

TASKS = {
    "chat": "Answer, summarise, extract, rewrite",
    "translation": "Translate",
    "embedding": "Turn text into numbers (embeddings)",
}


def models_for(job: Job, known: Catalogue, *, sees: bool = False) -> tuple[Model, ...]:
    """The models that can do a job, recommended ones first; unlisted ones if none is listed.

    sees: only those that can be shown pictures.
    """
    listed = tuple(model for model in known.models() if model.item_format in job.item_formats)
    found = listed or known.taking(job.item_formats)
    return tuple(model for model in found if model.sees) if sees else found


class ModelRadios(forms.RadioSelect):
    """Buttons that carry their model's task: the page shows the fields of that task."""

    known = Catalogue()

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(*args, **kwargs)
        model = self.known.find(str(option["value"]))
        option["attrs"]["data-task"] = model.task
        if model.effort:
            option["attrs"]["data-effort"] = True
        return option


class ModelField(forms.ChoiceField):
    """The name of a model in the catalogue, listed or not."""

    widget: Any = ModelRadios
    known = Catalogue()
    tasks: frozenset[str] = frozenset()

    def look_in(self, known: Catalogue) -> None:
        """Take the models of a connection."""
        self.known = known
        self.widget.known = known

    def offer(self, chosen: str, *others: Model) -> None:
        """Offer these models, and the chosen one."""
        models = dict.fromkeys((*others, self.known.find(chosen)))
        self.tasks = frozenset(model.task for model in models)
        self.choices = [
            (title, [(model.name, model.label) for model in models if model.task == task])
            for task, title in TASKS.items()
        ]

    def validate(self, value: Any) -> None:
        """Raise ValidationError, with a suggestion, for a model that is not in the catalogue."""
        forms.Field.validate(self, value)
        try:
            self.known.find(value)
        except catalogue.UnknownModel as problem:
            raise forms.ValidationError(str(problem)) from None
