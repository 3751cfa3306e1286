"""Of a batch whose file is the sheet of another one with its answers: which one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("batches", "0012_exports")]

    operations = [
        migrations.AddField(
            "batch",
            "asked_after",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="asked_further",
                to="batches.batch",
            ),
        ),
    ]
