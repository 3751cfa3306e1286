"""The environment that tests give to the processes they start."""

import os

# Every variable that changes how batchui behaves.
OURS = (
    "ALLOWED_HOSTS",
    "AWS_REGION",
    "BATCHUI_BASE_URL",
    "BATCHUI_CALLS_PER_5_MINUTES",
    "BATCHUI_DATA",
    "BATCHUI_ENCRYPTION_KEYS",
    "BATCHUI_FIRST_POLL_SECONDS",
    "BATCHUI_LONGEST_PAUSE_SECONDS",
    "BATCHUI_LOG_FORMAT",
    "BATCHUI_MAX_ROWS",
    "BATCHUI_MAX_UPLOAD_MB",
    "BATCHUI_S3_BUCKET",
    "BATCHUI_S3_ENDPOINT",
    "BATCHUI_SANDBOX_URL",
    "BATCHUI_STOPPING_FILE",
    "BATCHUI_WORKER_NAME",
    "CLOUDFLARE_ACCOUNT_ID",
    "CLOUDFLARE_API_TOKEN",
    "CLOUDFLARE_API_URL",
    "CSRF_TRUSTED_ORIGINS",
    "DATABASE_URL",
    "DJANGO_ALLOW_ASYNC_UNSAFE",
    "DEBUG",
    "DJANGO_SETTINGS_MODULE",
    "DYNO",
    "K_SERVICE",
    "SECRET_KEY",
    "SECURE_PROXY",
)


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's environment without anything of batchui's or the tests', plus `variables`.

    For processes that tests start: `manage.py` in them uses batchui's real settings.
    """
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    # setproctitle, which comes with mutmut and which django-q uses where it is, would write over
    # the environment by which tests know a process.
    return kept | {"SPT_NOENV": "1"} | variables
