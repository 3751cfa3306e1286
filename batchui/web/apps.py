"""The pages; no models."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "batchui.web"
    label = "web"
