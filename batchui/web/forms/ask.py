"""What to ask of every row: the form that the page and `manage.py submit` share."""

import json
from typing import Any

import msgspec
from django import forms

from batchui.batches.models import Batch
from batchui.cloudflare import catalogue
from batchui.prompts.items import Ask, ItemWriter
from batchui.prompts.problems import BadInput
from batchui.prompts.template import Template

LONGEST_ANSWER = 32_768
NO_TEMPLATE = "Say what to ask, and click a column to put it in."
NO_LANGUAGE = "The translation model does not know the language “%(value)s”. Choose another."


class OptionsField(forms.Field):
    """A JSON object, decoded as strictly as it will be sent: no NaN, no half characters."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> dict[str, Any]:
        text = str(value or "").strip()
        if not text:
            return {}
        try:
            options = msgspec.json.decode(text.encode(), type=dict[str, Any])
            if "\\u0000" not in json.dumps(options):
                return options
        except (ValueError, RecursionError):
            pass
        raise forms.ValidationError(self.error_messages["invalid"])

    def prepare_value(self, value: Any) -> Any:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


class AskForm(forms.Form):
    """`cleaned_data` holds fields of Batch, ready for `decisions.start`.

    Template problems (an unknown column, no column at all) are errors of `template`.
    """

    name = forms.CharField(
        label="Name of the batch", max_length=200, error_messages={"required": "Give it a name."}
    )
    model = forms.CharField(
        label="Model", max_length=200, error_messages={"required": "Choose a model."}
    )
    template = forms.CharField(
        label="What to ask of every row",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "true"}),
        error_messages={"required": NO_TEMPLATE},
    )
    instruction = forms.CharField(
        label="Instruction for all rows",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Who the model should be, and how it should answer. Sent with every row.",
    )
    target_lang = forms.ChoiceField(
        label="Translate into", required=False, error_messages={"invalid_choice": NO_LANGUAGE}
    )
    source_lang = forms.ChoiceField(
        label="Language of the file",
        required=False,
        error_messages={"invalid_choice": NO_LANGUAGE},
    )
    max_tokens = forms.IntegerField(
        label="Longest answer",
        min_value=1,
        max_value=LONGEST_ANSWER,
        help_text="In tokens; 1,024 are about 750 English words. Longer answers are cut off.",
        error_messages={
            "required": "Say how long an answer may be: 1,024 is usual.",
            "invalid": "Write a whole number, such as 1024.",
            "min_value": "An answer needs at least 1 token. Write a number such as 1024.",
            "max_value": "The longest possible is %(limit_value)s tokens. Write fewer.",
        },
    )
    temperature = forms.FloatField(
        label="Temperature",
        required=False,
        min_value=0,
        max_value=5,
        help_text="0 answers the same way every time; higher varies more. Empty: the model's own.",
        error_messages={"invalid": "Write a number from 0 to 5, such as 0.2, or nothing."},
    )
    reference_column = forms.ChoiceField(
        label="Reference",
        required=False,
        help_text="A column whose value travels with each row, such as an order number.",
        error_messages={"invalid_choice": "The file has no column “%(value)s”. Choose another."},
    )
    as_items = forms.BooleanField(
        label="The lines of the file are ready-made requests; send them as they are",
        required=False,
    )
    leave_out_invalid = forms.BooleanField(
        label="Leave out rows that cannot be asked",
        required=False,
        help_text="They stay in the file you download, marked as invalid.",
    )
    resend_once = forms.BooleanField(
        label="If it is unclear whether a part was sent, send it again once",
        required=False,
        help_text="Otherwise batchui waits for you to decide. Rows sent twice may be paid twice.",
    )
    options = OptionsField(
        label="Further options",
        required=False,
        help_text="Fields of the API that are sent with every row, as a JSON object.",
        error_messages={"invalid": 'This is not JSON. Write it like {"top_p": 0.9}.'},
    )

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        self.batch = batch
        super().__init__(data, initial=_initial(batch))
        languages = [(language.code, language.name) for language in catalogue.languages()]
        self._choices("target_lang", [("", "Choose a language"), *languages])
        self._choices("source_lang", languages)
        columns = [(column, column) for column in batch.columns]
        self._choices("reference_column", [("", "The row number"), *columns])
        if not batch.format.items:
            self.fields["as_items"].widget = forms.HiddenInput()
            self.fields["template"].required = True

    def _choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101
        field.choices = choices

    def as_typed(self) -> dict[str, Any]:
        """The fields that make the filled prompts, as far as they can be understood while
        somebody types; each is a field of Batch."""
        if not self.is_bound:
            return {name: self.initial[name] for name in TYPED}
        template = self.data.get("template", "").replace("\r\n", "\n").replace("\0", "")
        as_items = self.data.get("as_items") in ("on", "True", True)
        return {
            "model": _known(self.data.get("model", "")) or self.initial["model"],
            "template": template,
            "as_items": self.batch.format.items and as_items,
        }

    def to_keep(self) -> dict[str, Any]:
        """What a draft keeps while somebody types: what is right so far, and the prompt even where
        it is not. Fields of Batch."""
        self.full_clean()
        chosen = {"leave_out_invalid": bool(self.data.get("leave_out_invalid"))}
        return self.cleaned_data | self.as_typed() | chosen

    @property
    def first_error(self) -> str:
        """The first field with an error: the page opens there."""
        return next((name for name in self.fields if name in self.errors), "")

    @property
    def opens_more(self) -> bool:
        """Whether a field under "More settings" has an error."""
        return any(name in self.errors for name in MORE)

    def focus_on_first_error(self) -> None:
        if self.first_error:
            self.fields[self.first_error].widget.attrs["autofocus"] = True

    def clean_model(self) -> str:
        try:
            return catalogue.find(self.cleaned_data["model"]).name
        except catalogue.UnknownModel as problem:
            raise forms.ValidationError(str(problem)) from None

    def clean_template(self) -> str:
        # Browsers send CRLF; a prompt has the line breaks that were typed.
        return str(self.cleaned_data["template"]).replace("\r\n", "\n")

    def clean_options(self) -> dict[str, Any]:
        if "options" not in self.data:  # the page has no such field where there are none
            return dict(self.batch.options)
        options = self.cleaned_data["options"] or {}
        if not isinstance(options, dict):
            raise forms.ValidationError("Write the options as key and value.")
        return options

    def clean_source_lang(self) -> str:
        return self.cleaned_data["source_lang"] or "en"

    def clean(self) -> None:
        data = super().clean() or self.cleaned_data
        self._check_file()
        if data.get("as_items") and not self.batch.format.items:
            self.add_error("as_items", "The lines of this file are not ready-made requests.")
        if not data.get("as_items") and "template" in data:
            self._check_template(data["template"])
        model = catalogue.find(data["model"]) if "model" in data else None
        if model and model.task == "translation" and not data.get("target_lang"):
            self.add_error("target_lang", "Choose the language to translate into.")
        if model and not self.errors:
            self._check_options(model.item_format)

    def _check_file(self) -> None:
        if self.batch.problem and not self.batch.rows:
            self.add_error(None, self.batch.problem)
        if self.batch.bad_rows and not self.cleaned_data.get("leave_out_invalid"):
            rows = "1 row" if self.batch.bad_rows == 1 else f"{self.batch.bad_rows:,} rows"
            self.add_error(
                "leave_out_invalid",
                f"{rows} of the file cannot be asked. Correct the file and upload it again, or "
                "tick this to leave them out.",
            )

    def _check_template(self, template: str) -> None:
        if not template.strip():
            self.add_error("template", NO_TEMPLATE)
            return
        try:
            Template(template).bind(self.batch.columns)
        except BadInput as problem:
            self.add_error("template", str(problem))

    def _check_options(self, item_format: str) -> None:
        ask = Ask(template="", options=self.cleaned_data["options"], as_items=True)
        try:
            ItemWriter(item_format, ask, self.batch.columns)
        except BadInput as problem:
            self.add_error("options", str(problem))


def column_mark(column: str) -> str:
    """How a template names a column."""
    return "{{" + column + "}}"


def _known(model: str) -> str:
    """The name, where there is such a model; else nothing."""
    try:
        return catalogue.find(model).name
    except catalogue.UnknownModel:
        return ""


# What makes the filled prompts.
TYPED = ("model", "template", "as_items")
# What stands under "More settings".
MORE = ("name", "max_tokens", "temperature", "reference_column", "resend_once", "options")


def _initial(batch: Batch) -> dict[str, Any]:
    """What the draft holds, with something sensible where it holds nothing yet."""
    initial = {name: getattr(batch, name) for name in AskForm.base_fields if name != "options"}
    initial["model"] = _known(batch.model) or catalogue.models()[0].name
    initial["source_lang"] = batch.source_lang or "en"
    initial["options"] = batch.options or None
    if not batch.model:
        initial["as_items"] = batch.format.items
        if len(batch.columns) == 1 and not batch.template:
            initial["template"] = column_mark(batch.columns[0])
    return initial
