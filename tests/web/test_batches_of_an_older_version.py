"""Batches of the version before the sheet: its tables and files are brought up to date, and then
every page of them opens, and says what is true."""

import csv
import io
from collections import Counter
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.urls import reverse

from batchui.batches import decisions, deleting, due, polling, sending
from batchui.batches.compressed import Compressed, read_all_lines
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.doctor import examine, ledger
from batchui.doctor.records import Scope
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from tests.batches.conftest import MakeBatch, let_the_pause_end, rows, send_all, work
from tests.web.visiting import HTMX, page, press, press_start, said

pytestmark = pytest.mark.django_db(transaction=True)

# The last migrations of that version.
BEFORE = [("batches", "0014_ask_once"), ("teams", "0004_failures")]
# What it knew of how a file is read, and of what came back for a row.
FORM = ("kind", "encoding", "delimiter", "columns", "items", "encoding_chosen", "header")
FORM += ("header_row", "first_row", "backslashes", "empty", "nested")
FIELDS_OF_AN_ANSWER = 4
BLANK = b"id,text\n1,a\n2,\n3,c\n"
FILTERS = ("", "answered", "attention", "failed", "empty", "invalid", "skipped", "waiting")
TABS = ("attention", "timeline", "parts", "asked", "glance", "choose_download", "choose_run")


@pytest.fixture
def old(sandbox: RunningSandbox, start: MakeBatch, receive: MakeBatch, team: Team) -> list[str]:
    """The names of batches as that version left them, each with its answers so far."""
    sandbox.script(
        {"fault": "failed", "items": [1, 2], "times": 0},
        {"fault": "empty", "items": [4], "times": 0},
    )
    made = {"problems": work(start(rows(60)))}
    sandbox.script()
    made |= {
        "finished": work(start(rows(60))),
        "blank": work(start(BLANK)),
        "deleted": work(start(rows(3))),
        "draft": receive(rows(60)),
    }
    deleting.delete(made["deleted"], by=None)
    sandbox.script({"fault": "cut_after", "call": "submit", "times": 1})
    made["unsure"] = start(rows(10))
    send_all()
    sandbox.script()
    Connection.objects.update(paused_until=None, failures_in_a_row=0)
    for name in ("running", "stopped"):
        made[name] = start(rows(60))
        first, second, _ = made[name].parts.order_by("number")
        sending.send(first)
        Part.objects.filter(pk=first.pk).update(next_poll_at="2000-01-01T00:00:00Z")
        for part in due.due_parts(10):
            polling.poll(part)
        if name == "running":
            sending.send(second)
    made["stopped"].refresh_from_db()
    decisions.stop(made["stopped"], by=None)
    made["queued"] = start(rows(40))
    for name, batch in made.items():
        Batch.objects.filter(pk=batch.pk).update(name=name)
        batch.refresh_from_db()
        as_it_was(batch)
    there_and_back()
    return list(made)


def as_it_was(batch: Batch) -> None:
    """What that version had written of a batch: whole files, and blank cells as problems."""
    form = {name: batch.source_format.get(name) for name in FORM}
    changes = {"source_format": form, "invalid": batch.invalid + batch.skipped}
    if batch.skipped:
        changes["status"] = BatchStatus.PROBLEMS
        ended = batch.events.filter(kind=BatchStatus.FINISHED)
        ended.update(kind=BatchStatus.PROBLEMS, text="Finished with problems.")
    Batch.objects.filter(pk=batch.pk).update(**changes)
    for part in batch.parts.all():
        new: dict[str, Any] = {"invalid": part.invalid + part.skipped}
        for field, shape in (("rows_file", bytes), ("answers_file", old_answer)):
            if path := getattr(part, field):
                lines = map(shape, read_all_lines(path))
                new[field] = Compressed.of_lines(lines).store(f"{path}-old")
        Part.objects.filter(pk=part.pk).update(**new)


def old_answer(line: bytes) -> bytes:
    """A line of a part's answers, as it was."""
    status, *others = msgspec.json.decode(line, type=list[msgspec.Raw])
    was = msgspec.Raw(b'"invalid"') if bytes(status) == b'"skipped"' else status
    fields = [was, *others][:FIELDS_OF_AN_ANSWER]
    fields += [msgspec.Raw(b"null")] * (FIELDS_OF_AN_ANSWER - len(fields))
    return msgspec.json.encode(fields)


