"""What a person is asked about an unsure part, and what is looked at again before it is believed."""

from django.db import migrations, models


def from_attempts(apps, schema_editor):
    """Parts whose reply did not fit have an attempt that says so; all others may have been sent."""
    parts = apps.get_model("batches", "Part").objects
    unsure = parts.filter(status="unsure")
    unsure.update(question="unclear")
    last = apps.get_model("batches", "Attempt").objects.filter(part=models.OuterRef("pk"))
    last_status = models.Subquery(last.order_by("-number").values("status")[:1])
    unsure.annotate(last=last_status).filter(last="quarantined").update(question="mismatch")
    parts.filter(odd_seen__gt=0).update(odd_kind="gone")


class Migration(migrations.Migration):
    dependencies = [("batches", "0006_started_by")]

    operations = [
        migrations.RenameField("part", "gone_at", "odd_at"),
        migrations.RenameField("part", "gone_seen", "odd_seen"),
        migrations.AddField("part", "odd_kind", models.CharField(blank=True, max_length=16)),
        migrations.AddField("part", "failing_since", models.DateTimeField(null=True)),
        migrations.AddField(
            "part",
            "question",
            models.CharField(
                blank=True,
                choices=[
                    ("unclear", "Unclear"),
                    ("unreadable", "Unreadable"),
                    ("mismatch", "Mismatch"),
                    ("damaged", "Damaged"),
                    ("restored", "Restored"),
                    ("trouble", "Trouble"),
                    ("stopping", "Stopping"),
                ],
                max_length=16,
            ),
        ),
        migrations.RunPython(from_attempts, migrations.RunPython.noop, elidable=True),
    ]
