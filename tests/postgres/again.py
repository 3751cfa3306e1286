"""Runs tests once more, on a real PostgreSQL server: an eighth of their files, by turns.

The last digit of the commit decides which: all take as long as all others do on SQLite.
`BATCHUI_ALL_ON_POSTGRES=1 python3 manage.py test` runs them all.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from batchui.up.venv import ROOT
from tests import turns

# This run is on another database already.
not_again = pytest.mark.skipif(
    bool(os.environ.get("BATCHUI_TEST_DATABASE_URL")), reason="this run is on another database"
)

# About files, forms and words: nothing in them depends on which database it is, and they take long.
ONCE = (
    "tests/backup/test_bucket.py",
    "tests/backup/test_restore_messages.py",
    "tests/batches/test_converting.py",
    "tests/batches/test_libreoffice_round_trip.py",
    "tests/batches/test_round_trip.py",
    "tests/batches/test_round_trip_of_formats.py",
    "tests/web/sheet/test_became.py",
    "tests/web/sheet/test_glance.py",
    "tests/web/sheet/test_panel.py",
    "tests/web/sheet/test_strip.py",
    "tests/web/sheet/test_timeline.py",
    "tests/web/test_answer_columns_form.py",
    "tests/web/test_bad_input.py",
    "tests/web/test_batches_of_an_older_version.py",
    "tests/web/test_before_start.py",
    "tests/web/test_body_limits.py",
    "tests/web/test_chosen_downloads.py",
    "tests/web/test_compression.py",
    "tests/web/test_download_command.py",
    "tests/web/test_downloads.py",
    "tests/web/test_draft_sheet.py",
    "tests/web/test_error_pages.py",
    "tests/web/test_exports.py",
    "tests/web/test_first_rows.py",
    "tests/web/test_fragments.py",
    "tests/web/test_hardening.py",
    "tests/web/test_look.py",
    "tests/web/test_names_with_line_breaks.py",
    "tests/web/test_new_batch.py",
    "tests/web/test_price.py",
    "tests/web/test_question_words.py",
    "tests/web/test_ready_items.py",
    "tests/web/test_row_problems.py",
    "tests/web/test_squeezed_templates.py",
    "tests/web/test_starting_points.py",
    "tests/web/test_static_files.py",
    "tests/web/test_status_words.py",
    "tests/web/test_submit_any_file.py",
    "tests/web/test_submit_output.py",
    "tests/web/test_submit_prices.py",
    "tests/web/test_submit_refusals.py",
    "tests/web/test_the_token_is_nowhere.py",
    "tests/web/test_tries_on_the_page.py",
    "tests/web/test_trying.py",
    "tests/web/test_worst_inputs.py",
)

# Fails where the tests run on another database all the same.
IT_IS = "tests/postgres/test_which_database.py"


TURNS = 8


def turn() -> int | None:
    """Whose turn it is, from 0 on; None: everybody's."""
    return turns.turn(TURNS, unless="BATCHUI_ALL_ON_POSTGRES")


def files_of_turn(folders: Iterable[str], whose: int | None) -> Iterator[str]:
    """The files of tests in these folders whose turn it is, without ONCE."""
    for folder in folders:
        for path in sorted(Path(ROOT, folder).rglob("test_*.py")):
            file = str(path.relative_to(ROOT))
            if file not in ONCE and turns.has_turn(file, whose, TURNS):
                yield file


def run_on_postgresql(address: str, *folders: str) -> None:
    """Run the tests of these folders whose turn it is, no stories, and what asks for a database.

    Fails if one of them fails.
    address: of an empty database.
    """
    pytest_again = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    which = ["-m", "not browser and not processes", "-p", "tests.postgres.asking"]
    result = subprocess.run(
        [*pytest_again, *which, IT_IS, *files_of_turn(folders, turn())],
        cwd=ROOT,
        env=os.environ | {"BATCHUI_TEST_DATABASE_URL": address},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"pytest on PostgreSQL said:\n{result.stdout}"
    sys.stdout.write(result.stdout)
