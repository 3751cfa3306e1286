"""Every setting, read once from the environment.

No other module reads environment variables to decide what to do. Problems with values are collected
in `PROBLEMS`, and start-up checks show them (`checks.py`).
"""

import os
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from batchui.environment import DATABASES as KNOWN_DATABASES
from batchui.environment import Environment
from batchui.keys import Hidden, kept_text, new_fernet_key, new_secret, split_keys
from batchui.logs import FORMATTERS

BASE_DIR = Path(__file__).resolve().parent.parent

_env = Environment(os.environ)
PROBLEMS = _env.problems


def _kept(path: Path) -> str:
    """The text of a file in the data folder; "" if there is no such file."""
    try:
        return kept_text(path)
    except OSError as error:
        # A folder that cannot be entered is a problem already: see `Environment.folder`.
        if os.access(path.parent, os.X_OK):
            advice = "Give the user who runs batchui the right to read and write there."
            _env.problem(1, f"{path} cannot be read: {error.strerror}.", advice=advice)
        return ""


# Everything that must be kept is in this folder.
DATA = _env.folder("BATCHUI_DATA", BASE_DIR / "data")

_PLATFORMS = {"DYNO": "Heroku", "K_SERVICE": "Cloud Run"}
# A host that gives each process a disk of its own, emptied at every start.
PLATFORM = next((who for var, who in _PLATFORMS.items() if _env.text(var)), "")

DEBUG = _env.flag("DEBUG")
# A key that is not in the environment is in a file of the data folder. If there is no file yet,
# this process has a new key, which `data_folder.make` stores.
SECRET_KEY = Hidden(_env.text("SECRET_KEY"))
SECRET_KEY_FILE = None if SECRET_KEY else DATA / "secret-key"
if SECRET_KEY_FILE:
    SECRET_KEY = Hidden(_kept(SECRET_KEY_FILE) or new_secret())
ENCRYPTION_KEYS = split_keys(_env.text("BATCHUI_ENCRYPTION_KEYS"))
ENCRYPTION_KEY_FILE = None if ENCRYPTION_KEYS else DATA / "encryption-key"
if ENCRYPTION_KEY_FILE:
    ENCRYPTION_KEYS = [Hidden(_kept(ENCRYPTION_KEY_FILE) or new_fernet_key())]
KEYS_ARE_GIVEN = not (SECRET_KEY_FILE or ENCRYPTION_KEY_FILE)

HOSTS_ARE_GIVEN = bool(_env.words("ALLOWED_HOSTS"))
ALLOWED_HOSTS = _env.words("ALLOWED_HOSTS") or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = _env.origins("CSRF_TRUSTED_ORIGINS")
SECURE_PROXY = _env.flag("SECURE_PROXY")

# The address of the pages, to be printed in a terminal: as set, or the one that `up` uses now, or
# "" if it is unknown.
ADDRESS_FILE = DATA / "address"
BASE_URL = _env.address("BATCHUI_BASE_URL") or _kept(ADDRESS_FILE)

# Cloudflare
CLOUDFLARE_API_URL = _env.address("CLOUDFLARE_API_URL", "https://api.cloudflare.com/client/v4")
CLOUDFLARE_ACCOUNT_ID = _env.text("CLOUDFLARE_ACCOUNT_ID")
CLOUDFLARE_API_TOKEN = Hidden(_env.text("CLOUDFLARE_API_TOKEN"))
CALLS_PER_5_MINUTES = _env.number("BATCHUI_CALLS_PER_5_MINUTES", 600, low=1, high=1_000_000)
FIRST_POLL_SECONDS = _env.amount("BATCHUI_FIRST_POLL_SECONDS", 2, low=0.05, high=3600)
LONGEST_PAUSE_SECONDS = _env.amount("BATCHUI_LONGEST_PAUSE_SECONDS", 60, low=0.05, high=3600)

