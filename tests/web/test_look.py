"""What the look promises: readable colours, a look for every status, nothing inline."""

import re
from itertools import product
from pathlib import Path

import pytest
from django.contrib.messages.constants import DEFAULT_TAGS
from django.template.loader import render_to_string

from batchui.batches.states import AnswerStatus, BatchStatus, PartStatus
from batchui.web import status_words
from batchui.web.icons import icon
from batchui.web.marks import bar
from batchui.web.static_files import JOINED

ROOT = Path(__file__).parents[2]
CSS = ROOT / "static" / "css"
SCRIPTS = sorted((ROOT / "static").glob("*.js"))
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


def layers(sheet: str) -> dict[str, str]:
    """The layers of a style sheet: name -> rules."""
    blocks = (CSS / sheet).read_text().split("\n@layer ")
    named = [block.removeprefix("@layer ").split(" {\n", 1) for block in blocks]
    return {name: rules[0] for name, *rules in named if rules}


def tokens(scheme: int) -> dict[str, str]:
    """Colours by name. scheme: 0 light, 1 dark."""
    found = re.findall(
        r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", layers("base.css")["tokens"]
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
    seen = status_words.of_state(status)
    assert seen.icon != "circle-dot"
    shown = render_to_string("_status.html", {"status": status})
    assert f"<span>{seen.word}</span>" in shown
    assert f'data-tone="{seen.tone}"' in shown
    assert '<svg width="16"' in shown
    assert f'data-status="{status or ""}"' in shown


def test_a_status_nobody_told_the_pages_about_is_shown_as_it_is() -> None:
    shown = render_to_string("_status.html", {"status": "not sent"})
    assert "<span>Not sent</span>" in shown
    assert "<svg" in shown


def test_icons_are_hidden_from_screen_readers() -> None:
    assert 'aria-hidden="true"' in icon("check")


def test_a_bar_says_its_figure() -> None:
    shown = bar(97, 1000, "97 of 1,000")
    assert '<progress max="1000" value="97" aria-label="97 of 1,000"></progress>' in shown
    assert '<span class="progress-text">97 of 1,000</span>' in shown


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_in_a_page_is_inline(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|\shx-on|javascript:", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)


# What each style sheet holds, in the order in which browsers get them.
SHEETS = {
    "base.css": ["tokens", "base", "layout"],
    "controls.css": ["components"],
    "tables.css": ["components"],
    "states.css": ["components"],
    "content.css": ["components"],
    "messages.css": ["components"],
    "pages.css": ["pages"],
    **{f"{name}.css": ["components"] for name in ("dropping", "new")},
    **{f"{name}.css": ["components", "pages"] for name in ("asking", "strip", "history", "people")},
    "trying.css": ["pages"],
    **{
        f"{name}.css": ["pages"]
        for name in (
            *("labels", "grid", "panel", "sheet", "answers", "finding", "editing"),
            *("pictures", "comparing", "connecting"),
        )
    },
}


def test_there_is_a_style_sheet_for_each_floor_and_no_rule_outside_its_layers() -> None:
    assert {sheet.name for sheet in CSS.glob("*")} == set(SHEETS)
    for sheet, names in SHEETS.items():
        assert list(layers(sheet)) == names
        lines = (CSS / sheet).read_text().splitlines()
        assert [line for line in lines if not re.match(r"  |}?$|@layer ", line)] == []
    order = ", ".join(dict.fromkeys(name for names in SHEETS.values() for name in names))
    assert (CSS / "base.css").read_text().startswith(f"@layer {order};\n")


def test_no_line_of_a_template_is_longer_than_a_screen() -> None:
    long = {
        f"{template.relative_to(ROOT)}:{number}"
        for template in TEMPLATES
        for number, line in enumerate(template.read_text().splitlines(), 1)
        if len(line) > 120
    }
    assert long == set()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_a_comment_of_a_template_ends_in_its_line(template: Path) -> None:
    """One that goes over lines is a text of the page for Django."""
    lines = template.read_text().splitlines()
    assert not [line for line in lines if line.count("{#") != line.count("#}")]


def test_only_the_tokens_name_colours() -> None:
    for sheet in SHEETS:
        for layer, rules in layers(sheet).items():
            named = re.findall(r"#[0-9a-f]{3,8}\b|\brgb\(|\bhsl\(", rules)
            assert bool(named) == (layer == "tokens"), f"{layer} in {sheet}"


# Classes that no template writes down: htmx sets the first, a message's level is the next ones, and
# columns and cells of the sheet have the last.
SET_BY_OTHERS = {"htmx-request", *DEFAULT_TAGS.values(), "answer", "main", "editing", "waits"}
# What no template writes, because it stands many times on a page.
WRITTEN_BY_CODE = [
    ROOT / "batchui" / "web" / name for name in ("sheet/row_html.py", "history_row.py", "marks.py")
]


def test_every_styled_class_is_on_a_page() -> None:
    selectors = re.findall(r"([^{};]+)\{", "".join((CSS / sheet).read_text() for sheet in SHEETS))
    styled = {name for s in selectors for name in re.findall(r"\.([a-z][\w-]*)", s)}
    values = r'\bclass="((?:[^"{]|\{\{.*?\}\}|\{%.*?%\}|\{\w+\})*)"|block body_class %\}([\w-]+)'
    written = {
        word
        for source in (*TEMPLATES, *WRITTEN_BY_CODE)
        for value in re.findall(values, source.read_text())
        for word in re.findall(r"[\w-]+", " ".join(value))
    }
    for script in SCRIPTS:
        written |= set(re.findall(r"\bclassName(?:: | = )\"([\w-]+)\"", script.read_text()))
    assert styled - written - SET_BY_OTHERS == set()


# What the grid of a draft has and that of a started batch has not, and the other way round.
OF_OTHERS = {"sheet": ("trying/",), "draft": ("sheet/_chips.html", "sheet/_searching.html")}


def classes_of(template: Path, kind: str) -> set[str]:
    """The classes that a page's template writes, with those that it extends and includes."""
    text = template.read_text()
    values = re.findall(r'\bclass="([^"]*)"', re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", text))
    found = {word for value in values for word in value.split()}
    for other in re.findall(r'\{% (?:extends|include) "([\w/]+\.html)"', text):
        if not other.startswith(OF_OTHERS.get(kind, ())):
            found |= classes_of(ROOT / "templates" / other, kind)
    return found


# The kind of pages into which fragments of a folder come, and some of no such folder.
KINDS = {
    **dict.fromkeys(("asking", "trying", "_problem_rows.html", "_found_rows.html"), "draft"),
    **dict.fromkeys(("comparing", "_days.html", "_drafts.html", "_history.html"), "history"),
    **dict.fromkeys(("sheet", "_live.html", "_live_update.html", "_parts.html"), "sheet"),
    **dict.fromkeys(("_part.html", "_parts_row.html", "_labels.html", "_tell.html"), "sheet"),
    **dict.fromkeys(("_steps.html", "_upload.html"), "new"),
    "_search.html": "history",
    "connections": "connecting",
    "people": "people",
}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_links_the_style_of_what_is_on_it(template: Path) -> None:
    linked = re.findall(r'linked "batchui-([\w-]+)\.css"', template.read_text())
    if template.name.startswith("_"):
        kinds = (KINDS.get(template.parent.name), KINDS.get(template.name))
        linked = [kind for kind in kinds if kind][:1]
    kind = linked[0] if linked else ""
    names = ("batchui.css", *(f"batchui-{kind}.css" for kind in linked))
    here = {Path(piece).name for name in names for piece in JOINED[name]}
    styled: dict[str, set[str]] = {}
    for sheet in SHEETS:
        for name in re.findall(
            r"\.([a-z][\w-]*)", re.sub(r"\{[^{}]*\}", "{", (CSS / sheet).read_text())
        ):
            styled.setdefault(name, set()).add(sheet)
    missing = {
        name for name in classes_of(template, kind) if name in styled and not styled[name] & here
    }
    assert missing == set()


# Templates that Django or allauth ask for by name.
ASKED_FOR = re.compile(r"\d{3}(_csrf)?\.html|account/\w+\.html")


def test_every_template_is_used() -> None:
    sources = [*TEMPLATES, *(ROOT / "batchui").rglob("*.py")]
    named = set(re.findall(r'"([\w/]+\.html)"', "".join(source.read_text() for source in sources)))
    names = {str(template.relative_to(ROOT / "templates")) for template in TEMPLATES}
    assert {name for name in names - named if not ASKED_FOR.fullmatch(name)} == set()


def test_the_paths_of_an_icon_are_one_that_draws_the_same() -> None:
    assert icon("log-out").count("<path") == 1
    assert ' d="M16 17l5-5-5-5M21 12H9M9 21H5a2' in icon("log-out"), (
        "of “m16 17 5-5-5-5” and others"
    )
    assert '<circle cx="12" cy="12" r="4"/><path d="M12 2v2M12 20v2M4.93 4.93l1.41' in icon("sun")
