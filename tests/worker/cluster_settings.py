"""A Django project with nothing but django-q2, set up as batchui sets it up."""

import os
from pathlib import Path

FOLDER = Path(os.environ["CLUSTER_FOLDER"])
SECRET_KEY = "a secret for a test that is long enough"
INSTALLED_APPS = ["django.contrib.contenttypes", "django_q"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": FOLDER / "cluster.sqlite3",
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
STOPPING_FILE = os.environ.get("BATCHUI_STOPPING_FILE", "")
Q_CLUSTER = {
    "name": "cluster",
    "orm": "default",
    "workers": 2,
    "queue_limit": 2,
    "bulk": 1,
    "timeout": 300,
    "retry": 1200,
    "max_attempts": 1,
    "ack_failures": True,
    "catch_up": False,
    "save_limit": -1,
    "poll": 0.1,
    "log_level": "WARNING",
}
