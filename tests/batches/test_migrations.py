"""What batches of an older version come to be: their tables are brought up to date as they are."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from batchui.batches.states import AttemptStatus, PartStatus, Question

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tables() -> Iterator["Tables"]:
    yield Tables()
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


class Tables:
    """The tables, as they are after a migration of batches and one of teams."""

    def at(self, batches: str, teams: str) -> Any:
        """Bring them there. Returns the apps with their models."""
        executor = MigrationExecutor(connection)
        target = [("batches", batches), ("teams", teams)]
        executor.migrate(target)
        return executor.loader.project_state(target).apps


def batch_before(apps: Any) -> Any:
    team = apps.get_model("teams", "Team").objects.create(name="Team")
    line = apps.get_model("teams", "Connection").objects.create(
        team=team, kind="sandbox", account_id="sandbox", name="Sandbox", base_url="http://x"
    )
    return apps.get_model("batches", "Batch").objects.create(
        team=team, connection=line, name="old", source_size=1, status="running"
    )


def test_parts_without_a_decision_are_asked_about_as_their_requests_say(tables: Tables) -> None:
    apps = tables.at("0006_started_by", "0003_withdrawn")
    batch = batch_before(apps)
    old = {
        1: (PartStatus.UNSURE, [AttemptStatus.UNSURE]),
        2: (PartStatus.UNSURE, [AttemptStatus.UNSURE, AttemptStatus.QUARANTINED]),
        3: (PartStatus.UNSURE, [AttemptStatus.QUARANTINED, AttemptStatus.UNSURE]),
        4: (PartStatus.UNSURE, []),
        5: (PartStatus.QUEUED, [AttemptStatus.ACCEPTED]),
    }
    for number, (status, attempts) in old.items():
        part = apps.get_model("batches", "Part").objects.create(
            batch=batch, number=number, first_row=number, rows=1, status=status
        )
        for place, attempt in enumerate(attempts, 1):
            apps.get_model("batches", "Attempt").objects.create(
                part=part, number=place, items=1, payload_size=1, status=attempt
            )
    apps = tables.at("0008_attempts_before", "0004_failures")
    parts = apps.get_model("batches", "Part").objects
    asked = parts.order_by("number").values_list("question", flat=True)
    assert list(asked) == [
        Question.UNCLEAR,
        Question.MISMATCH,
        Question.UNCLEAR,
        Question.UNCLEAR,
        "",
    ]
    assert set(parts.values_list("attempts_before", flat=True)) == {0}
    assert apps.get_model("teams", "Connection").objects.get().failures_in_a_row == 0


def test_a_request_that_seemed_gone_goes_on_being_looked_at(tables: Tables) -> None:
    apps = tables.at("0006_started_by", "0003_withdrawn")
    batch, now = batch_before(apps), timezone.now()
    for number, seen in enumerate((2, 0), 1):
        apps.get_model("batches", "Part").objects.create(
            batch=batch,
            number=number,
            first_row=number,
            rows=1,
            status=PartStatus.QUEUED,
            gone_seen=seen,
            gone_at=now if seen else None,
        )
    parts = tables.at("0008_attempts_before", "0004_failures").get_model("batches", "Part").objects
    kept = parts.order_by("number").values_list("odd_kind", "odd_seen", "odd_at")
    assert list(kept) == [("gone", 2, now), ("", 0, None)]


def test_an_account_of_an_older_version_is_that_of_the_environment(tables: Tables) -> None:
    apps = tables.at("0034_comparison_problem", "0005_confirm_above")
    team = batch_before(apps).team
    apps.get_model("teams", "Connection").objects.create(
        team=team, kind="rest", account_id="0" * 32, name="Cloudflare", base_url="http://x"
    )
    apps = tables.at("0039_models", "0006_connections")
    known = apps.get_model("teams", "Connection").objects
    assert dict(known.values_list("kind", "from_environment")) == {"rest": True, "sandbox": False}
