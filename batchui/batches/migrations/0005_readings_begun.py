"""Counts how often the reading of a file was begun, so that one that never ends is given up."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0004_words")]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="readings_begun",
            field=models.PositiveIntegerField(default=0),
        )
    ]
