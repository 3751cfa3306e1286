"""Downloads that are made as a whole, and what was last chosen for one."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('batches', '0011_reading'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("batch", "download_choice", models.JSONField(default=dict)),
        migrations.AddField(
            "batch", "download_kind", models.CharField(blank=True, default="", max_length=32)
        ),
        migrations.AddField("batch", "cells_made_inert", models.PositiveIntegerField(null=True)),
        migrations.CreateModel(
            name='Export',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(null=True)),
                ('batch_version', models.PositiveIntegerField(default=0)),
                ('kind', models.CharField(max_length=32)),
                ('choice', models.JSONField(default=dict)),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('ready', 'Ready'), ('failed', 'Failed')], default='waiting', max_length=32)),
                ('epoch', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('begun', models.PositiveIntegerField(default=0)),
                ('rows_done', models.PositiveIntegerField(default=0)),
                ('rows', models.PositiveIntegerField(default=0)),
                ('file', models.CharField(blank=True, default='', max_length=255)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('notes', models.JSONField(default=list)),
                ('problem', models.TextField(blank=True)),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exports', to='batches.batch')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-created_at',),
                'indexes': [models.Index(fields=['status', 'created_at'], name='export_status')],
            },
        ),
    ]
