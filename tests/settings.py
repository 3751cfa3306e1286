"""The settings of the test suite: batchui's own, in a data folder that is thrown away.

Nothing of the environment the tests are started in reaches them, save seven switches:
BATCHUI_TEST_DATABASE_URL (run on that database), BATCHUI_TEST_TABLES and BATCHUI_REQUIRE_BROWSER
(see `conftest.py`), BATCHUI_ALL_TURNS (see `turns.py`), BATCHUI_ALL_ON_POSTGRES (see
`postgres/again.py`), BATCHUI_PICTURES (see `stories/conftest.py`), and BATCHUI_WORKERD (see
`worker_binding/workerd.py`).
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from batchui.bench.surroundings import is_ours

_switches = {
    *("BATCHUI_TEST_DATABASE_URL", "BATCHUI_TEST_TABLES"),
    *("BATCHUI_REQUIRE_BROWSER", "BATCHUI_PICTURES", "BATCHUI_ALL_ON_POSTGRES"),
    "BATCHUI_WORKERD",
    "BATCHUI_ALL_TURNS",
}
_database = os.environ.get("BATCHUI_TEST_DATABASE_URL", "")
for _name in filter(is_ours, list(os.environ)):
    if _name not in _switches:
        del os.environ[_name]

# In memory where there is room: thousands of small writes wait for the disk otherwise. A folder
# that is named in TMPDIR wins.
_memory = Path("/dev/shm")
_has_room = _memory.is_dir() and shutil.disk_usage(_memory).free > 4 * 1024**3
if _has_room and "TMPDIR" not in os.environ:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_memory)
_data = tempfile.mkdtemp(prefix="batchui-test-")
_owner = os.getpid()


def _remove_data() -> None:
    # A process that was forked from this one shares the folder, and may end first.
    if os.getpid() == _owner:
        shutil.rmtree(_data, ignore_errors=True)


atexit.register(_remove_data)
os.environ["BATCHUI_DATA"] = _data
os.environ["DATABASE_URL"] = _database

from batchui.settings import *  # noqa: E402, F403
from batchui.settings import (  # noqa: E402
    DATA,
    DATABASE_KIND,
    DATABASES,
    FILE_UPLOAD_TEMP_DIR,
    STATICFILES_DIRS,
    STORAGES,
)

# Nobody listens there, though somebody may run batchui on this machine just now.
SANDBOX_URL = "http://127.0.0.1:2/client/v4"

if DATABASE_KIND == "SQLite":
    # A file, as in real life: in memory, threads would meet other locks than they do there.
    DATABASES["default"]["TEST"] = {"NAME": DATA / "test.sqlite3"}

# Pages show static files by their plain names: nothing needs to be gathered first.
STORAGES = STORAGES | {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
}
STATIC_ROOT = DATA / "static"
STATIC_ROOT.mkdir()
FILE_UPLOAD_TEMP_DIR.mkdir()
WHITENOISE_USE_FINDERS = True
# Where tests in a browser keep the joined stylesheets and scripts (`web/conftest.py`).
JOINED_FILES = DATA / "joined"
JOINED_FILES.mkdir()
STATICFILES_DIRS = [*STATICFILES_DIRS, (JOINED_FILES.name, JOINED_FILES)]
# Each test has a client of its own, and each would look at every static file before its first page.
WHITENOISE_AUTOREFRESH = True
# A fast one: tests make many people, and no secret is kept here.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
