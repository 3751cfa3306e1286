from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0007_worker_kind'),
    ]

    operations = [
        migrations.AlterField(
            model_name='connection',
            name='kind',
            field=models.CharField(choices=[('rest', 'Cloudflare account'), ('worker', 'Cloudflare Worker'), ('local', 'Local model'), ('sandbox', 'Sandbox')], max_length=10),
        ),
    ]
