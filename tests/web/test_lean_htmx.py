"""What is left out of htmx: nobody uses it, and everything else stays as it is."""

import re
from itertools import chain
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from batchui.bench.surroundings import ROOT
from batchui.web.lean_htmx import lean

# Attributes and words of attributes that the lean htmx does not know.
GONE = r"hx-(on\b|ext\b|vars\b)|hx-(vals|headers)=.js:|hx-trigger=[^>]*(\[|\brevealed\b)"


@pytest.fixture(scope="module")
def whole() -> str:
    """htmx as it is."""
    found = finders.find("django_htmx/htmx-2.js")
    assert isinstance(found, str)
    return Path(found).read_text()


def sources() -> list[str]:
    """Every template, and every module that writes HTML."""
    files = chain((ROOT / "templates").rglob("*.html"), (ROOT / "batchui/web").rglob("*.py"))
    return [file.read_text() for file in files if file.name != "lean_htmx.py"]


def test_no_page_has_an_attribute_that_is_left_out() -> None:
    assert re.search(GONE, '<a hx-get="." hx-trigger="click[ctrlKey]">'), "the pattern finds one"
    assert [re.findall(GONE, source) for source in sources() if re.search(GONE, source)] == []


def test_scripts_call_only_what_is_there(whole: str) -> None:
    scripts = [file.read_text() for file in (ROOT / "static").glob("*.js")]
    called = {name for script in scripts for name in re.findall(r"\bhtmx\??\.(\w+)", script)}
    there = set(re.findall(r"^  htmx\.(\w+) = ", lean(whole), re.MULTILINE))
    assert called == there | {"config"}


def test_what_is_left_names_no_function_that_is_gone(whole: str) -> None:
    functions = r"^  function (\w+)\("
    left = lean(whole)
    gone = set(re.findall(functions, whole, re.M)) - set(re.findall(functions, left, re.M))
    assert {"addHxOnEventHandler", "defineExtension", "saveToHistoryCache"} <= gone
    assert not [name for name in gone if re.search(rf"\b{name}\b", left)]
    assert len(left.splitlines()) > 2_000, "most of it is there"


def test_it_evaluates_nothing(whole: str) -> None:
    evaluates = r"\beval\(|\bFunction\("
    assert re.search(evaluates, whole)
    assert not re.search(evaluates, lean(whole))


@pytest.mark.parametrize(
    "known",
    ["htmx.logAll = ", "logAll: null", "function restoreHistory(", "insertIndicatorStyles()"],
)
def test_a_htmx_that_has_changed_is_refused(whole: str, known: str) -> None:
    assert known in whole
    with pytest.raises(ValueError, match="htmx has changed"):
        lean(whole.replace(known, "anything else"))
