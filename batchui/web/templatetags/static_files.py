"""The stylesheets and scripts of a page, for its head."""

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from batchui.web.static_files import addresses

register = template.Library()


@register.simple_tag
def linked(name: str) -> SafeString:
    """The tags that link a stylesheet or a script of `static_files.JOINED`, or its pieces."""
    is_style = name.endswith(".css")
    tag = '<link rel="stylesheet" href="{}">' if is_style else '<script src="{}"></script>'
    return format_html_join("", tag, ((address,) for address in addresses(name)))
