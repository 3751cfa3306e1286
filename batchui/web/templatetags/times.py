"""Times and durations as the pages show them."""

import re
from datetime import UTC, datetime, timedelta

from django import template
from django.utils.dateformat import format as format_date
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_TIME = re.compile(r"(\d{1,2} [A-Z][a-z]+ \d{4}, \d{2}:\d{2}) UTC")


@register.simple_tag
def time(at: datetime, kind: str = "relative") -> SafeString:
    """A `<time>` element. `app.js` updates it, and shows the exact time on hover and focus.

    kind: `relative` (“4 min ago”), `due` (“in 4 min”, and “now” from then on), `elapsed` (“2 min
    05 s” since `at`), or `local` (date and time in the reader's time zone). Before the script runs:
    the time in UTC, or “…” for `elapsed`.
    """
    text = "…" if kind == "elapsed" else f"{format_date(at, 'j M Y, H:i')} UTC"
    return format_html('<time datetime="{}" data-{}>{}</time>', at.isoformat(), kind, text)


@register.filter
def in_local_time(text: str) -> SafeString:
    """A sentence; the times in it, such as “22 November 2026, 10:26 UTC”, as `local` shows them."""
    return mark_safe(_TIME.sub(_local, escape(text)))  # noqa: S308


def _local(found: re.Match[str]) -> str:
    try:
        at = datetime.strptime(found[1], "%d %B %Y, %H:%M").replace(tzinfo=UTC)
    except ValueError:
        return found[0]
    return time(at, "local")


@register.filter
def lasted(duration: timedelta | None) -> str:
    """A duration: “2 min 05 s”; "" for None.

    `elapsed` in `static/app.js` writes durations in the same way: change both.
    """
    if duration is None:
        return ""
    seconds = int(duration.total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    return f"{seconds // 3600} h {seconds // 60 % 60:02} min"
