"""Addresses of a sheet, and short ways to its parts."""

from typing import Any

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from batchui.web.sheet import row_html
from batchui.web.sheet.view import SheetView

register = template.Library()
register.filter(row_html.changed_cells)


@register.simple_tag(takes_context=True)
def row_head(context: Context, number: int) -> SafeString:
    """The first cell of a row of the grid, in which it is opened."""
    address = f"{context['rows_url']}{number}/{context['row_query']}"
    return row_html.row_head(number, address=address)


@register.simple_tag
def view_query(view: SheetView, **changes: Any) -> str:
    """The query of a view with these changes."""
    return view.query(**changes)


@register.simple_tag
def query_without(view: SheetView, name: str) -> str:
    """The query of a view without its filter (`show`) or without its words (`q`)."""
    return view.query(**{name: ""})
