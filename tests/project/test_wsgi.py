"""The application that a web server imports: it starts, or says in a sentence why not."""

import os
import subprocess
import sys
from pathlib import Path

from batchui.up.venv import ROOT
from tests.surroundings import clean_environment

ASK_HEALTHZ = """
from wsgiref.util import setup_testing_defaults
from batchui.wsgi import application

request = {}
setup_testing_defaults(request)
request["PATH_INFO"] = "/healthz"
answer = application(request, lambda status, headers: print(status))
print(b"".join(answer).decode())
"""
COUNT_WHAT_IS_LEFT_ALONE = """
import gc, sys
import batchui.wsgi

assert "batchui.web.sheet.pages" in sys.modules, "pages are imported later"
print(gc.get_freeze_count())
"""
STAY_UNTIL_GONE = """
import sys, time
from pathlib import Path
import batchui.wsgi

deadline = time.monotonic() + 30
while Path(sys.argv[1]).exists():
    if time.monotonic() > deadline:
        sys.exit("It is still there.")
    time.sleep(0.05)
"""


def serve(
    *arguments: str, program: str = ASK_HEALTHZ, **variables: str
) -> subprocess.CompletedProcess[str]:
    """What comes of a program that imports the application, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        env=clean_environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_web_server_can_import_the_application(tmp_path: Path) -> None:
    result = serve(BATCHUI_DATA=str(tmp_path / "data"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("200 ")


def test_what_a_server_has_at_its_start_is_not_looked_through_for_garbage(tmp_path: Path) -> None:
    result = serve(program=COUNT_WHAT_IS_LEFT_ALONE, BATCHUI_DATA=str(tmp_path / "data"))
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 50_000


def test_a_server_removes_uploads_that_were_cut_off(tmp_path: Path) -> None:
    cut_off = tmp_path / "incoming" / "tmpabc.upload.csv"
    cut_off.parent.mkdir()
    cut_off.write_bytes(b"half a file")
    os.utime(cut_off, (0, 0))
    result = serve(str(cut_off), program=STAY_UNTIL_GONE, BATCHUI_DATA=str(tmp_path))
    assert result.returncode == 0, result.stderr


def test_a_server_started_by_hand_refuses_settings_that_cannot_work(tmp_path: Path) -> None:
    result = serve(BATCHUI_DATA=str(tmp_path / "data"), BATCHUI_CALLS_PER_5_MINUTES="lots")
    assert result.returncode == 1
    assert "batchui cannot start:\n" in result.stderr
    assert "BATCHUI_CALLS_PER_5_MINUTES" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be")
    result = serve(BATCHUI_DATA=str(tmp_path / "taken"))
    assert result.returncode == 1
    assert "batchui cannot start:" in result.stderr
    assert str(tmp_path / "taken") in result.stderr
    assert "Traceback" not in result.stderr
