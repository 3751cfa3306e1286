"""Labels on the pages: beside a batch, in the history, and on a page of their own."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from batchui.batches import labels
from batchui.batches.models import Batch, Label
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from tests.teams.people import outsider
from tests.web.test_history import made, names
from tests.web.visiting import HTMX, element, html, roots, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(team: Team) -> Batch:
    return made(team, "Reviews")


@pytest.fixture
def theirs(db: None) -> Batch:
    team = outsider().membership.team
    ensure_connection(team)
    return made(team, "Theirs")


def change(web: Client, batch: Batch, **fields: Any) -> Any:
    return web.post(reverse("batch_labels", args=[batch.pk]), fields, headers=HTMX)


def of(batch: Batch) -> list[str]:
    return [label.name for label in batch.labels.all()]


def test_labels_are_added_and_taken_away_in_place(web: Client, batch: Batch) -> None:
    answer = change(web, batch, add="for <b>Ana</b>")
    assert of(batch) == ["for <b>Ana</b>"]
    assert "for &lt;b&gt;Ana&lt;/b&gt;" in html(answer)
    assert [root["id"] for root in roots(html(answer))] == [f"labels-{batch.pk}"]
    change(web, batch, remove=str(batch.labels.get().pk))
    assert of(batch) == []


def test_several_are_added_with_commas_between_them(web: Client, batch: Batch) -> None:
    assert change(web, batch, add="May, urgent ,, For Ana").status_code == 200
    assert sorted(of(batch)) == ["For Ana", "May", "urgent"]
    refused = change(web, batch, add=f"June, {'x' * 41}, July")
    assert refused.status_code == 422
    assert "June" in of(batch)
    assert f'value="{"x" * 41}, July"' in html(refused)


def test_the_fields_come_and_go(web: Client, batch: Batch) -> None:
    labels.add(batch, "May")
    address = reverse("batch_labels", args=[batch.pk])
    shut = html(web.get(address, headers=HTMX))
    assert "<form" not in shut
    opened = html(web.get(f"{address}?edit", headers=HTMX))
    assert '<option value="May">' in opened
    assert "Take the label “May” away" in opened
    assert web.get(address)["Location"] == batch.get_absolute_url()
    assert web.post(address, {"add": "June"})["Location"] == batch.get_absolute_url()


def test_a_label_that_cannot_be_says_why(web: Client, batch: Batch) -> None:
    answer = change(web, batch, add="x" * 41)
    assert answer.status_code == 422
    assert "Use 40 characters at most." in html(answer)
    assert 'aria-invalid="true"' in element(html(answer), f"label-{batch.pk}")


@pytest.mark.parametrize("remove", ["x", "9" * 40, "-1"])
def test_an_odd_label_is_not_there_to_be_taken_away(web: Client, batch: Batch, remove: str) -> None:
    labels.add(batch, "May")
    assert change(web, batch, remove=remove).status_code == 200
    assert of(batch) == ["May"]


def test_the_history_shows_labels_and_is_filtered_by_one(web: Client, batch: Batch) -> None:
    made(batch.team, "Invoices")
    label = labels.add(batch, "May")
    assert names(web) == ["Invoices", "Reviews"]
    assert names(web, f"?label={label.pk}") == ["Reviews"]
    page = html(web.get(f"{reverse('batches')}?label={label.pk}"))
    assert f'<option value="{label.pk}" selected>' in page
    assert "All batches with “May”" in page


def test_labels_take_one_query_however_many_batches(
    web: Client, batch: Batch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    labels.add(batch, "May")
    made(batch.team, "one")
    with django_assert_num_queries(13) as few:
        names(web)
    for number in range(20):
        labels.add(made(batch.team, f"batch {number}"), f"label {number}")
    with django_assert_num_queries(len(few.captured_queries)):
        names(web)


def test_a_page_renames_joins_and_deletes_them(web: Client, batch: Batch) -> None:
    assert "There are no labels yet." in said(web.get(reverse("labels")))
    may, june = labels.add(batch, "May"), labels.add(batch, "June")
    rename = reverse("rename_label", args=[may.pk])
    assert "“May” is “Spring” now." in html(web.post(rename, {"name": "Spring"}, follow=True))
    assert "Write a word or two." in html(web.post(rename, {"name": " "}, follow=True))
    joined = html(web.post(rename, {"name": "june"}, follow=True))
    assert "“Spring” was joined with “June”." in joined
    assert of(batch) == ["June"]
    web.post(reverse("delete_label", args=[june.pk]))
    assert of(batch) == []
    assert web.get(reverse("delete_label", args=[june.pk]))["Location"] == reverse("labels")


def test_labels_of_another_team_are_out_of_reach(web: Client, batch: Batch, theirs: Batch) -> None:
    label = labels.add(theirs, "Wolpertinger")
    assert change(web, theirs, add="May").status_code == 404
    for name, fields in (("rename_label", {"name": "May"}), ("delete_label", {})):
        assert web.post(reverse(name, args=[label.pk]), fields).status_code == 404
    change(web, batch, remove=str(label.pk))
    assert of(theirs) == ["Wolpertinger"]
    assert Label.objects.get().name == "Wolpertinger"
    for page in (reverse("labels"), reverse("batches"), f"{reverse('batches')}?label={label.pk}"):
        assert "Wolpertinger" not in html(web.get(page))
        assert "Theirs" not in html(web.get(page))
