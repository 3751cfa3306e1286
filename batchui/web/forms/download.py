"""The form for a download: its kind, its rows, its columns."""

from typing import Any

from django import forms

from batchui.batches.exporting import ALL, Choice, Kind
from batchui.batches.models import Batch
from batchui.batches.whole_files import kinds_for
from batchui.exports.names import ANSWER
from batchui.web.forms.ask_fields import TOO_LONG
from batchui.web.forms.column_fields import ColumnsField

LONGEST_ANSWER_NAME = 100
ROWS = {
    "all": "All rows",
    "answered": "Only answered rows",
    "attention": "Only rows that need attention",
}

WHOLE = {
    "unfit": "If an answer does not fit its columns",
    "always": "Always",
    "never": "Never",
}


class DownloadForm(forms.Form):
    """What to download of a batch. It opens with what was chosen last."""

    kind = forms.ChoiceField(label="Kind of file", widget=forms.RadioSelect)
    only = forms.ChoiceField(
        label="Rows", choices=list(ROWS.items()), widget=forms.RadioSelect, required=False
    )
    columns = ColumnsField(
        label="Columns of your file",
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="If none is chosen, all go out.",
    )
    whole = forms.ChoiceField(
        label="A column with the whole answer, as the model sent it",
        choices=list(WHOLE.items()),
        widget=forms.RadioSelect,
        required=False,
        help_text="An answer that does not fit its columns is only there.",
    )
    answer = forms.CharField(
        label="Name of the answer column",
        max_length=LONGEST_ANSWER_NAME,
        required=False,
        error_messages={"max_length": TOO_LONG},
    )
    packed = forms.BooleanField(
        label="Packed as a ZIP",
        help_text="For CSV, JSON and JSONL: a quarter of the size or less. Other kinds are packed "
        "already.",
        required=False,
    )

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        self.batch = batch
        self.kinds = kinds_for(batch)
        chosen = Choice.from_dict(batch.download_choice) if batch.download_choice else ALL
        kind = batch.download_kind if batch.download_kind in self.kinds else next(iter(self.kinds))
        initial = {
            "kind": kind,
            "only": chosen.only,
            "columns": batch.columns if chosen.columns is None else chosen.columns,
            "answer": chosen.answer,
            "whole": chosen.whole,
        }
        super().__init__(data, initial=initial, auto_id="id_download_%s")
        self._offer("kind", [(word, _label(kind)) for word, kind in self.kinds.items()])
        if not batch.ask.answer_columns:
            del self.fields["whole"]
        self._offer("columns", [(column, column) for column in batch.columns])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101
        field.choices = choices

    @property
    def choice(self) -> Choice:
        """What goes out. The form must be valid. No column chosen: all of them."""
        data = self.cleaned_data
        columns = tuple(data["columns"])
        every = not columns or set(columns) == set(self.batch.columns)
        return Choice(
            only=data["only"] or "all",
            columns=None if every else columns,
            answer=data["answer"].strip() or ANSWER,
            whole=data.get("whole") or ALL.whole,
        )


def _label(kind: Kind) -> str:
    return f"{kind.label} ({kind.meant_for})" if kind.meant_for else kind.label
