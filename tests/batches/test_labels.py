"""Labels: words of a team that stand beside batches."""

import pytest
from django.utils import timezone

from batchui.batches import labels
from batchui.batches.label_models import LONGEST_LABEL, Label
from batchui.batches.models import Batch
from batchui.prompts.problems import BadInput
from batchui.teams.models import Team
from tests.batches.conftest import on_record
from tests.teams.people import outsider

pytestmark = pytest.mark.django_db


def names(batch: Batch) -> list[str]:
    return [label.name for label in batch.labels.all()]


def test_a_label_is_made_once_however_it_is_written(team: Team) -> None:
    one, other = on_record(team), on_record(team)
    labels.add(one, "  For  Ana ")
    labels.add(one, "for ana")
    labels.add(other, "FOR ANA")
    assert names(one) == names(other) == ["For Ana"]
    assert Label.objects.count() == 1


def test_teams_have_labels_of_their_own(team: Team) -> None:
    theirs = Label.objects.create(team=outsider().membership.team, name="May", key="may")
    label = labels.add(on_record(team), "May")
    assert label != theirs
    assert list(labels.of_team(team)) == [label]


@pytest.mark.parametrize("name", ["", "  \0 ", "x" * (LONGEST_LABEL + 1)])
def test_a_name_has_some_letters_and_not_too_many(team: Team, name: str) -> None:
    with pytest.raises(BadInput):
        labels.add(on_record(team), name)
    assert not Label.objects.exists()


def test_the_longest_name_fits_also_folded(team: Team) -> None:
    label = labels.add(on_record(team), "ΐ" * LONGEST_LABEL)
    assert Label.objects.get().key == label.key


def test_a_batch_and_a_team_have_only_so_many(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MOST_OF_BATCH", 2)
    monkeypatch.setattr(labels, "MOST_OF_TEAM", 3)
    one, other = on_record(team), on_record(team)
    for name in ("a", "b", "b"):
        labels.add(one, name)
    with pytest.raises(BadInput, match="Take one away first"):
        labels.add(one, "c")
    labels.add(other, "c")
    with pytest.raises(BadInput, match="Delete one"):
        labels.add(other, "d")
    labels.add(other, "a")
    assert names(other) == ["a", "c"]


def test_one_is_taken_away_from_its_batch_alone(team: Team) -> None:
    one, other = on_record(team), on_record(team)
    label = labels.add(one, "May")
    labels.add(other, "May")
    labels.remove(one, label)
    assert (names(one), names(other)) == ([], ["May"])


def test_a_label_gets_another_name_or_joins_the_one_that_has_it(team: Team) -> None:
    one, other = on_record(team), on_record(team)
    may, june = labels.add(one, "May"), labels.add(other, "June")
    labels.add(other, "May")
    assert labels.rename(may, "MAY").pk == may.pk
    assert names(one) == ["MAY"]
    assert labels.rename(may, "june") == june
    assert names(one) == names(other) == ["June"]
    assert Label.objects.count() == 1


def test_the_batches_of_a_deleted_label_stay(team: Team) -> None:
    batch = on_record(team)
    labels.delete(labels.add(batch, "May"))
    batch.refresh_from_db()
    assert names(batch) == []


def test_of_each_label_the_batches_that_are_not_deleted_are_counted(team: Team) -> None:
    one, other = on_record(team), on_record(team)
    labels.add(one, "May")
    labels.add(other, "May")
    assert [label.used for label in labels.of_team(team)] == [2]
    Batch.objects.filter(pk=other.pk).update(deleted_at=timezone.now())
    assert [label.used for label in labels.of_team(team)] == [1]
