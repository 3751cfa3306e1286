"""What `migrate` does beyond migrations."""

import pytest
from django.core.cache import cache
from django.db import connection

from batchui.worker.apps import complete_database


@pytest.mark.django_db
def test_after_migrate_the_cache_has_its_table_and_nothing_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE cache")
    for _ in range(2):
        complete_database()
        cache.set("key", "kept")
        assert cache.get("key") == "kept"
    assert capsys.readouterr().out == ""