# The address of the built-in Batch API, for sandbox connections. `up` stores it in this file, for
# `submit` and for the next start.
SANDBOX_FILE = DATA / "sandbox-address"
SANDBOX_URL = _env.address("BATCHUI_SANDBOX_URL")
SANDBOX_IS_GIVEN = bool(SANDBOX_URL)
SANDBOX_URL = SANDBOX_URL or _kept(SANDBOX_FILE) or "http://127.0.0.1:8787/client/v4"
# The token that it answers to; "": one is made (`teams/connections.py: sandbox_token`).
SANDBOX_TOKEN = Hidden(_env.text("BATCHUI_SANDBOX_TOKEN"))
# The model server that the sandbox asks, for real answers. The sandbox reads these by itself
# (`sandbox/upstream/settings.py`); here they are checked before anything starts.
SANDBOX_UPSTREAM_URL = _env.address("SANDBOX_UPSTREAM_URL")
SANDBOX_UPSTREAM_MODEL = _env.text("SANDBOX_UPSTREAM_MODEL")
SANDBOX_UPSTREAM_KEY = Hidden(_env.text("SANDBOX_UPSTREAM_KEY"))
SANDBOX_UPSTREAM_CONCURRENCY = _env.number("SANDBOX_UPSTREAM_CONCURRENCY", 4, low=1, high=64)
SANDBOX_UPSTREAM_SECONDS = _env.amount("SANDBOX_UPSTREAM_TIMEOUT_SECONDS", 600, low=1, high=86_400)
# Whether the sandbox that `up` starts has its control address, with which tests make faults.
SANDBOX_CONTROL = _env.flag("BATCHUI_SANDBOX_CONTROL")

# An upload is refused if less of the disk would be free after it, and after its answers.
KEEP_FREE_BYTES = 500_000_000
# Largest upload, in bytes, and what a file may have: rows, columns, characters in a cell.
MAX_UPLOAD_BYTES = _env.number("BATCHUI_MAX_UPLOAD_MB", 1024, low=1, high=1_000_000) * 1024 * 1024
MAX_ROWS = _env.number("BATCHUI_MAX_ROWS", 5_000_000, low=1, high=1_000_000_000)
MAX_COLUMNS = _env.number("BATCHUI_MAX_COLUMNS", 2_000, low=1, high=16_384)
MAX_CELL_CHARACTERS = _env.number("BATCHUI_MAX_CELL_CHARACTERS", 10**6, low=1_000, high=8 * 10**6)

# While this file exists, background work is asked to stop (see `worker/watchdog.py`).
STOPPING_FILE = _env.text("BATCHUI_STOPPING_FILE")
# A folder with orders for `manage.py chaos`, which alone sets it (see `chaos/points.py`).
CHAOS_FOLDER = _env.text("BATCHUI_CHAOS")
# The name of the worker that this process is part of; its watchdog chooses it.
WORKER_NAME = _env.text("BATCHUI_WORKER_NAME", "worker:by hand")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "csp",
    "django_htmx",
    "django_q",
    "lucide",
    "batchui.teams",
    "batchui.batches",
    "batchui.worker",
    "batchui.backup",
    "batchui.doctor",
    "batchui.chaos",
    "batchui.web",
]

MIDDLEWARE = [
    "batchui.web.static_files.ShortHeadsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "batchui.web.compression.CompressedPagesMiddleware",
    "csp.middleware.CSPMiddleware",
    "batchui.web.security.ClientAddressMiddleware",
    "batchui.web.at_once.AtOnceMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "batchui.web.idle.IdleMiddleware",
    "batchui.web.body_limits.BodyLimitMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "batchui.web.pressed.PressedMiddleware",
    "batchui.web.errors.DatabaseBusyMiddleware",
]

ROOT_URLCONF = "batchui.urls"
WSGI_APPLICATION = "batchui.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "batchui.web.squeezed_templates.SqueezedLoader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES: dict[str, dict[str, Any]] = {
    "default": _env.database("DATABASE_URL", DATA / "batchui.sqlite3")
}
if DATABASES["default"].get("PASSWORD"):
    DATABASES["default"]["PASSWORD"] = Hidden(DATABASES["default"]["PASSWORD"])
DATABASE_KIND = KNOWN_DATABASES.get(DATABASES["default"]["ENGINE"], "")
# A connection is kept from one request to the next: making one costs more than most pages ask.
DATABASES["default"]["CONN_MAX_AGE"] = 60
if DATABASE_KIND == "SQLite":
    # IMMEDIATE: a transaction takes the lock when it begins, so that two writers wait for each
    # other and neither fails half-way ("database is locked").
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
elif DATABASE_KIND == "PostgreSQL":
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 10)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Uploads and answers (see `batches/files.py`) are in the data folder, or in a bucket. With a
# bucket, web and worker may run on separate hosts. The `storages` package
# (`pip install --require-hashes -r requirements/s3.txt`) reads AWS_ACCESS_KEY_ID and
# AWS_SECRET_ACCESS_KEY itself.
S3_BUCKET = _env.text("BATCHUI_S3_BUCKET")
S3_ENDPOINT = _env.address("BATCHUI_S3_ENDPOINT")
# A folder in the bucket, so that two installations can share one.
S3_PREFIX = _env.text("BATCHUI_S3_PREFIX").strip("/")
STORAGES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "batchui.batches.files.DurableFileSystemStorage",
        "OPTIONS": {"location": DATA / "files"},
    },
    "staticfiles": {"BACKEND": "batchui.web.static_files.JoinedStaticFilesStorage"},
}
if S3_BUCKET:
    STORAGES["default"] = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": S3_BUCKET,
            "location": S3_PREFIX,
            "endpoint_url": S3_ENDPOINT or None,
            "region_name": _env.text("AWS_REGION") or None,
            "default_acl": None,
            "file_overwrite": True,
            "max_memory_size": 8 * 1024 * 1024,
        },
    }
