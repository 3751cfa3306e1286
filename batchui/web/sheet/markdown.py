"""Markdown of an answer as HTML that is safe on our page.

A model writes it, so nothing in it is trusted: HTML in it is shown as text, pictures are not
loaded, and a link leads only to a web page or an e-mail address.
"""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

# In characters. Making HTML of a longer text takes too long for a page.
LONGEST = 20_000
LINKED = frozenset(("http", "https", "mailto"))
# What people hardly write by chance: a heading, a list of two entries, bold text, a table, a fence,
# a link, a word as code.
_SIGNS = re.compile(
    r"^\#{1,6} \S"
    r"|^(?:[-*+]|\d{1,3}[.)]) \S.*\n+(?:[ \t]*(?:[-*+]|\d{1,3}[.)]) \S)"
    r"|\*\*[^\s*][^*\n]*\*\*"
    r"|^\|.*\|[ \t]*\n\|[ :|-]*-[ :|-]*\|?[ \t]*$"
    r"|^```"
    r"|\[[^\]\n]+\]\(https?://"
    r"|(?<!`)`[^`\n]+`(?!`)",
    re.MULTILINE,
)


def is_markdown(text: str) -> bool:
    """Whether a text seems to be Markdown, and is short enough to be shown as such."""
    return len(text) <= LONGEST and _SIGNS.search(text) is not None


def as_html(text: str) -> SafeString:
    """Markdown as HTML. Headings are all of one level, so that they fit below those of the page."""
    return SafeString(_markdown.render(text))  # the renderer escapes


class _Maker(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 (the library names it)
        """Whether a link is one; else it stays the text that it is."""
        try:
            return urlsplit(url.strip()).scheme.lower() in LINKED
        except ValueError:
            return False


def _picture(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    return f"[picture: {escape(tokens[index].content)}]"


def _link(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    address = escape(str(tokens[index].attrs.get("href", "")))
    return f'<a href="{address}" rel="noopener noreferrer nofollow" target="_blank">'


def _heading(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    return "<h4>" if tokens[index].nesting == 1 else "</h4>\n"


def _cell(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    # Without the style of an alignment, which the page does not allow.
    return f"<{tokens[index].tag}>"


def _table(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    return '<table tabindex="0">\n'  # a wide one scrolls


def _code(renderer: RendererHTML, tokens: Sequence[Token], index: int, *_: Any) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'


def _maker() -> MarkdownIt:
    made = _Maker("commonmark", {"html": False, "breaks": True})
    made.enable(["table", "strikethrough"])
    for name, rule in (
        *(("image", _picture), ("link_open", _link), ("fence", _code), ("code_block", _code)),
        *(("heading_open", _heading), ("heading_close", _heading)),
        *(("table_open", _table), ("th_open", _cell), ("td_open", _cell)),
    ):
        made.add_render_rule(name, rule)
    return made


_markdown = _maker()
