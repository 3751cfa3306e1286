"""Which parts a line of the timeline is about, if it is about several."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0008_attempts_before")]

    operations = [
        migrations.AddField("event", "part_numbers", models.JSONField(null=True)),
    ]
