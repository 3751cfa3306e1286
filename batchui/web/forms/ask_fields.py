"""The form's field for each field of `Ask`, by its type."""

import json
from typing import Any

import msgspec
from django import forms

from batchui.prompts import ask
from batchui.prompts.template import LONGEST_TEXT
from batchui.web.forms.answer_columns import AnswerColumnsField

TOO_LONG = (
    "At most %(limit_value)d characters are possible, and this has %(show_value)d. Shorten it."
)
NOT_JSON = 'This is not JSON. Write it like {"top_p": 0.9}.'


class OptionsField(forms.Field):
    """A JSON object, decoded as strictly as for sending: no NaN, no half characters.

    It has at most LONGEST_TEXT characters: decoded, they take fifty times as much memory.
    """

    widget = forms.Textarea

    def to_python(self, value: Any) -> dict[str, Any]:
        text = str(value or "").strip()
        if not text:
            return {}
        if len(text) > LONGEST_TEXT:
            shown = {"limit_value": LONGEST_TEXT, "show_value": len(text)}
            raise forms.ValidationError(TOO_LONG, params=shown)
        try:
            options = msgspec.json.decode(text.encode(), type=dict[str, Any])
            if "\\u0000" not in json.dumps(options):
                return options
        except (ValueError, RecursionError):
            pass
        raise forms.ValidationError(self.error_messages["invalid"])

    def prepare_value(self, value: Any) -> Any:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value


def form_field(field: ask.Field) -> forms.Field:
    """The form's field for a field of `Ask`."""
    about = field.about
    shown: dict[str, Any] = {"label": about.label, "help_text": about.help, "required": False}
    if field.kind is bool:
        return forms.BooleanField(**shown)
    if field.kind in (int, float | None):
        return _number_field(field, shown)
    if field.kind is str and about.most:
        return forms.CharField(max_length=about.most, **shown)
    if field.kind is str:
        shown |= {"max_length": LONGEST_TEXT, "error_messages": {"max_length": TOO_LONG}}
        return forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), **shown)
    if field.name == "answer_columns":
        return AnswerColumnsField(**shown)
    return OptionsField(error_messages={"invalid": NOT_JSON}, **shown)


def _number_field(field: ask.Field, shown: dict[str, Any]) -> forms.Field:
    least, most = field.about.least or 0, field.about.most or 0
    whole = field.kind is int
    shown |= {"required": field.default is not None, "min_value": least, "max_value": most}
    shown["error_messages"] = {
        "required": f"Write a number, such as {field.default}.",
        "invalid": f"Write a {'whole ' if whole else ''}number from {least:,} to {most:,}.",
        "min_value": f"Write {least:,} or more.",
        "max_value": f"Write {most:,} or less.",
    }
    return forms.IntegerField(**shown) if whole else forms.FloatField(**shown)
