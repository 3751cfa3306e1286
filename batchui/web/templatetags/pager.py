"""The line under a long table: which of how many, and the way to the pages before and after."""

from typing import Any

from django import template
from django.core.paginator import Page
from django.http import HttpRequest

register = template.Library()


@register.inclusion_tag("_pager.html", takes_context=True)
def pager(
    context: template.Context,
    page: Page[Any],
    noun: str,
    *,
    here: str,
    key: str = "",
    fragment: str = "",
    words: str = "Previous,Next",
) -> dict[str, Any]:
    """Links to the pages around `page`; nothing where there is only one.

    `noun` is what is counted (“rows”), and the id of what a `fragment`'s address replaces; without
    one, the whole page is loaded. `here` is the address of the page, `key` the parameter that holds
    the number (`noun` by default). The rest of the request's parameters is kept.
    """
    before, after = words.split(",")
    links = []
    if page.has_previous():
        links.append((before, _query(context["request"], key or noun, page.previous_page_number())))
    if page.has_next():
        links.append((after, _query(context["request"], key or noun, page.next_page_number())))
    return {"page": page, "noun": noun, "here": here, "fragment": fragment, "links": links}


def _query(request: HttpRequest, key: str, number: int) -> str:
    query = request.GET.copy()
    query[key] = str(number)
    return f"?{query.urlencode()}"
