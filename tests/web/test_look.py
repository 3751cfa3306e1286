"""What the look promises: readable colours, a look for every status, nothing inline."""

import re
from itertools import product
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from batchui.batches.states import AnswerStatus, BatchStatus, PartStatus
from batchui.web.templatetags.look import icon, status_icon, status_word

ROOT = Path(__file__).parents[2]
CSS = ROOT / "static" / "css"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))

INKS = ["ink", "ink-soft", "accent", "accent-strong", "working", "good", "caution", "bad"]
GROUNDS = ["ground", "surface", "raised", "sunken", "hover"]
PAIRS = [
    *product(INKS, GROUNDS),
    *((ink, f"{ink}-tint") for ink in ("accent", "working", "good", "caution", "bad")),
    *(("ink", f"{tone}-tint") for tone in ("accent", "working", "good", "caution", "bad")),
    ("accent-strong", "accent-tint"),
    ("accent", "working-tint"),
    ("ink-on-accent", "accent"),
    ("ink-on-accent", "accent-strong"),
    ("ink-on-accent", "bad"),
]


def tokens(scheme: int) -> dict[str, str]:
    """Colours by name. scheme: 0 light, 1 dark."""
    found = re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", (CSS / "tokens.css").read_text()
    )
    return {name: colours[scheme] for name, *colours in found}


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_ink_is_readable_on_every_ground(scheme: int) -> None:
    colours = tokens(scheme)
    poor = {
        f"{ink} on {ground}": round(contrast(colours[ink], colours[ground]), 2)
        for ink, ground in PAIRS
        if contrast(colours[ink], colours[ground]) < 4.5
    }
    assert poor == {}


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_the_edge_of_a_field_can_be_seen(scheme: int) -> None:
    colours = tokens(scheme)
    for ground in ("ground", "surface", "raised"):
        assert contrast(colours["line-strong"], colours[ground]) >= 3


STATUSES = [*BatchStatus.values, *PartStatus.values, *AnswerStatus.values, "", None]


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_a_word_and_an_icon(status: str | None) -> None:
    assert status_icon(status) != "circle"
    shown = render_to_string("_status.html", {"status": status})
    assert f"<span>{status_word(status)}</span>" in shown
    assert '<svg width="16"' in shown
    assert f'data-status="{status or ""}"' in shown


def test_a_status_nobody_told_the_pages_about_is_shown_as_it_is() -> None:
    assert status_word("not sent") == "Not sent"
    assert "<svg" in render_to_string("_status.html", {"status": "not sent"})


def test_icons_are_hidden_from_screen_readers() -> None:
    assert 'aria-hidden="true"' in icon("check")


def test_a_bar_says_its_figure() -> None:
    shown = render_to_string("_progress.html", {"value": 97, "max": 1000, "text": "97 of 1,000"})
    assert '<progress max="1000" value="97" aria-label="97 of 1,000">' in shown


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_in_a_page_is_inline(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|\shx-on|javascript:", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)


def test_only_the_tokens_name_colours() -> None:
    for sheet in CSS.glob("*.css"):
        if sheet.name != "tokens.css":
            assert not re.search(r"#[0-9a-f]{3,8}\b|\brgb\(|\bhsl\(", sheet.read_text()), sheet.name


def test_every_sheet_is_in_a_layer_and_on_the_page() -> None:
    base = (ROOT / "templates" / "base.html").read_text()
    for sheet in CSS.glob("*.css"):
        assert f"css/{sheet.name}" in base
        assert sheet.read_text().startswith("@layer ")