def there_and_back() -> None:
    """Let the tables be those of that version, and then of this one."""
    MigrationExecutor(connection).migrate(BEFORE)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def named(name: str) -> Batch:
    return Batch.objects.get(name=name)


def opened(web: Client, address: str, **extra: Any) -> Any:
    response = web.get(address, **extra)
    assert response.status_code == 200, f"{address}: {response.status_code}"
    return response


def everything_of(web: Client, batch: Batch) -> None:
    """Open every page of a batch, every filter, and every download."""
    here = batch.get_absolute_url()
    for show in FILTERS:
        opened(web, f"{here}?show={show}")
    for query in ("?page=1", "?row=3", "?show=&q=number+1", "?show=&q=nowhere"):
        opened(web, here + query)
    for tab in TABS:
        opened(web, reverse(tab, args=[batch.pk]), headers=HTMX if tab == "glance" else {})
    first = batch.parts.order_by("number")[0]
    opened(web, reverse("part", args=[batch.pk, first.number]), headers=HTMX)
    for name in ("row", "row_reply"):
        opened(web, reverse(name, args=[batch.pk, first.first_row]))
    for kind in ("csv", "csv-plain", "json", "jsonl"):
        opened(web, reverse("download", args=[batch.pk, kind])).getvalue()


def downloaded(web: Client, batch: Batch) -> list[dict[str, str]]:
    content = opened(web, reverse("download", args=[batch.pk, "csv-plain"])).getvalue()
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def is_well(sandbox: RunningSandbox) -> bool:
    known = ledger.of_calls(sandbox.base_url, is_whole=True)
    findings = examine.examine(Scope(ledger=known), pause=0).findings
    assert findings == []
    return True


def test_they_open_say_what_is_true_and_go_on(
    web: Client, sandbox: RunningSandbox, old: list[str]
) -> None:
    """One test: to make them, and to bring their tables there and back, takes ten seconds."""
    every_page_opens(web, old)
    assert is_well(sandbox)
    answers_counts_and_reasons_are_as_they_were(web)
    what_was_under_way_goes_on_and_ends(web)
    assert is_well(sandbox)


def every_page_opens(web: Client, old: list[str]) -> None:
    for address in ("batches", "days", "deleted", "labels", "saved_questions"):
        opened(web, reverse(address))
    history = said(opened(web, reverse("batches")))
    for name in old:
        batch = named(name)
        assert (name in history) is (name != "deleted")
        if batch.started_at and not batch.deleted_at:
            everything_of(web, batch)
    assert "Summarise" in said(opened(web, f"{reverse('batches')}?q=summarise"))


def answers_counts_and_reasons_are_as_they_were(web: Client) -> None:
    finished, problems, blank = map(named, ("finished", "problems", "blank"))
    assert "60 of 60 answered" in page(web, finished)
    assert [row["answer"] for row in downloaded(web, finished)] == [
        f"[sandbox] Summary: text number {number}" for number in range(1, 61)
    ]
    reasons = page(web, problems, "attention")
    assert "6 rows: Cloudflare says: “The model could not answer this item”." in reasons
    assert "3 rows: " in reasons
    statuses = Counter(row["status"] for row in downloaded(web, problems))
    assert statuses == {"answered": 51, "failed": 6, "empty": 3}
    assert "1 row: nothing to ask" in page(web, blank, "attention")
    assert [row["status"] for row in downloaded(web, blank)] == ["answered", "invalid", "answered"]
    found = page(web, finished, query="?show=&q=number+41")
    assert "text number 41" in found
    assert "text number 42" not in found
    assert "5 words in every row" in said(
        opened(web, reverse("glance", args=[finished.pk]), headers=HTMX)
    )


def what_was_under_way_goes_on_and_ends(web: Client) -> None:
    let_the_pause_end()
    for name in ("running", "queued"):
        assert work(named(name)).status == BatchStatus.FINISHED
    assert named("unsure").parts.get().status == PartStatus.UNSURE
    stopped = named("stopped")
    assert stopped.unsent > 0
    for name in ("problems", "stopped"):
        press(web, named(name), "retry")
        assert work(named(name)).status == BatchStatus.FINISHED
    draft = named("draft")
    assert press_start(web, draft, read_as=draft.format_key).status_code in (200, 302)
