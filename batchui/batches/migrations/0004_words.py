"""A row that cannot be asked is skipped, a part that may have been sent is left out; a poll fails."""

from typing import Any

from django.db import migrations


def rename_kind(apps: Any, old: str, new: str) -> None:
    apps.get_model("batches", "Event").objects.filter(kind=old).update(kind=new)


class Migration(migrations.Migration):
    dependencies = [("batches", "0003_attempt_without_sha256")]

    operations = [
        migrations.RenameField("batch", "leave_out_invalid", "skip_invalid"),
        migrations.RunPython(
            lambda apps, _: rename_kind(apps, "trouble", "failure"),
            lambda apps, _: rename_kind(apps, "failure", "trouble"),
        ),
    ]
