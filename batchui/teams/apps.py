from django.apps import AppConfig


class TeamsConfig(AppConfig):
    name = "batchui.teams"
    label = "teams"
    verbose_name = "People"
