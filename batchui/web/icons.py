"""The icons of the pages."""

import re
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from lucide.templatetags.lucide import lucide

# What its authors indent: white space that nobody sees.
_BETWEEN_TAGS = re.compile(r"(?<=>)\s+(?=<)|\s+(?=/>)")


@lru_cache(maxsize=256)
def icon(name: str, size: int = 16) -> SafeString:
    """A lucide icon. It is hidden from screen readers, because its word is always beside it."""
    drawn = lucide(name, size=size, aria_hidden="true")
    return mark_safe(_BETWEEN_TAGS.sub("", drawn))  # noqa: S308
