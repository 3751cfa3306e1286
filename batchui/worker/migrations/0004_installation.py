"""Which database this is, and how far it has come: so that a restored one can be told."""

from django.db import migrations, models

from batchui.worker.models import new_database_id


class Migration(migrations.Migration):
    dependencies = [("worker", "0003_problem")]

    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("database_id", models.CharField(default=new_database_id, max_length=32)),
                ("generation", models.PositiveBigIntegerField(default=1)),
                ("restored_from", models.CharField(blank=True, max_length=200)),
                ("restored_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
