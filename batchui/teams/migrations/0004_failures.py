"""Sends in a row through a connection that ended unclear or waited for a person."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0003_withdrawn")]

    operations = [
        migrations.AddField(
            "connection",
            "failures_in_a_row",
            models.PositiveIntegerField(default=0, editable=False),
        ),
    ]
