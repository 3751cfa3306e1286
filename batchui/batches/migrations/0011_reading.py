"""How a person wants a file to be read, and the file that was made of an upload to read its rows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0010_rows_in_vain")]

    operations = [
        migrations.AddField("batch", "source_choices", models.JSONField(default=dict)),
        migrations.AddField(
            "batch", "converted_file", models.CharField(blank=True, default="", max_length=255)
        ),
        migrations.AddField("batch", "converted", models.JSONField(default=dict)),
        migrations.AddField("batch", "problem_count", models.PositiveIntegerField(default=0)),
        migrations.AddField(
            "batch", "problems_file", models.CharField(blank=True, default="", max_length=255)
        ),
        migrations.AddField("batch", "above", models.JSONField(default=list)),
    ]
