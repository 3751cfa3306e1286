"""Asking the same question once, and which rows get the answer of another."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0013_asked_after")]

    operations = [
        migrations.AddField("batch", "ask_once", models.BooleanField(default=False)),
        migrations.AddField("batch", "survey", models.JSONField(default=dict)),
        migrations.AddField(
            "batch", "survey_wanted", models.CharField(blank=True, default="", max_length=32)
        ),
        migrations.AddField("batch", "survey_wanted_at", models.DateTimeField(null=True)),
        migrations.AddField("batch", "survey_lease", models.DateTimeField(null=True)),
        migrations.AddField(
            "part", "copies_file", models.CharField(blank=True, default="", max_length=255)
        ),
    ]
