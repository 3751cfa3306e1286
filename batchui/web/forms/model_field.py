"""The field for choosing a model. Models are grouped by task; the catalogue must know the name."""

from typing import Any

from django import forms

from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model

TASKS = {
    "chat": "Answer, summarise, extract, rewrite",
    "translation": "Translate",
    "embedding": "Turn text into numbers (embeddings)",
}


class ModelRadios(forms.RadioSelect):
    """Buttons that carry their model's task: the page shows the fields of that task."""

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(*args, **kwargs)
        option["attrs"]["data-task"] = catalogue.find(str(option["value"])).task
        return option


class ModelField(forms.ChoiceField):
    """The name of a model in the catalogue, listed or not."""

    widget = ModelRadios

    def offer(self, chosen: str, *others: Model) -> None:
        """Offer the listed models, the chosen one, and these others."""
        models = dict.fromkeys((*catalogue.models(), catalogue.find(chosen), *others))
        self.choices = [
            (title, [(model.name, model.label) for model in models if model.task == task])
            for task, title in TASKS.items()
        ]

    def validate(self, value: Any) -> None:
        """Raise ValidationError, with a suggestion, for a model that is not in the catalogue."""
        forms.Field.validate(self, value)
        try:
            catalogue.find(value)
        except catalogue.UnknownModel as problem:
            raise forms.ValidationError(str(problem)) from None
