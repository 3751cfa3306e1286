"""Which rules a page lacks, as each kind of page has a stylesheet of its own."""

import re
from typing import TYPE_CHECKING

from batchui.bench.surroundings import ROOT
from batchui.web.static_files import JOINED

if TYPE_CHECKING:
    from playwright.sync_api import Page

# As they are: tests in a browser link one file in place of several pieces.
_PIECES = {name: set(pieces) for name, pieces in JOINED.items() if name.endswith(".css")}
_LINKED = "() => [...document.querySelectorAll('link[rel=stylesheet]')].map((one) => one.href)"
# What would be styled now, or while it is pointed to, has the focus, or has a part drawn.
_STYLED = r"""(texts) => {
  const found = [];
  const look = (rule) => {
    [...(rule.cssRules ?? [])].forEach(look);
    const elements = rule.selectorText?.replace(/::[\w-]+|:(hover|focus[\w-]*|checked)/g, "");
    try {
      const fits = elements ? [...document.querySelectorAll(elements)] : [];
      if (fits.some((one) => !one.closest("svg"))) found.push(rule.selectorText); /* no drawing */
    } catch {} /* Only what was left out made it a selector. */
  };
  for (const text of texts) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    [...sheet.cssRules].forEach(look);
  }
  return found;
}"""


def unlinked_rules(page: "Page") -> list[str]:
    """The selectors that fit something on a page, of stylesheets that it does not link."""
    names = (re.search(r"/(batchui[a-z-]*)\.", one) for one in page.evaluate(_LINKED))
    linked = {f"{name[1]}.css" for name in names if name}
    assert "batchui.css" in linked
    others = set().union(*_PIECES.values()) - set().union(*(_PIECES[name] for name in linked))
    texts = [(ROOT / "static" / piece).read_text() for piece in sorted(others)]
    found: list[str] = page.evaluate(_STYLED, texts)
    return found
