"""The SHA-256 of a request goes: nothing ever compared it, and nobody has the body to do so."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("batches", "0002_words")]

    operations = [migrations.RemoveField(model_name="attempt", name="payload_sha256")]
