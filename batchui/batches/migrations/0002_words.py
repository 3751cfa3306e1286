"""The columns get the words of the field: a poll is a poll everywhere; the heartbeat moves out."""

from django.db import migrations, models

RENAMED = {
    "batch": {"last_looked_at": "last_polled_at"},
    "part": {
        "rest_status": "waiting_became",
        "rest_error": "waiting_error",
        "next_look_at": "next_poll_at",
        "last_looked_at": "last_polled_at",
        "looks": "polls",
        "troubles": "failures_in_a_row",
    },
}


class Migration(migrations.Migration):
    dependencies = [("batches", "0001_batches")]

    operations = [
        migrations.RemoveIndex(model_name="part", name="part_to_look_at"),
        *(
            migrations.RenameField(model, old, new)
            for model, names in RENAMED.items()
            for old, new in names.items()
        ),
        migrations.AddIndex(
            model_name="part",
            index=models.Index(fields=["status", "next_poll_at"], name="part_to_poll"),
        ),
        migrations.DeleteModel(name="Heartbeat"),
    ]
