"""The stylesheets and scripts of a page, and its icon, for its head."""

from functools import cache
from pathlib import Path
from urllib.parse import quote

from django import template
from django.conf import settings
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from batchui.web.static_files import addresses

register = template.Library()

# What an address of data may have within double quotes.
_AS_IT_IS = "<>/:=,.' "


@register.simple_tag
def linked(name: str) -> SafeString:
    """The tags that link a stylesheet or a script of `static_files.JOINED`, or its pieces."""
    is_style = name.endswith(".css")
    tag = '<link rel="stylesheet" href="{}">' if is_style else '<script src="{}"></script>'
    return format_html_join("", tag, ((address,) for address in addresses(name)))


@register.simple_tag
def drawn(name: str) -> SafeString:
    """A small drawing of `static/` as an address that holds it: it costs half of a request.

    Raises OSError where there is none.
    """
    return _address_of(name)


@cache
def _address_of(name: str) -> SafeString:
    file = Path(f"{settings.BASE_DIR}/static/{name}")
    drawing = file.read_text().strip().replace('"', "'")
    return mark_safe(f"data:image/svg+xml,{quote(drawing, safe=_AS_IT_IS)}")  # noqa: S308
