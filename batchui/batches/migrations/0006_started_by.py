"""Who started a batch, who need not be who uploaded its file. The timeline knows it of old ones."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def from_timeline(apps, schema_editor):
    starts = apps.get_model("batches", "Event").objects.filter(
        batch=OuterRef("pk"), kind="preparing"
    )
    apps.get_model("batches", "Batch").objects.exclude(started_at=None).update(
        started_by=Subquery(starts.order_by("-at", "-id").values("actor")[:1])
    )


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("batches", "0005_readings_begun"),
    ]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="started_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunPython(from_timeline, migrations.RunPython.noop, elidable=True),
    ]
