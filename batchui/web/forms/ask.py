"""The form for what to ask of every row. The page and `manage.py submit` share it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms

from batchui.batches.catalogues import Catalogue, of_batch
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_phrase
from batchui.cloudflare import catalogue
from batchui.prompts import ask
from batchui.prompts.answer_columns import KIND_WORDS, AnswerColumn
from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.jobs import Job, job_of
from batchui.prompts.model_facts import check_room, check_settings
from batchui.prompts.model_facts import misfit as misfit_setting
from batchui.prompts.problems import BadInput
from batchui.prompts.ranking import check_passages, query_of
from batchui.prompts.ready_items import Kind
from batchui.prompts.template import LONGEST_TEXT, Template
from batchui.web.damaged_files import without_path
from batchui.web.forms.answer_columns import Line, lines_of, those_that_fit
from batchui.web.forms.ask_fields import TOO_LONG, form_field
from batchui.web.forms.column_fields import ColumnField
from batchui.web.forms.fitting import fitting_models, items_kind, misfit
from batchui.web.forms.model_field import ModelField, models_for
from batchui.web.forms.pictures import no_pictures, offers_pictures

NO_TEMPLATE = "Write what to ask, then click a column to insert it."
NO_LANGUAGE = "The translation model does not know the language “%(value)s”. Choose another."

NO_COLUMNS = {
    "fields": "Add a column for each field that you want to have.",
    "categories": "Add a column with the categories to choose from.",
}
EFFORT_CHOICES = [("", "The model's own"), *((name, name.capitalize()) for name in ask.EFFORTS)]
NO_EFFORT = {"invalid_choice": "Choose low, medium or high, or leave it out."}


class AskForm(forms.Form):
    """What to ask of the rows of a draft. `ask` has the question if the form is valid.

    It has a field for each field of `Ask`, made from it at the end of this module. Only what the
    page changes is written here. A wrong template (an unknown column, no column) is an error of
    `template`.
    """

    model = ModelField(error_messages={"required": "Choose a model."})
    template = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "true"}),
        max_length=LONGEST_TEXT,
        error_messages={"required": NO_TEMPLATE, "max_length": TOO_LONG},
    )
    target_lang = forms.ChoiceField(required=False, error_messages={"invalid_choice": NO_LANGUAGE})
    source_lang = forms.ChoiceField(
        required=False,
        error_messages={"invalid_choice": NO_LANGUAGE},
    )
    effort = forms.ChoiceField(required=False, choices=EFFORT_CHOICES, error_messages=NO_EFFORT)
    reference_column = ColumnField(required=False)
    picture_column = ColumnField(required=False)

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        self.batch = batch
        self._items = items_kind(batch)
        self.known = of_batch(batch)
        super().__init__(data, initial=_initial(batch, self._items, self.known))
        self.order_fields(ask.NAMES)
        model = self.fields["model"]
        assert isinstance(model, ModelField)  # noqa: S101
        self.job_chosen = self._job()
        model.look_in(self.known)
        fitting = fitting_models(self._items, self.known) if self.job_chosen.slug == "items" else ()
        self.may_see = offers_pictures(self.job_chosen, self.known)
        self.shows_pictures = self.may_see and bool(self["picture_column"].value())
        usual = fitting or models_for(self.job_chosen, self.known, sees=self.shows_pictures)
        model.offer(self.as_typed()["model"], *usual)
        self.items_have_languages = self._items == "translation"
        languages = [(language.code, language.name) for language in catalogue.languages()]
        self._choices("target_lang", [("", "Choose a language"), *languages])
        self._choices("source_lang", languages)
        # Two lists of a hundred languages weigh a kilobyte; a choice that was made goes along.
        self.may_translate = "translation" in model.tasks
        if not self.may_translate:
            for name in ("target_lang", "source_lang"):
                self.fields[name].widget = forms.HiddenInput()
        columns = [(column, column) for column in batch.columns]
        self._choices("reference_column", [("", "The row number"), *columns])
        self._choices("picture_column", [("", "None"), *columns])
        if not batch.format.items:
            self.fields["as_items"].widget = forms.HiddenInput()
            self.fields["template"].required = True

    def _job(self) -> Job:
        """The job as it is typed, or as the draft has it."""
        typed = self.as_typed()
        asked = replace(self.batch.ask, as_items=typed["as_items"])
        if self.is_bound:
            job, query = (str(self.data.get(name, "")) for name in ("job", "query"))
            asked = replace(asked, job=job, query=query)
        return job_of(asked, self.known.find(typed["model"]).item_format)

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101
        field.choices = choices

    def as_typed(self) -> dict[str, Any]:
        """The typed fields that the preview needs, by name."""
        if not self.is_bound:
            return {name: self.initial[name] for name in TYPED}
        template = self.data.get("template", "").replace("\r\n", "\n").replace("\0", "")
        as_items = self.data.get("as_items") in ("on", "True", True)
        return {
            "model": _known(self.data.get("model", ""), self.known) or self.initial["model"],
            "template": template,
            "as_items": self.batch.format.items and as_items,
        }

    @property
    def ask(self) -> Ask:
        """The question of a valid form."""
        return Ask(**{name: self.cleaned_data[name] for name in ask.NAMES})

    def ask_so_far(self) -> Ask:
        """The question while somebody types.

        Valid fields as typed, and the prompt even if it is invalid; of the answer columns those
        that are right; all others as in the draft. A
        prompt that is too long is not kept.
        """
        self.full_clean()
        typed = self.as_typed()
        if len(typed["template"]) > LONGEST_TEXT:
            del typed["template"]
        chosen = {"skip_invalid": bool(self.data.get("skip_invalid"))}
        right = {name: self.cleaned_data[name] for name in ask.NAMES if name in self.cleaned_data}
        right.setdefault("answer_columns", those_that_fit(self["answer_columns"].value()))
        return replace(self.batch.ask, **(right | typed | chosen))

    @property
    def first_error(self) -> str:
        """The name of the first field with an error, "" if there is none."""
        return next((name for name in self.fields if name in self.errors), "")

    @property
    def opens_more(self) -> bool:
        """Whether a field under "More settings" has an error."""
        return any(name in self.errors for name in MORE)

    def focus_on_first_error(self) -> None:
        """Let the page open with the focus on the first field with an error.

        The models are in a dialog: the button that opens it gets the focus.
        """
        if self.first_error not in ("", "model"):
            self.fields[self.first_error].widget.attrs["autofocus"] = True

    def clean_template(self) -> str:
        # Browsers send CRLF; a prompt has the line breaks that were typed.
        return str(self.cleaned_data["template"]).replace("\r\n", "\n")

    def clean_answer_columns(self) -> tuple[AnswerColumn, ...]:
        columns: tuple[AnswerColumn, ...] | None = self.cleaned_data["answer_columns"]
        return self.batch.ask.answer_columns if columns is None else columns

    @property
    def answer_lines(self) -> list[Line]:
        """The lines for the columns of the answer, as typed, or as a schema says them."""
        sent = self["answer_columns"].value()
        if isinstance(sent, Mapping):
            sent = getattr(self, "cleaned_data", {}).get("answer_columns") or sent["lines"]
        return lines_of(sent)

    new_answer_line = Line()
    answer_kinds = tuple(KIND_WORDS.items())

    def clean_options(self) -> dict[str, Any]:
        if "options" not in self.data:  # the page shows this field only if there are options
            return dict(self.batch.ask.options)
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError("Write the options as key and value.")
        return options

    def clean_job(self) -> str:
        """The job, where the form names one that fits its model; a terminal names none."""
        named = self.cleaned_data["job"] == self.job_chosen.slug
        return self.job_chosen.slug if named else ""

    def clean_picture_column(self) -> str:
        return self.cleaned_data["picture_column"] if self.may_see else ""

    def clean_source_lang(self) -> str:
        return self.cleaned_data["source_lang"] or "en"

    def clean_target_lang(self) -> str:
        if self.items_have_languages and self.as_typed()["as_items"]:
            return ""
        chosen: str = self.cleaned_data["target_lang"]
        model = self._model()
        if model and model.task == "translation" and not chosen:
            raise forms.ValidationError("Choose the language to translate into.")
        return chosen

    def clean_as_items(self) -> bool:
        as_items: bool = self.cleaned_data["as_items"]
        if as_items and not self.batch.format.items:
            raise forms.ValidationError("The lines of this file are not ready-made requests.")
        return as_items

    def clean(self) -> None:
        super().clean()
        self._check_file()
        data = self.cleaned_data
        if "template" in data and not data.get("as_items"):
            self._check_template(data["template"])
        model = self._model()
        if model and model.task != "chat" and not self.data.get("answer_columns"):
            # The page does not show the lines beside such a model. The terminal names them itself.
            self.errors.pop("answer_columns", None)
            data["answer_columns"] = ()
        self._check_job()
        self._check_pictures(model)
        if model and data.get("as_items") and (unfit := misfit(self._items, model)):
            self.add_error("model", unfit)
        if model and not self.errors:
            self._check_options(model)

    def _model(self) -> catalogue.Model | None:
        """The chosen model; None where the choice is wrong."""
        name = self.cleaned_data.get("model")
        return self.known.find(name) if name else None

    def _check_pictures(self, model: catalogue.Model | None) -> None:
        column = self.cleaned_data.get("picture_column")
        if model and column and (problem := no_pictures(self.batch, column, model, self.known)):
            self.add_error("picture_column", problem)

    def _check_job(self) -> None:
        """What a job cannot do without."""
        job, data = self.job_chosen, self.cleaned_data
        if data.get("job") and job.needs_columns and not data.get("answer_columns", True):
            self.add_error("answer_columns", NO_COLUMNS[job.slug])
        if job.slug == "rank" and "query" in data:
            try:
                query_of(data["query"], self.batch.columns)
            except BadInput as problem:
                self.add_error("query", str(problem))

    def _check_file(self) -> None:
        if self.batch.problem and not self.batch.rows:
            self.add_error(None, without_path(self.batch.problem))
        if self.batch.bad_rows and not self.cleaned_data.get("skip_invalid"):
            self.add_error(
                "skip_invalid",
                f"{rows_phrase(self.batch.bad_rows)} of the file cannot be asked. Correct the file "
                "and upload it again, or tick this to skip such rows.",
            )

    def _check_template(self, template: str) -> None:
        if not template.strip():
            self.add_error("template", NO_TEMPLATE)
            return
        try:
            needs_name = not self.cleaned_data.get("picture_column")
            Template(template).bind(self.batch.columns, needs_name=needs_name)
            if self.job_chosen.slug == "rank":
                check_passages(template)
        except BadInput as problem:
            self.add_error("template", str(problem))

    def _check_options(self, model: catalogue.Model) -> None:
        """Check what goes into every item; first the options alone, so that the error has a place.

        Where an option is in the way of the answer columns, the page may not show the options.
        """
        options, columns = self.cleaned_data["options"], self.cleaned_data["answer_columns"]
        for name, asked in {
            "options": Ask(options=options, as_items=True),
            "answer_columns": Ask(options=options, answer_columns=columns, as_items=True),
        }.items():
            try:
                ItemWriter(model.item_format, asked, self.batch.columns)
            except BadInput as problem:
                self.add_error(name, str(problem))
                return
        self._check_settings(model)

    def _check_settings(self, model: catalogue.Model) -> None:
        """Hold the settings against what the model takes: each has its place for the sentence."""
        temperature = self.cleaned_data["temperature"]
        if problem := misfit_setting(model, "temperature", temperature):
            self.add_error("temperature", problem)
        if self.errors:
            return
        for name, check in (("options", check_settings), ("max_tokens", check_room)):
            try:
                check(model, self.ask)
            except BadInput as problem:
                self.add_error(name, str(problem))
                return


def column_mark(column: str) -> str:
    """The mark for a column in a template: `{{column}}`."""
    return "{{" + column + "}}"


def _known(model: str, known: Catalogue) -> str:
    """The name, if there is such a model; else ""."""
    try:
        return known.find(model).name
    except catalogue.UnknownModel:
        return ""


# The fields that the preview of the prompts needs.
TYPED = ("model", "template", "as_items")
# The fields under "More settings".
MORE = tuple(field.name for field in ask.fields() if field.about.more)


def _initial(batch: Batch, items: Kind | None, known: Catalogue) -> dict[str, Any]:
    """The fields of the draft, with defaults for those that are empty."""
    asked = batch.ask
    initial: dict[str, Any] = {name: getattr(asked, name) for name in ask.NAMES}
    usual = (*fitting_models(items, known), *known.models())[0].name
    initial["model"] = _known(asked.model, known) or usual
    initial["source_lang"] = asked.source_lang or "en"
    initial["options"] = asked.options or None
    if not asked.model:
        initial["as_items"] = batch.format.items
        if len(batch.columns) == 1 and not asked.template:
            initial["template"] = column_mark(batch.columns[0])
    return initial


for _field in ask.fields():
    declared = AskForm.base_fields.setdefault(_field.name, form_field(_field))
    declared.label, declared.help_text = _field.about.label, _field.about.help
