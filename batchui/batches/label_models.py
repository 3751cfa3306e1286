"""The labels of a team: short words that stand beside batches."""

from django.db import models

# In characters.
LONGEST_LABEL = 40


class Label(models.Model):
    """A label. key: the name as it is compared; capitals do not count."""

    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="labels")
    name = models.CharField(max_length=LONGEST_LABEL)
    # A folded letter may be up to three.
    key = models.CharField(max_length=3 * LONGEST_LABEL)

    objects = models.Manager["Label"]()

    class Meta:
        ordering = ("key",)
        constraints = (models.UniqueConstraint(fields=("team", "key"), name="label_once"),)

    def __str__(self) -> str:
        return self.name
