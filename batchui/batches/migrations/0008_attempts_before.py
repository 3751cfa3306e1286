"""From which attempt on a part's refusals tell which of its rows are refused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0007_questions")]

    operations = [
        migrations.AddField("part", "attempts_before", models.PositiveIntegerField(default=0)),
    ]
