"""Form fields to choose columns of the file.

A name may have line breaks, as a cell of a workbook may. A browser sends each of them as CRLF,
whatever the page has.
"""

from collections.abc import Iterable
from typing import Any, cast

from django import forms

from batchui.prompts.template import with_line_feeds


class ColumnField(forms.ChoiceField):
    """One column: its name as the file has it."""

    default_error_messages = {
        "invalid_choice": "The file has no column “%(value)s”. Choose another."
    }

    def to_python(self, value: Any) -> Any:
        """The name, or names, of the choices that were sent. A wrong one stays as it is."""
        return self._in_file(super().to_python(value))

    def prepare_value(self, value: Any) -> Any:
        """The same for a form that is shown again, so that the choice stays chosen."""
        return self._in_file(value)

    def _in_file(self, sent: Any) -> Any:
        choices = cast(Iterable[tuple[str, str]], self.choices)
        names = {with_line_feeds(name): name for name, _ in choices}
        if isinstance(sent, list | tuple):
            return [names.get(with_line_feeds(str(one)), one) for one in sent]
        return names.get(with_line_feeds(str(sent)), sent)


class ColumnsField(ColumnField, forms.MultipleChoiceField):
    """Several columns: their names as the file has them."""
