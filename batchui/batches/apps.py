"""The app that knows batches: what is stored and how it moves."""

from django.apps import AppConfig


class BatchesConfig(AppConfig):
    name = "batchui.batches"
    label = "batches"
