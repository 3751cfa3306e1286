"""The line under a long table: position, and links to other pages."""

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
    """The links to the pages before and after `page`; nothing if there is only one page.

    noun: what is counted (“rows”), and the id of the element that `fragment` replaces. fragment:
    the address of that element; without it, the whole page loads. here: the address of the page.
    key: the parameter with the number of the page (`noun` by default). words: the texts of the two
    links. The other parameters of the request are kept.
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
