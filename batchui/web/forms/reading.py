"""The form for how a file is read: what was found in it, to be corrected."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms

from batchui.batches.models import Batch
from batchui.prompts.reading.code_pages import NAMES
from batchui.prompts.reading.dialects import DELIMITERS, HEAD_ROWS
from batchui.prompts.reading.format import ONE_COLUMN, Choices

# Another row can be chosen, too: at its number in the table of the first rows.
LAST_NAMES_ROW = HEAD_ROWS


class ReadingForm(forms.Form):
    """How the file of a draft is read. It has the fields that make sense for this file."""

    sheet = forms.ChoiceField(label="Sheet", widget=forms.RadioSelect, required=False)
    header_row = forms.TypedChoiceField(
        label="The first line is", widget=forms.RadioSelect, coerce=int, required=False
    )
    delimiter = forms.ChoiceField(label="Between the cells is a", required=False)
    encoding = forms.ChoiceField(label="Read the text as", required=False)
    nested = forms.ChoiceField(label="Objects within objects", required=False)
    # The button at a row of the table.
    names_in = forms.IntegerField(required=False, min_value=1, max_value=LAST_NAMES_ROW)

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        self.batch = batch
        form = self.format = batch.format
        found = {
            "sheet": batch.sheet and batch.sheet["name"],
            "header_row": form.header_row,
            "delimiter": form.delimiter or "none",
            "encoding": form.encoding,
            "nested": form.nested,
        }
        super().__init__(data, initial=found, auto_id="id_reading_%s")
        choices: dict[str, Sequence[tuple[Any, str]]] = {
            "sheet": self._sheets(),
            "header_row": self._header_rows(),
            "delimiter": self._delimiters() if form.kind in ("csv", "txt") else [],
            "encoding": list(NAMES.items()) if batch.is_text else [],
            "nested": [("columns", "are columns"), ("text", "stay JSON text")]
            if form.nested
            else [],
        }
        for name, offered in choices.items():
            if not offered:
                del self.fields[name]
                continue
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101
            field.choices = offered
        if not self.asks_for_names:
            del self.fields["names_in"]

    @property
    def asks_for_names(self) -> bool:
        """Whether the names of the columns can be in another row: a Parquet file says where."""
        return "header_row" in self.fields

    def _sheets(self) -> list[tuple[str, str]]:
        sheets = self.batch.sheets
        return [(sheet["name"], sheet["name"]) for sheet in sheets] if len(sheets) > 1 else []

    def _header_rows(self) -> list[tuple[int, str]]:
        sheet = self.batch.sheet
        if self.format.kind not in ("csv", "table") or (sheet and sheet["header"] is not None):
            return []
        offered = [(1, "column names"), (0, "already a row")]
        row = self.format.header_row
        if row > 1:
            offered.append((row, f"above the column names, which are in row {row:,}"))
        return offered

    def _delimiters(self) -> list[tuple[str, str]]:
        if self.format.kind == "txt":
            offered = [("none", "nothing: each line is a row")]
        else:
            offered = [("none", "nothing: there is one column")]
        signs = [
            (sign, f"{name} ( {sign} )" if sign.isprintable() else name)
            for sign, name in DELIMITERS.items()
        ]
        return signs + offered

    def choices(self) -> Choices:
        """What a person chose, together with what was chosen before. The form must be valid."""
        found, data = self.initial, self.cleaned_data
        if data.get("sheet") not in (None, "", found["sheet"]):
            return Choices(sheet=data["sheet"])  # the names may be in another row there
        changed = {
            name: data[name]
            for name in ("header_row", "delimiter", "encoding", "nested")
            if data.get(name) not in (None, "", found[name])
        }
        if data.get("names_in"):
            changed["header_row"] = data["names_in"]
        if changed.get("delimiter") == "none":
            changed["delimiter"] = ONE_COLUMN
        return replace(self.batch.choices, **changed)
