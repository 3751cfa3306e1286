"""The pages; no models."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "batchui.web"
    label = "web"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from batchui.web import idle

        user_logged_in.connect(idle.begin, dispatch_uid="idle")
