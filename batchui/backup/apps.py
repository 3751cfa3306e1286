"""Backups; no models."""

from django.apps import AppConfig


class BackupConfig(AppConfig):
    name = "batchui.backup"
    label = "backup"
