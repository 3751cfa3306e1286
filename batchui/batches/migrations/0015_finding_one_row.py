"""Finding the part of a row, and what came back in the last minute, without reading every part."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0014_ask_once")]

    operations = [
        migrations.AddIndex(
            "part", models.Index(fields=("batch", "first_row"), name="part_of_row")
        ),
        migrations.AddIndex(
            "attempt", models.Index(fields=("finished_at",), name="attempt_finished")
        ),
    ]
