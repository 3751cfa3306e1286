"""A limit of calls is a call limit; a budget is money."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("teams", "0001_people")]

    operations = [
        migrations.RenameField("connection", "budget_tokens", "calls_left"),
        migrations.RenameField("connection", "budget_at", "calls_counted_at"),
    ]