# Hosts, such as images.example.internal or 10.0.0.5:8080, whose pictures are fetched although they
# are not public.
PICTURE_HOSTS = frozenset(_env.words("BATCHUI_PICTURE_HOSTS"))
STATIC_URL = "/static/"
WHITENOISE_ALLOW_ALL_ORIGINS = False
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Uploads above this many bytes go to a temporary file instead of memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# Beside the data, where there is room for them; `worker/this_host.py` removes what a crash leaves.
FILE_UPLOAD_TEMP_DIR = DATA / "incoming"
# The form for a download has a field for each column; no other has nearly as many.
DATA_UPLOAD_MAX_NUMBER_FIELDS = MAX_COLUMNS + 1_000

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

# People
AUTH_USER_MODEL = "teams.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "batches"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "batchui.teams.adapter.AccountAdapter"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {
    # Wrong passwords: from an address, and for an account (see `teams/adapter.py`).
    "login_failed": "10/m/ip,5/5m/key",
    "login_failed_where_known": "5/5m/key",
    # Everything sent to the sign-in page. The colleagues of an office share an address.
    "login": "300/m/ip",
}
# Attempts to sign in are counted here. All web processes share the database.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "cache",
        # By default only 300 entries are kept; counters that still matter would be removed.
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    # django-q2 writes its statistics to a cache twice a second. Nobody reads them.
    "nowhere": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"},
}

# Safety
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
# Names of their own: on "localhost" a browser sends the cookies of every port to every port.
SESSION_COOKIE_NAME = "batchui-session"
CSRF_COOKIE_NAME = "batchui-csrf"
UPLOAD_COOKIE_NAME = "batchui-uploads"
BROWSER_COOKIE_NAME = "batchui-browser"
# Somebody who does nothing for so long has to sign in again (see `web/idle.py`); and everybody
# after so long.
IDLE_SECONDS = 12 * 60 * 60
SESSION_COOKIE_AGE = 14 * 24 * 60 * 60
# Health checks come from inside, without https.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
# The owner of the domain decides whether subdomains and browsers' preload lists may rely on https.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
if SECURE_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 31_536_000
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    # No other host of the domain can set a cookie of this name.
    SESSION_COOKIE_NAME = "__Host-batchui-session"
    CSRF_COOKIE_NAME = "__Host-batchui-csrf"
    UPLOAD_COOKIE_NAME = "__Host-batchui-uploads"
    BROWSER_COOKIE_NAME = "__Host-batchui-browser"
    # Sign-in attempts are counted by the address the proxy reports, not by the proxy's own.
    ALLAUTH_TRUSTED_PROXY_COUNT = 1

# Background work; the reasons for each number are in CONTRIBUTING.md, "Background work".
LONGEST_TASK_SECONDS = 300
Q_CLUSTER = {
    "name": "batchui",
    "cluster_name": WORKER_NAME,
    "scheduler": False,
    "label": "Background work",
    "orm": "default",
    "cache": "nowhere",
    "workers": 2,
    "queue_limit": 2,
    "bulk": 1,
    "timeout": LONGEST_TASK_SECONDS,
    "retry": 1200,
    "max_attempts": 1,
    "ack_failures": True,
    "catch_up": False,
    "save_limit": -1,
    "poll": 0.2,
    "broker_class": "batchui.worker.queue.CalmBroker",
    "log_level": "WARNING",
}

LOG_FORMAT = _env.choice("BATCHUI_LOG_FORMAT", "plain", "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": FORMATTERS[LOG_FORMAT]}},
    "filters": {
        "secrets": {"()": "batchui.logs.LinksBlottedOut"},
        "refusals": {"()": "batchui.logs.RefusalsOnOneLine"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "lines",
            "filters": ["secrets", "refusals"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "batchui": {"level": "INFO"},
        # httpx logs every request's address at INFO, with the account id; httpcore the heads of
        # replies at DEBUG, which may repeat the token.
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        # One line for each request that waits for a thread says nothing that /healthz does not.
        "waitress.queue": {"level": "ERROR"},
        # Programs that search for holes make host names up all day long.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # At WARNING it logs the address of every form with an error: links that let people in.
        "django.request": {"level": "ERROR"},
    },
}
