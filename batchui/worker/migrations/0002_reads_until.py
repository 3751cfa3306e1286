"""A worker reads one file at a time: its heartbeat says until when it does."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("worker", "0001_heartbeat")]

    operations = [
        migrations.AddField(
            model_name="heartbeat",
            name="reads_until",
            field=models.DateTimeField(null=True),
        )
    ]
