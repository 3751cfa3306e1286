"""The doctor; no models."""

from django.apps import AppConfig


class DoctorConfig(AppConfig):
    name = "batchui.doctor"
    label = "doctor"
