"""How many rows of an answered request were charged and brought no answer."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0009_lines_about_parts")]

    operations = [
        migrations.AddField("attempt", "in_vain", models.PositiveIntegerField(default=0)),
    ]
