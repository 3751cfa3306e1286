"""Why the last tick of a worker failed: a worker that is alive may get nothing done."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("worker", "0002_reads_until")]

    operations = [
        migrations.AddField("heartbeat", "problem", models.CharField(blank=True, max_length=300)),
    ]
