"""The Batches page: what a team sees of its history."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from batchui.batches import decisions, preparing
from batchui.batches.models import Batch
from batchui.batches.money import amount, usd_of
from batchui.batches.states import BatchStatus
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team, User
from batchui.web import history_filters
from tests.batches.conftest import MODEL, MakeBatch, rows
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, drafted, element, html, press_start, said, signed_in

pytestmark = pytest.mark.django_db


USUAL: dict[str, Any] = {
    "source_size": 1,
    "source_format": {"kind": "txt", "encoding": "utf-8", "delimiter": None, "columns": ["a"]},
    "rows": 10,
    "part_count": 1,
}


def made(
    team: Team, name: str, status: BatchStatus = BatchStatus.FINISHED, **more: object
) -> Batch:
    """A batch as the history reads it."""
    return Batch.objects.create(
        team=team,
        connection=team.connections.get(),
        name=name,
        status=status,
        **USUAL | {"source_name": f"{name}.csv"} | more,
    )


def names(web: Client, query: str = "", **extra: object) -> list[str]:
    """The names on the page, from top to bottom."""
    page = html(web.get(f"{reverse('batches')}{query}", **extra))
    return re.findall(r'class="stretched"[^>]*>([^<]*)<', page)


def test_a_first_page_says_what_to_do_and_offers_a_sample(web: Client) -> None:
    page = web.get(reverse("batches"))
    assert "Ask one question of every row of a spreadsheet" in said(page)
    assert f'href="{reverse("new")}"' in html(page)
    assert reverse("new_from_sample") in html(page)
    assert 'type="search"' not in html(page)


def test_the_newest_is_first_and_what_is_active_is_on_top(web: Client, team: Team) -> None:
    made(team, "old and running", BatchStatus.RUNNING)
    made(team, "middle")
    made(team, "newest")
    assert names(web) == ["old and running", "newest", "middle"]


def test_a_line_says_name_status_progress_model_and_who(web: Client, start: MakeBatch) -> None:
    batch = start(rows(60))
    line = said(web.get(reverse("batches")))
    assert batch.name in line
    assert "Queued" in line
    assert "0 of 60 answered" in line
    assert "Llama 4 Scout" in line


def test_search_and_filters_are_in_the_address(web: Client, ana: User, team: Team) -> None:
    ben = join(ana)
    made(team, "Reviews of May", created_by=ana)
    made(team, "Reviews of June", BatchStatus.STOPPED, created_by=ben)
    made(team, "Invoices", created_by=ben)
    assert names(web, "?q=reviews") == ["Reviews of June", "Reviews of May"]
    assert names(web, "?status=stopped") == ["Reviews of June"]
    assert names(web, f"?person={ben.pk}") == ["Invoices", "Reviews of June"]
    assert names(web, f"?q=rev&person={ana.pk}&status=finished") == ["Reviews of May"]
    page = html(web.get(f"{reverse('batches')}?q=rev&status=finished"))
    assert 'value="rev"' in page
    assert '<option value="finished" selected>' in page


def test_a_line_says_the_question_and_what_it_has_cost(web: Client, team: Team) -> None:
    tokens = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000}
    batch = made(team, "Reviews", template="Judge {{a}} <b>" + "x" * 900, model=MODEL, **tokens)
    page = html(web.get(reverse("batches")))
    assert "Judge {{a}} &lt;b&gt;" in page
    assert "x" * 240 not in page
    assert ">free<" in page
    ours = Connection.objects.create(team=team, kind="rest", name="Ours", account_id="a")
    Batch.objects.filter(pk=batch.pk).update(connection=ours)
    assert amount(usd_of(MODEL, read=1_000_000, written=1_000_000) or 0) in html(
        web.get(reverse("batches"))
    )
    Batch.objects.filter(pk=batch.pk).update(model="@cf/nobody/knows")
    assert "$" not in said(web.get(reverse("batches")))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        *(("judge the", ["Reviews"]), ("THE judge", ["Reviews"]), ("may-2026", ["Reviews"])),
        *(("ÜBER", ["Größe"]), ("größe", ["Größe"]), ("GRÖSSE", ["Größe"]), ("отзывы", ["Größe"])),
        *(("reviews judge nonsense", []), ("%", []), ("_", []), ("  ", ["Größe", "Reviews"])),
    ],
)
def test_questions_and_file_names_are_searched_in_any_alphabet(
    web: Client, team: Team, words: str, found: list[str]
) -> None:
    made(team, "Reviews", template="Judge the tone", source_name="May-2026.csv")
    made(team, "Größe", template="Über die Größe. Отзывы")
    assert names(web, "?" + urlencode({"q": words})) == found


def test_a_batch_is_found_by_its_new_words_and_no_longer_by_its_old_ones(
    web: Client, team: Team
) -> None:
    batch = made(team, "Reviews")
    decisions.rename(batch, "Letters")
    assert names(web, "?q=letters") == ["Letters"]
    assert names(web, "?q=reviews.csv letters".replace(" ", "+")) == ["Letters"]
    batch.refresh_from_db()
    batch.template = "Which language?"
    batch.save(update_fields=["template"])
    assert names(web, "?q=language") == ["Letters"]
    Batch.objects.filter(pk=batch.pk).update(template="Whose?", source_name="b.csv")
    assert names(web, "?q=language") == []
    assert names(web, "?q=whose") == ["Letters"]


def test_of_many_batches_with_the_words_the_newest_are_looked_at(
    web: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        made(team, f"Reviews {number}")
    assert "Only the newest" not in said(web.get(f"{reverse('batches')}?q=rev"))
    monkeypatch.setattr(history_filters, "MOST_FOUND", 2)
    assert names(web, "?q=rev") == ["Reviews 2", "Reviews 1"]
    assert "Only the newest" in said(web.get(f"{reverse('batches')}?q=rev"))


def test_a_search_finds_nothing_of_another_team(web: Client, team: Team) -> None:
    theirs = outsider().membership.team
    ensure_connection(theirs)
    made(theirs, "Reviews")
    assert names(web, "?q=reviews") == []


def test_who_started_a_batch_shows_once_it_is_started_and_who_uploaded_it_before(
    web: Client, ana: User, receive: MakeBatch
) -> None:
    ben = join(ana)
    Batch.objects.filter(pk=receive(rows(30)).pk).update(created_by=ben)
    batch = Batch.objects.get()
    assert f"{ben.name} " in said(web.get(reverse("batches"))).split("Who")[1]
    assert names(web, f"?person={ben.pk}") == ["texts"]
    press_start(signed_in(ben), batch)
    Batch.objects.update(started_by=ana)
    preparing.prepare(batch.pk)
    assert f"{ana.name} " in said(web.get(reverse("batches"))).split("Who")[1]
    assert names(web, f"?person={ben.pk}") == []
    assert names(web, f"?person={ana.pk}") == ["texts"]
    page = said(web.get(reverse("asked", args=[batch.pk])))
    assert f"Uploaded by {ben.name} Started by {ana.name}" in page


def test_nothing_found_says_so_and_leads_back(web: Client, team: Team) -> None:
    made(team, "Invoices")
    page = web.get(f"{reverse('batches')}?q=reviews")
    assert "No batch fits this search" in said(page)
    assert "Show all batches" in said(page)


@pytest.mark.parametrize(
    "query",
    [
        *("?person=x", "?person=" + "9" * 40, "?status=nonsense", "?page=-1", "?page=x", "?q=%00"),
        pytest.param("?q=" + "x" * 60_000, id="more letters than SQLite compares"),
    ],
)
def test_an_odd_address_shows_what_it_can(web: Client, team: Team, query: str) -> None:
    made(team, "Invoices")
    assert web.get(f"{reverse('batches')}{query}").status_code == 200


def test_a_typed_search_is_answered_with_the_list_alone(web: Client, team: Team) -> None:
    made(team, "Invoices")
    fragment = html(web.get(f"{reverse('batches')}?q=inv", headers=HTMX))
    assert fragment.lstrip().startswith('<div id="history"')
    whole = html(web.get(reverse("batches"), headers=HTMX | {"HX-History-Restore-Request": "true"}))
    assert "<!doctype html>" in whole


def test_pages_of_the_history_keep_the_search(web: Client, team: Team) -> None:
    for number in range(30):
        made(team, f"batch {number}")
    page = web.get(f"{reverse('batches')}?q=batch")
    assert "1–25 of 30 batches" in said(page)
    assert 'href="/?q=batch&amp;page=2"' in element(html(page), "batches-older")
    assert len(names(web, "?q=batch&page=2")) == 5


def test_ten_batches_take_as_many_queries_as_twenty(
    web: Client, ana: User, team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(10):
        made(team, f"one {number}", BatchStatus.RUNNING, created_by=ana)
    with django_assert_num_queries(13) as few:
        names(web)
    for number in range(10):
        made(team, f"two {number}", BatchStatus.RUNNING, created_by=ana)
    with django_assert_num_queries(len(few.captured_queries)):
        assert len(names(web)) == 20


# -- what changes while somebody looks ----------------------------------------------------------


NOBODYS = "00000000-0000-4000-8000-000000000000"


def poll(web: Client, *seen: Batch) -> Any:
    """What the Batches page asks while it shows these batches, as they are in memory."""
    shown = [f"{batch.pk}.{batch.version}" for batch in seen]
    return web.get(reverse("history"), {"seen": shown}, headers=HTMX)


def test_a_page_full_of_active_batches_polls_once(web: Client, team: Team) -> None:
    active = [made(team, f"batch {number}", BatchStatus.RUNNING) for number in range(25)]
    page = html(web.get(reverse("batches")))
    assert page.count('hx-trigger="every') == 1
    assert all(f"seen={batch.pk}.{batch.version}" in page for batch in active)


def test_an_ended_batch_is_not_asked_for(web: Client, team: Team) -> None:
    ended, active = made(team, "ended"), made(team, "active", BatchStatus.RUNNING)
    asked = element(html(web.get(reverse("batches"))), "history-poll")
    assert str(active.pk) in asked
    assert str(ended.pk) not in asked


def test_only_the_rows_that_changed_are_sent(web: Client, team: Team) -> None:
    same, changes = (made(team, name, BatchStatus.RUNNING) for name in ("same", "changes"))
    assert poll(web, same, changes).status_code == 204
    Batch.objects.filter(pk=changes.pk).update(version=2, answered=7)
    answer = html(poll(web, same, changes))
    assert re.findall(r'<tr\s+id="batch-([^"]*)"[^>]*hx-swap-oob="true"', answer) == [
        str(changes.pk)
    ]
    assert "7 of 10 answered" in answer
    again = element(answer, "history-poll")
    assert f"seen={same.pk}.1" in again
    assert f"seen={changes.pk}.2" in again


def test_polling_ends_when_nothing_on_the_page_is_active(web: Client, team: Team) -> None:
    batch = made(team, "batch", BatchStatus.RUNNING)
    Batch.objects.filter(pk=batch.pk).update(version=2, status=BatchStatus.FINISHED)
    answer = html(poll(web, batch))
    assert "Finished" in answer
    assert "hx-get" not in element(answer, "history-poll")


def test_a_row_that_a_colleague_deleted_goes(web: Client, team: Team) -> None:
    batch = made(team, "batch", BatchStatus.CHECKING)
    Batch.objects.filter(pk=batch.pk).update(deleted_at=timezone.now())
    assert f'<tr id="batch-{batch.pk}" hx-swap-oob="delete">' in html(poll(web, batch))


def test_another_teams_batch_is_gone_for_whoever_asks_for_its_row(web: Client, team: Team) -> None:
    theirs = drafted(signed_in(outsider()), rows(3), "theirs.csv")
    theirs.version = 0
    assert "theirs" not in html(poll(web, theirs))


@pytest.mark.parametrize("seen", ["", "x", "x.1", NOBODYS, f"{NOBODYS}.x", "\0.1"])
def test_an_odd_question_is_answered_with_nothing(web: Client, seen: str) -> None:
    assert web.get(reverse("history"), {"seen": seen}, headers=HTMX).status_code == 204


def test_a_poll_costs_as_much_for_one_batch_as_for_twenty(
    web: Client, ana: User, team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    active = [
        made(team, f"batch {number}", BatchStatus.RUNNING, created_by=ana) for number in range(20)
    ]
    poll(web, active[0])  # the whole way, after which a watcher is known
    Batch.objects.update(version=2)
    with django_assert_num_queries(7) as few:
        poll(web, active[0])
    with django_assert_num_queries(len(few.captured_queries)):
        poll(web, *active)


# -- whose it is --------------------------------------------------------------------------------


def test_another_teams_batches_are_never_seen(web: Client, team: Team) -> None:
    made(team, "ours")
    zoe = outsider()
    theirs = signed_in(zoe)
    drafted(theirs, rows(3), "theirs.csv")
    assert names(web) == ["ours"]
    assert names(theirs) == ["theirs"]
    assert names(web, f"?person={zoe.pk}") == []
    assert "Zoe" not in html(web.get(reverse("batches")))


def test_a_deleted_batch_is_gone_from_the_history(web: Client, team: Team) -> None:
    batch = made(team, "Invoices")
    made(team, "Reviews")
    web.post(reverse("delete", args=[batch.pk]))
    assert names(web) == ["Reviews"]


def test_nobody_who_is_not_signed_in_sees_anything(team: Team) -> None:
    batch = made(team, "Invoices")
    for address in (reverse("batches"), batch.get_absolute_url(), reverse("new")):
        assert Client().get(address)["Location"].startswith(reverse("account_login"))


def test_the_history_reads_nothing_large_and_no_batch_twice(web: Client, team: Team) -> None:
    def queries() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            web.get(reverse("batches"))
        return [query["sql"] for query in captured]

    made(team, "one", BatchStatus.RUNNING, started_at=timezone.now())
    made(team, "two", BatchStatus.DRAFT)
    made(team, "three")
    few = queries()
    for status in BatchStatus:
        made(team, status.value, status)
    many = queries()
    assert len(many) == len(few)
    for column in ("source_format", "sample", "blanks", "problem_rows", "template", "options"):
        whole = re.compile(rf'(?<!SUBSTR\()(?<!SUBSTRING\()"batches_batch"."{column}"')
        assert not any(whole.search(query) for query in many), column


def test_what_people_wrote_is_never_markup_in_a_line(web: Client, ana: User, team: Team) -> None:
    odd = """<i>&"'"""
    User.objects.filter(pk=ana.pk).update(name=f"{odd}person")
    asked = made(team, f"{odd}asked")
    more = {"created_by": ana, "asked_after": asked, "source_name": f"{odd}file"}
    paused = made(team, f"{odd}name", BatchStatus.ATTENTION, template=f"{odd}question", **more)
    paused.parts.create(number=1, first_row=1, rows=10, status="held", message=f"{odd}reason")
    paused.labels.create(team=team, name=f"{odd}label", key="odd")
    Batch.objects.filter(pk=asked.pk).update(model=f"{odd}model")
    page = html(web.get(reverse("batches")))
    assert "<i>" not in page
    words = ("person", "asked", "file", "name", "question", "reason", "label", "model")
    assert {word for word in words if f"&lt;i&gt;&amp;&quot;&#x27;{word}" in page} == set(words)
