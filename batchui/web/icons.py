"""The icons of the pages."""

import re
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from lucide.templatetags.lucide import lucide

# What its authors indent: white space that nobody sees.
_BETWEEN_TAGS = re.compile(r"(?<=>)\s+(?=<)|\s+(?=/>)")
_PATHS = re.compile(r'<path d="[^"]*"/>(?:<path d="[^"]*"/>)+')
_PATH = re.compile(r'd="([^"]*)"')
# Where a path begins: "m" is from the origin there, and from the last point in a longer path.
_BEGINS = re.compile(r"m(-?\d*\.?\d+)[ ,]?(-?\d*\.?\d+)\s*(?=([-.\d])?)")


@lru_cache(maxsize=256)
def icon(name: str, size: int = 16) -> SafeString:
    """A lucide icon. It is hidden from screen readers, because its word is always beside it."""
    drawn = _BETWEEN_TAGS.sub("", lucide(name, size=size, aria_hidden="true"))
    return mark_safe(_PATHS.sub(_as_one, drawn))  # noqa: S308


def _as_one(paths: re.Match[str]) -> str:
    """Paths, which are lines of one look, as one path."""
    return f'<path d="{"".join(_from_the_origin(one) for one in _PATH.findall(paths[0]))}"/>'


def _from_the_origin(path: str) -> str:
    return (
        _BEGINS.sub(lambda m: f"M{m[1]} {m[2]}{'l' if m[3] else ''}", path, count=1)
        if path.startswith("m")
        else path
    )
