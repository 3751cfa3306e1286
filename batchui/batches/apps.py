"""The app of batches: their tables, and how their statuses change."""

from django.apps import AppConfig


class BatchesConfig(AppConfig):
    name = "batchui.batches"
    label = "batches"
