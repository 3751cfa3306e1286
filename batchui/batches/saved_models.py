"""The questions that a team has saved."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from batchui.batches.asked_models import Asked

LONGEST_QUESTION_NAME = 100


class SavedQuestion(Asked):
    """A question under a name: wording, instruction, model, settings and columns of the answer."""

    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="saved_questions")
    name = models.CharField(max_length=LONGEST_QUESTION_NAME)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # Nobody sees it then; who deleted it may take that back.
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("name", "pk")
        indexes = (models.Index(fields=("team", "name"), name="saved_question_name"),)

    def __str__(self) -> str:
        return self.name
