from django.db import migrations, models


def forget(apps, schema_editor):
    """Digests are of an older format, so each is made again when somebody looks."""
    apps.get_model("batches", "Digest").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ("batches", "0041_prices"),
    ]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop),
        migrations.RemoveField(model_name="digest", name="summary"),
        migrations.AddField(
            model_name="digest",
            name="reasons",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="digest",
            name="fields",
            field=models.JSONField(default=list),
        ),
    ]
