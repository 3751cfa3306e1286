"""Templates lose the white space that is only for their authors, and pages say what they said."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.template import engines
from django.template.backends.django import DjangoTemplates
from django.template.loader import get_template

from batchui.bench.full_team import Sizes, fill
from batchui.bench.page_list import visits
from batchui.bench.page_times import opened, signed_in
from batchui.web.squeezed_templates import squeezed
from tests.batches.conftest import files_in
from tests.web.visiting import html

__all__ = ["files_in"]

TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<p>\n    a\n\n  </p>\n", "<p>\na\n</p>\n", id="indentation and empty lines"),
        pytest.param("a\n{% if b %}\n  c\n{% endif %}\nd", "a\n{% if b %}c\n{% endif %}d", id="if"),
        pytest.param("a\n{# Why. #}\nb", "a\n{# Why. #}b", id="a comment"),
        pytest.param("{{ a }}\n{{ b }}", "{{ a }}\n{{ b }}", id="words between which a line ends"),
        pytest.param("{% url 'a' %}\nb", "{% url 'a' %}\nb", id="a tag that prints a word"),
        pytest.param("a  {% if b %} c{% endif %}", "a  {% if b %} c{% endif %}", id="in a line"),
    ],
)
def test_a_line_break_stays_where_words_would_run_together(text: str, expected: str) -> None:
    assert squeezed(text) == expected


def test_pages_are_made_of_squeezed_templates() -> None:
    template = get_template("base.html").template
    assert template.source == squeezed((settings.BASE_DIR / "templates/base.html").read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_line_breaks_of_its_own_where_they_show(path: Path) -> None:
    shown = re.findall(r"<(pre|textarea)\b(?:[^<>]|<[^/])*>([^<]*)</\1>", path.read_text())
    assert all("\n" not in text for _, text in shown)


_BLOCKS = r"(?:p|td|th|li|dd|div|ul|h)\b"


class _Said(HTMLParser):
    """What a page says: its words and tags. White space of any length is one space.

    Figures are left out: some are of the clock.
    """

    def __init__(self, content: str) -> None:
        super().__init__()
        self.said = ""
        self.feed(content)
        said = re.sub(r"[\s\d]+", " ", self.said)
        # At the ends of a block it does not show.
        self.said = re.sub(rf"(^|<{_BLOCKS}[^>]*>) | (?=</?{_BLOCKS}|$)", r"\1", said)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = (f"{name}={value}" for name, value in attrs if not _MASKED.search(value or ""))
        self.said += f"<{tag} {' '.join(has)}>"

    def handle_endtag(self, tag: str) -> None:
        self.said += f"</{tag}>"

    def handle_data(self, data: str) -> None:
        self.said += data


# The CSRF token, which is another one in each page.
_MASKED = re.compile(r"\b\w{64}\b")


@pytest.mark.django_db
def test_pages_say_what_they_said(monkeypatch: pytest.MonkeyPatch) -> None:
    team = fill(Sizes(rows=120, parts=4, batches=12))
    browser = signed_in(team)
    # Not what says how fast a batch is.
    pages = [page for page in visits(team) if not page.name.startswith(("running", "its"))]
    squeezed_pages = {page.name: html(opened(browser, page, "identity")) for page in pages}
    engine = engines["django"]
    assert isinstance(engine, DjangoTemplates)
    monkeypatch.setattr("batchui.web.squeezed_templates.squeezed", lambda text: text)
    engine.engine.template_loaders[0].reset()
    try:
        for page in pages:
            before, now = html(opened(browser, page, "identity")), squeezed_pages[page.name]
            assert _Said(now).said == _Said(before).said, page.name
            assert len(now) < len(before)
    finally:
        engine.engine.template_loaders[0].reset()
