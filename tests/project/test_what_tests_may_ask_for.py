"""The fixtures that the whole suite stands on."""

from typing import TYPE_CHECKING

import psycopg
import pytest
from django.conf import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.browser
def test_the_browser_shows_a_page(browser: "Browser") -> None:
    page = browser.new_page()
    page.set_content("<h1>Batches</h1>")
    assert page.get_by_role("heading").inner_text() == "Batches"
    page.close()


def test_postgresql_answers(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        row = connection.execute("SELECT 6 * 7").fetchone()
    assert row == (42,)


def test_tests_never_use_the_data_folder_of_the_product() -> None:
    assert settings.DATA != settings.BASE_DIR / "data"
    assert settings.BASE_DIR not in settings.DATA.parents
