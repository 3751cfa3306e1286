"""An open page of a batch, which polls as a browser does."""

import re
from html import unescape

from django.test import Client

from tests.web.visiting import HTMX, element, html


class Page:
    """One such page."""

    def __init__(self, web: Client, address: str) -> None:
        self.web = web
        self.markup = html(web.get(address))
        self._live = element(self.markup, "live")
        self._watched = self._of("watched")

    def _of(self, identity: str) -> str:
        found = re.search(rf'<form id="{identity}".*?</form>', self.markup, re.DOTALL)
        return found[0] if found else ""

    @property
    def watched(self) -> dict[str, str]:
        """What the page says of its rows."""
        pairs = re.findall(r'name="(\w+)" value="([^"]*)"', self._watched)
        return {name: unescape(value) for name, value in pairs}

    def poll(self) -> str:
        """The answer to the next poll; "" for none."""
        found = re.search(r'hx-get="([^"]*)"', self._live)
        assert found, "the page does not poll any more"
        response = self.web.get(unescape(found[1]), self.watched | asked(found[1]), headers=HTMX)
        if response.status_code == 204:
            return ""
        answer = html(response)
        self._live = element(answer, "live")
        if 'id="watched"' in answer:
            self.markup = answer
            self._watched = self._of("watched")
        return answer

    def polls(self) -> bool:
        return 'hx-trigger="every' in self._live


def asked(address: str) -> dict[str, str]:
    query = unescape(address).partition("?")[2]
    return dict(pair.split("=", 1) for pair in query.split("&"))
