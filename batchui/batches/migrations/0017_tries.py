"""Tries: the question of a draft asked of a few rows at once, before Start."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('batches', '0016_ended_batches'),
        ('teams', '0004_failures'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Try',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(blank=True, max_length=200)),
                ('template', models.TextField(blank=True)),
                ('instruction', models.TextField(blank=True)),
                ('target_lang', models.CharField(blank=True, max_length=20)),
                ('source_lang', models.CharField(blank=True, max_length=20)),
                ('max_tokens', models.PositiveIntegerField(default=1024)),
                ('temperature', models.FloatField(null=True)),
                ('reference_column', models.TextField(blank=True)),
                ('as_items', models.BooleanField(default=False)),
                ('skip_invalid', models.BooleanField(default=False)),
                ('ask_once', models.BooleanField(default=False)),
                ('resend_once', models.BooleanField(default=False)),
                ('options', models.JSONField(default=dict)),
                ('number', models.PositiveIntegerField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('format_key', models.CharField(max_length=16)),
                ('stopped_at', models.DateTimeField(null=True)),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tries', to='batches.batch')),
                ('connection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='teams.connection')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('batch', 'number'),
            },
        ),
        migrations.CreateModel(
            name='TriedRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('item', models.TextField(blank=True)),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('asking', 'Asking'), ('answered', 'Answered'), ('empty', 'Empty'), ('failed', 'Failed'), ('unclear', 'Unclear'), ('not_asked', 'Not Asked')], default='waiting', max_length=16)),
                ('epoch', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('asked_at', models.DateTimeField(null=True)),
                ('seconds', models.FloatField(null=True)),
                ('answer', models.TextField(blank=True)),
                ('error', models.TextField(blank=True)),
                ('code', models.IntegerField(null=True)),
                ('prompt_tokens', models.PositiveBigIntegerField(default=0)),
                ('completion_tokens', models.PositiveBigIntegerField(default=0)),
                ('in_try', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='batches.try')),
            ],
            options={
                'ordering': ('in_try', 'number'),
            },
        ),
        migrations.AddConstraint(
            model_name='try',
            constraint=models.UniqueConstraint(fields=('batch', 'number'), name='try_number_once'),
        ),
        migrations.AddIndex(
            model_name='triedrow',
            index=models.Index(condition=models.Q(('status__in', ('waiting', 'asking'))), fields=['status'], name='tried_row_under_way'),
        ),
        migrations.AddConstraint(
            model_name='triedrow',
            constraint=models.UniqueConstraint(fields=('in_try', 'number'), name='tried_row_once'),
        ),
    ]
