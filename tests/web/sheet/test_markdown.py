"""Markdown that a model wrote, on our page."""

import re

import pytest

from batchui.web.sheet import markdown


@pytest.mark.parametrize(
    "text",
    [
        "# A title\nand text",
        "- one\n- two",
        "1. one\n2. two",
        "This is **bold**.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```\ncode\n```",
        "See [this](https://example.com).",
        "Call `main()` first.",
    ],
)
def test_markdown_is_recognised(text: str) -> None:
    assert markdown.is_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        "Liked the river view; breakfast was cold.",
        "- one entry alone",
        "2 * 3 * 4 = 24 and **",
        "#hashtag",
        "snake_case_names and 5 > 3",
        "a | b",
    ],
)
def test_plain_text_is_left_alone(text: str) -> None:
    assert not markdown.is_markdown(text)


def test_a_very_long_text_is_not_made_into_html() -> None:
    text = "**bold** " * 3_000
    assert len(text) > markdown.LONGEST
    assert not markdown.is_markdown(text)
    assert markdown.is_markdown(text[: markdown.LONGEST])


def test_html_in_it_is_text() -> None:
    made = markdown.as_html("**a** <script>alert(1)</script> <img src=x onerror=y>\n\n<div>b</div>")
    assert "<script" not in made
    assert "<img" not in made
    assert "<div" not in made
    assert "&lt;script&gt;" in made


@pytest.mark.parametrize(
    "address",
    [
        *("javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "vbscript:x"),
        *("data:text/html,x", "file:///etc/passwd", "/batches/", "//example.com", "ftp://a.b"),
    ],
)
def test_a_link_to_anything_but_the_web_or_mail_is_text(address: str) -> None:
    assert "<a " not in markdown.as_html(f"[click]({address}) <{address}>")


@pytest.mark.parametrize("address", ["https://a.b/c", "http://a.b", "mailto:a@b.c"])
def test_a_link_opens_apart_and_tells_nothing(address: str) -> None:
    made = markdown.as_html(f"[click]({address} 'title\" onclick=\"x')")
    assert made == (
        f'<p><a href="{address}" rel="noopener noreferrer nofollow" target="_blank">click</a></p>\n'
    )


def test_no_picture_is_loaded() -> None:
    made = markdown.as_html('![a "sign"](https://example.com/pixel.png) ![b][c]\n\n[c]: http://x.y')
    assert "<img" not in made
    assert "example.com" not in made
    assert "[picture: a &quot;sign&quot;]" in made


def test_nothing_in_it_has_a_style_or_a_class() -> None:
    text = '|a|b|\n|:-|-:|\n|1|2|\n\n```js" onclick="x\n<i>\n```\n\n    indented\n\n3. three'
    made = markdown.as_html(text)
    assert set(re.findall(r" ([a-z]+)=", made)) == {"tabindex", "start"}
    assert "<td>1</td>" in made
    assert "&lt;i&gt;" in made


def test_headings_fit_below_those_of_the_page() -> None:
    made = markdown.as_html("# One\n\n### Three\n\nTwo\n---")
    assert re.findall(r"<h\d>", made) == ["<h4>"] * 3
