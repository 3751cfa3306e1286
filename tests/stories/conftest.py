"""What stories share: a running product, people in browsers, files to ask about."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import chromium, launched
from tests.stories.product import QUICK, Product, running_product
from tests.stories.visitors import Visitor, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator["Browser"]:
    """The whole of Chromium, as people have it; the tests of pages take its shell."""
    path = chromium()
    with launched(request.getfixturevalue("playwright"), path) as browser:
        yield browser


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """Everything that `manage.py up` starts, fresh for each file of stories."""
    with running_product(tmp_path_factory.mktemp("product") / "data", **QUICK) as product:
        yield product


@pytest.fixture(autouse=True)
def what_up_said(request: pytest.FixtureRequest) -> Iterator[None]:
    """What `up` printed during a test is there to read when the test fails."""
    yield
    if "product" in request.fixturenames:
        product: Product = request.getfixturevalue("product")
        sys.stdout.write("\n".join(product.lines.lines))


@pytest.fixture(scope="module")
def ana(browser: "Browser", product: Product) -> Iterator[Visitor]:
    """The first administrator, who has used the printed link."""
    with visiting(browser, product.address) as ana:
        ana.come_in(product.first_page, name="Ana Lima", email="ana@example.com", team="Care")
        yield ana


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty reviews in three columns: three parts."""
    lines = [
        f'{number},"Room {number}, {"lovely" if number % 3 else "noisy"}","two\nlines"\r\n'
        for number in range(1, 61)
    ]
    file = tmp_path_factory.mktemp("files") / "reviews.csv"
    file.write_text("id,review,note\r\n" + "".join(lines), newline="")
    return file


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for pictures of pages, kept for a look after the tests: pytest's own, or the one
    that BATCHUI_PICTURES names."""
    if named := os.environ.get("BATCHUI_PICTURES"):
        Path(named).mkdir(parents=True, exist_ok=True)
        return Path(named)
    return tmp_path_factory.mktemp("pictures")
