"""Start-up checks: what is wrong with the settings, and what to set.

    batchui.E001  the data folder cannot be written, or a file in it cannot be read
    batchui.E002  a switch or a number that cannot be read, or is out of range
    batchui.E003  a setting that should be a web address and is not
    batchui.E004  an entry of CSRF_TRUSTED_ORIGINS without its scheme
    batchui.E005  a DATABASE_URL that is not understood
    batchui.E006  a SECRET_KEY that is too short
    batchui.E007  an encryption key that is not a Fernet key, or is in the list twice
    batchui.E008  SECRET_KEY is one of the encryption keys
    batchui.E009  one of the two Cloudflare variables without the other
    batchui.E010  no ALLOWED_HOSTS behind a proxy or on a platform
    batchui.E011  DEBUG behind a proxy or on a platform
    batchui.E012  SQLite on a platform that gives each process a disk of its own
    batchui.E013  uploads in a local folder on such a platform
    batchui.E014  generated keys on such a platform
    batchui.E015  the pause before the first poll is longer than the longest pause
    batchui.E016  a bucket without the package for buckets
    batchui.E017  another host keeps its files in another folder (`worker/checks.py`)
    batchui.E018  the files belong to another database (`worker/checks.py`)
    batchui.E019  a model server for the sandbox without the name of a model
    batchui.W001  ALLOWED_HOSTS allows every name
    batchui.W002  a generated key that other users of the machine can read
    batchui.W003  generated keys together with PostgreSQL and a bucket
    batchui.W004  a data folder that other users of the machine can look into
    batchui.W005  an API address without https, on another machine
    batchui.W006  a model server that gets a key without https, on another machine

An app's `ready` imports this module, which registers the checks.
"""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks.files import check_setting_file_upload_temp_dir
from django.core.checks.registry import registry

from batchui.keys import is_fernet

SHORTEST_SECRET = 32
THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
HOW_TO_MAKE_A_FERNET_KEY = (
    "Make one with: python -c 'from cryptography.fernet import Fernet; "
    "print(Fernet.generate_key().decode())'"
)

# `data_folder.make` makes that folder. In a data folder that nobody may look into, Django's check
# ends in a traceback, before E001 is shown.
registry.registered_checks.discard(check_setting_file_upload_temp_dir)


# What the processes without pages check at their start: the other checks import every page.
TAG = "batchui"


@checks.register(TAG)
def settings_are_right(**_: Any) -> list[checks.CheckMessage]:
    """The problems of all settings, each in a sentence."""
    unread = [checks.Error(p.sentence, hint=p.advice, id=p.id) for p in settings.PROBLEMS]
    return [
        *unread,
        *_keys(),
        *_data(),
        *_cloudflare(),
        *_sandbox(),
        *_visitors(),
        *_platform(),
        *_files(),
    ]


def in_sentences(found: Iterable[checks.CheckMessage]) -> list[str]:
    """The errors in `found`, each with what is wrong, what to do, and its id."""
    return [
        " ".join(filter(None, [message.msg, message.hint, f"({message.id})"]))
        for message in found
        if message.is_serious() and not message.is_silenced()
    ]


def _keys() -> Iterator[checks.CheckMessage]:
    keys = settings.ENCRYPTION_KEYS
    if len(settings.SECRET_KEY) < SHORTEST_SECRET:
        yield checks.Error(
            f"SECRET_KEY is shorter than {SHORTEST_SECRET} characters.",
            hint="Set a long random text, or remove it: batchui then makes one in the data folder.",
            id="batchui.E006",
        )
    for number, key in enumerate(keys, 1):
        if not is_fernet(key):
            which = f"key number {number}" if len(keys) > 1 else "key"
            sentence = f"The {which} in BATCHUI_ENCRYPTION_KEYS is not a Fernet key."
            yield checks.Error(sentence, hint=HOW_TO_MAKE_A_FERNET_KEY, id="batchui.E007")
    if len(set(keys)) < len(keys):
        sentence = "BATCHUI_ENCRYPTION_KEYS contains the same key twice."
        yield checks.Error(sentence, hint="Remove one of the two.", id="batchui.E007")
    if settings.SECRET_KEY in keys:
        yield checks.Error(
            "SECRET_KEY is one of the keys in BATCHUI_ENCRYPTION_KEYS.",
            hint="Give them different values: somebody who learns one must not have the other.",
            id="batchui.E008",
        )
    for path in filter(None, (settings.SECRET_KEY_FILE, settings.ENCRYPTION_KEY_FILE)):
        if os.path.exists(path) and path.stat().st_mode & 0o077:
            sentence = f"Other users of this machine can read the key in {path}."
            yield checks.Warning(sentence, hint=f"Run: chmod 600 {path}", id="batchui.W002")


def _data() -> Iterator[checks.CheckMessage]:
    folder = settings.DATA
    if os.path.exists(folder) and folder.stat().st_mode & 0o077:
        yield checks.Warning(
            f"Other users of this machine can look into the data folder {folder}.",
            hint=f"Run: chmod 700 {folder}",
            id="batchui.W004",
        )


