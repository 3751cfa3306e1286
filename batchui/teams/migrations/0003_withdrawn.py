"""A link is withdrawn, on the page and in the table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("teams", "0002_words")]

    operations = [migrations.RenameField("invitation", "revoked_at", "withdrawn_at")]
