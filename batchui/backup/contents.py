"""What a backup holds of a database, and what it leaves out."""

from pathlib import Path
from typing import Any, cast

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from batchui.backup.problems import BadArchive

_LEFT_OUT = (
    "django_session",
    "django_q_ormq",
    "django_q_task",
    "django_q_schedule",
    "worker_heartbeat",
)
MIGRATIONS = MigrationRecorder.Migration._meta.db_table
# The columns that point to files (`batches/pointers.py`), for a copy that Django does not know. The
# files of deleted batches are about to go, unless somebody may bring the batch back.
POINTERS = (
    "SELECT source_file FROM batches_batch "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND source_file <> ''",
    "SELECT converted_file FROM batches_batch "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND converted_file <> ''",
    "SELECT draft_rows_file FROM batches_batch "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND draft_rows_file <> ''",
    "SELECT problems_file FROM batches_batch "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND problems_file <> ''",
    # Where the pictures are in the upload, that is taken already.
    "SELECT pictures_file FROM batches_batch WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) "
    "AND pictures_file NOT IN ('', source_file)",
    "SELECT pictures_file FROM batches_part WHERE pictures_file <> '' AND batch_id IN "
    "(SELECT id FROM batches_batch WHERE deleted_at IS NULL OR kept_until IS NOT NULL)",
    "SELECT file FROM batches_export JOIN batches_batch ON batches_batch.id = batch_id "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND file <> ''",
    "SELECT rows_file FROM batches_part JOIN batches_batch ON batches_batch.id = batch_id "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL)",
    "SELECT copies_file FROM batches_part JOIN batches_batch ON batches_batch.id = batch_id "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND copies_file <> ''",
    "SELECT answers_file FROM batches_part JOIN batches_batch ON batches_batch.id = batch_id "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND answers_file <> ''",
    "SELECT reply_file FROM batches_attempt JOIN batches_part ON batches_part.id = part_id "
    "JOIN batches_batch ON batches_batch.id = batch_id "
    "WHERE (deleted_at IS NULL OR kept_until IS NOT NULL) AND reply_file <> ''",
)

Migrations = list[tuple[str, str]]


def cache_table() -> str:
    """The table of the cache."""
    return str(cast(Any, settings.CACHES)["default"]["LOCATION"])


def left_out() -> set[str]:
    """The tables of which nothing is in a backup, and nothing comes out of one.

    They are of no use after a restart: counters, tasks that only wake somebody, signs of life. And
    sessions: whoever has the backup could be anybody in it. What a made-up backup had in the cache
    would be run as a program: it is pickled.
    """
    return {*_LEFT_OUT, cache_table()}


def our_tables() -> set[str]:
    """Every table that batchui makes."""
    models = apps.get_models(include_auto_created=True)
    return {*(model._meta.db_table for model in models), MIGRATIONS, cache_table()}


def has_tables() -> bool:
    """Whether there is a database, and batchui's tables are in it. Makes none."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return False
    return bool(our_tables().intersection(connection.introspection.table_names()))


def bring_up_to_date() -> None:
    """Apply the migrations that came after the backup.

    By Django's own command: that of batchui would make keys, too.
    """
    call_command(Migrate(), interactive=False, verbosity=0)


def refuse_newer(migrations: Migrations) -> None:
    """Raise BadArchive if a backup has migrations that this version of batchui does not know."""
    known = set(MigrationLoader(None, ignore_no_migrations=True).graph.nodes)
    if unknown := [migration for migration in migrations if migration not in known]:
        app, name = unknown[0]
        raise BadArchive(
            f"The backup was made by a newer batchui (it has {app} {name}). Restore it with that "
            "version."
        )