def _cloudflare() -> Iterator[checks.CheckMessage]:
    account, token = settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN
    if bool(account) != bool(token):
        present, absent = "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN"
        if token:
            present, absent = absent, present
        yield checks.Error(
            f"{present} is set, but {absent} is not.",
            hint="Set both to use your Cloudflare account, or none to use the sandbox.",
            id="batchui.E009",
        )
    server = urlsplit(settings.CLOUDFLARE_API_URL)
    if token and server.scheme == "http" and server.hostname not in THIS_MACHINE:
        yield checks.Warning(
            f"CLOUDFLARE_API_URL is {settings.CLOUDFLARE_API_URL}: the API token goes to another "
            "machine without encryption.",
            hint="Use an address that begins with https://, or remove it to use Cloudflare's.",
            id="batchui.W005",
        )
    if settings.FIRST_POLL_SECONDS > settings.LONGEST_PAUSE_SECONDS:
        yield checks.Error(
            f"BATCHUI_FIRST_POLL_SECONDS ({settings.FIRST_POLL_SECONDS:g}) is longer than "
            f"BATCHUI_LONGEST_PAUSE_SECONDS ({settings.LONGEST_PAUSE_SECONDS:g}).",
            hint="Set BATCHUI_FIRST_POLL_SECONDS no higher than BATCHUI_LONGEST_PAUSE_SECONDS.",
            id="batchui.E015",
        )


def _sandbox() -> Iterator[checks.CheckMessage]:
    server = urlsplit(settings.SANDBOX_UPSTREAM_URL)
    if server.hostname and not settings.SANDBOX_UPSTREAM_MODEL:
        yield checks.Error(
            "SANDBOX_UPSTREAM_URL is set, but SANDBOX_UPSTREAM_MODEL is not.",
            hint="Set it to the name of a model that this server has.",
            id="batchui.E019",
        )
    is_open = server.scheme == "http" and server.hostname not in THIS_MACHINE
    if is_open and settings.SANDBOX_UPSTREAM_KEY:
        yield checks.Warning(
            f"SANDBOX_UPSTREAM_URL is {settings.SANDBOX_UPSTREAM_URL}: SANDBOX_UPSTREAM_KEY goes "
            "to another machine without encryption.",
            hint="Use an address that begins with https://.",
            id="batchui.W006",
        )


def _visitors() -> Iterator[checks.CheckMessage]:
    where = f"on {settings.PLATFORM}" if settings.PLATFORM else "behind a proxy (SECURE_PROXY)"
    public = bool(settings.PLATFORM or settings.SECURE_PROXY)
    if public and not settings.HOSTS_ARE_GIVEN:
        yield checks.Error(
            f"ALLOWED_HOSTS is not set, and batchui runs {where}: it would refuse every visitor.",
            hint="Set it to the names people use, for example: batches.example.com",
            id="batchui.E010",
        )
    if public and settings.DEBUG:
        yield checks.Error(
            f"DEBUG is on, and batchui runs {where}: visitors would see settings and source code.",
            hint="Set DEBUG to 0, or remove it.",
            id="batchui.E011",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield checks.Warning(
            "ALLOWED_HOSTS allows every name (*): a forged name could end up in the links that "
            "batchui shows.",
            hint="Name the hosts people use, for example: batches.example.com",
            id="batchui.W001",
        )


def _platform() -> Iterator[checks.CheckMessage]:
    """The settings that cannot work if web and worker run on separate hosts."""
    platform = settings.PLATFORM
    own_disks = f"{platform} gives each process a disk of its own, emptied at every start"
    if platform and settings.DATABASE_KIND == "SQLite":
        yield checks.Error(
            f"{own_disks}: the web and worker processes cannot share an SQLite file.",
            hint="Set DATABASE_URL to a PostgreSQL database.",
            id="batchui.E012",
        )
    if platform and not settings.S3_BUCKET:
        yield checks.Error(
            f"{own_disks}: what people upload would be lost, and the worker could not read it.",
            hint="Set BATCHUI_S3_BUCKET, with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
            id="batchui.E013",
        )
    if settings.KEYS_ARE_GIVEN:
        return
    if platform:
        yield checks.Error(
            f"{own_disks}: generated keys would differ between processes, and change.",
            hint=f"Set SECRET_KEY and BATCHUI_ENCRYPTION_KEYS. {HOW_TO_MAKE_A_FERNET_KEY}",
            id="batchui.E014",
        )
    elif settings.S3_BUCKET and settings.DATABASE_KIND == "PostgreSQL":
        yield checks.Warning(
            "SECRET_KEY or BATCHUI_ENCRYPTION_KEYS is not set: a second host would make keys of "
            "its own, and could read neither sessions nor tokens of this one.",
            hint="Set both, the same on every host.",
            id="batchui.W003",
        )


def _files() -> Iterator[checks.CheckMessage]:
    if settings.S3_BUCKET and not (find_spec("storages") and find_spec("boto3")):
        yield checks.Error(
            "BATCHUI_S3_BUCKET is set, but the package for buckets is not installed.",
            hint="Run: pip install --require-hashes -r requirements/s3.txt",
            id="batchui.E016",
        )
