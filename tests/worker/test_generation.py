"""The number of a database, in it and beside its files, tells when the database is a copy."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test import Client
from django.utils import timezone

from batchui.batches import sending
from batchui.batches.models import Batch
from batchui.batches.states import PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.up import prepare
from batchui.up.errors import CannotStart
from batchui.worker import generation, health, heartbeat, installation_mark, tasks, tick
from batchui.worker.checks import files_are_ours
from batchui.worker.installation_mark import Mark
from batchui.worker.management.commands import worker
from batchui.worker.models import Heartbeat, Installation, new_database_id
from tests.batches.conftest import on_record, posts
from tests.worker.copies import copied

ANOTHER = "another-database 7\n"


def number() -> int:
    return Installation.objects.get().generation


def is_asked(batch: Batch) -> bool:
    return batch.parts.filter(status=PartStatus.UNSURE, question=Question.RESTORED).exists()


@pytest.mark.django_db
def test_the_number_grows_and_is_the_same_beside_the_files(team: Team) -> None:
    numbers = []
    for _ in range(3):
        assert generation.keep_up() == 0
        numbers.append(number())
        assert installation_mark.read_mark() == Mark(
            Installation.objects.get().database_id, numbers[-1]
        )
    assert numbers == sorted(set(numbers))


def test_each_database_has_an_id_of_its_own_that_fits_its_column() -> None:
    ids = {new_database_id() for _ in range(50)}
    assert len(ids) == 50
    assert {len(one) for one in ids} == {Installation._meta.get_field("database_id").max_length}


@pytest.mark.django_db
def test_a_database_keeps_the_id_that_it_has() -> None:
    Installation.objects.create(pk=1, database_id="of an earlier version")
    assert Installation.here().database_id == "of an earlier version"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("at_once")
def test_where_the_number_cannot_be_written_down_nothing_is_sent_and_polls_go_on(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = batch.parts.get(number=1)
    assert sending.send(first)
    (files_in / installation_mark.MARK).mkdir(parents=True)
    tick.run_tick()
    first.refresh_from_db()
    assert first.status == PartStatus.DONE
    assert posts(sandbox) == 1
    [said] = {line.getMessage() for line in caplog.records if line.name == tick.__name__}
    assert said == (
        "Nothing is sent, because the storage cannot be written: [Errno 21] Is a directory: "
        f"'{files_in / installation_mark.MARK}'"
    )
    (files_in / installation_mark.MARK).rmdir()
    tick.run_tick()
    assert posts(sandbox) == 3


@pytest.mark.django_db(transaction=True)
def test_where_nothing_is_sent_the_number_is_raised_once_a_minute(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks.tick()
    before = number()
    for _ in range(3):
        tasks.tick()
    assert number() == before
    tasks.tidy()  # a minute later
    assert number() == before + 1


@pytest.mark.django_db
def test_a_database_with_a_lower_number_than_its_files_is_a_copy(
    team: Team, caplog: pytest.LogCaptureFixture
) -> None:
    batch = on_record(team)
    generation.keep_up()
    put_back = copied()
    generation.keep_up()
    newest = number()
    put_back()
    assert generation.keep_up() == 1
    assert is_asked(batch)
    assert caplog.messages == [
        "This database is a copy. It is older than the files beside it. 1 part may have been sent "
        "since. It waits for a decision on the page “Batches”, and is not sent before."
    ]
    assert number() > newest
    assert generation.keep_up() == 0


@pytest.mark.django_db
def test_a_database_with_a_higher_number_than_its_files_is_no_copy(team: Team) -> None:
    batch = on_record(team)
    generation.keep_up()
    # As after a kill between the two writes.
    Installation.objects.update(generation=number() + 5)
    assert generation.keep_up() == 0
    assert not is_asked(batch)


@pytest.mark.django_db
@pytest.mark.parametrize("after", range(4))
def test_where_another_worker_raises_the_number_meanwhile_nothing_is_taken_for_a_copy(
    team: Team, after: int
) -> None:
    on_record(team)
    generation.keep_up()
    queries = itertools.count()

    def another_worker_meanwhile(execute: Any, *query: Any) -> Any:
        result = execute(*query)
        if next(queries) == after:
            generation.keep_up()
        return result

    before = number()
    with connection.execute_wrapper(another_worker_meanwhile):
        assert generation.keep_up() == 0
    assert number() == before + 2


@pytest.mark.django_db
def test_a_database_that_was_marked_as_a_copy_is_one_whatever_the_numbers_say(
    team: Team, files_in: Path
) -> None:
    batch = on_record(team)
    Installation.here()
    Installation.objects.update(restored_from="It is the backup of May.")
    assert not files_in.exists()
    assert generation.keep_up() == 1
    assert batch.parts.get().message == "It is the backup of May."
    installation = Installation.objects.get()
    assert installation.restored_from == ""
    assert installation.restored_at is not None
    assert generation.keep_up() == 0


@pytest.mark.django_db
def test_a_copy_stays_noticed_until_all_are_asked(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = on_record(team)

    def killed(reason: str) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(generation.restored, "let_people_decide", killed)
        with pytest.raises(KeyboardInterrupt):
            generation.note_restored("It was put back.")
    assert not is_asked(batch)
    assert generation.keep_up() == 1  # by the next worker


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (0, "No part waits to be sent, so nothing has to be decided."),
        (
            1,
            "1 part may have been sent since. It waits for a decision on the page “Batches”, and "
            "is not sent before.",
        ),
        (
            1200,
            "1,200 parts may have been sent since. They wait for a decision on the page “Batches”, "
            "and are not sent before.",
        ),
    ],
)
def test_how_many_parts_wait_is_said(asked: int, sentence: str) -> None:
    assert generation.in_words(asked) == sentence


@pytest.mark.django_db
def test_parts_that_wait_for_a_decision_already_are_counted(team: Team) -> None:
    batch, deleted = on_record(team, parts=3), on_record(team, deleted_at=timezone.now())
    deleted.parts.update(status=PartStatus.UNSURE)
    for number, words in (1, "1 part waits"), (2, "2 parts wait"):
        batch.parts.filter(number=number).update(status=PartStatus.UNSURE)
        assert generation.in_words(0) == (
            f"No other part waits to be sent. {words} for a decision on the page “Batches” already."
        )


# -- the files of another database --------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "mark", [ANOTHER.encode(), b"damaged", b"", b"two words", b"\x00\xff", b"\xff 7"]
)
def test_beside_the_files_of_another_database_nothing_is_sent_and_the_reason_is_said(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, client: Client, mark: bytes
) -> None:
    (files_in / installation_mark.MARK).write_bytes(mark)
    heartbeat.beat()
    with pytest.raises(installation_mark.AnotherDatabase):
        tasks.tick()
    assert posts(sandbox) == 0
    assert (files_in / installation_mark.MARK).read_bytes() == mark
    health.forget()
    reply = client.get("/readyz")
    assert reply.status_code == 503
    said = reply.json()["checks"]["worker"]["says"]
    assert "has the files of another database than the one that is set now" in said
    health.forget()


@pytest.mark.django_db
def test_a_start_beside_the_files_of_another_database_is_refused(
    files_in: Path, settings: Any
) -> None:
    files_in.mkdir()
    (files_in / installation_mark.MARK).write_text(ANOTHER)
    [error] = files_are_ours(databases=["default"])
    assert error.id == "batchui.E018"
    assert error.msg.startswith(f"{settings.DATA} has the files of another database")
    assert error.msg.endswith("or BATCHUI_DATA to another folder.")
    settings.S3_BUCKET = "answers"
    [error] = files_are_ours(databases=["default"])
    assert error.msg.startswith("The bucket answers has the files of another database")
    assert "BATCHUI_S3_PREFIX" in error.msg


@pytest.mark.django_db(transaction=True)
def test_a_worker_and_up_refuse_the_files_of_another_database(files_in: Path) -> None:
    generation.keep_up()
    worker.Command().refuse_another_storage()
    prepare.prepare_database()
    (files_in / installation_mark.MARK).write_text(ANOTHER)
    with pytest.raises(CommandError, match=r"\(batchui\.E018\)"):
        worker.Command().refuse_another_storage()
    with pytest.raises(CannotStart, match=r"\(batchui\.E018\)"):
        prepare.prepare_database()


@pytest.mark.django_db
def test_a_start_beside_its_own_files_is_not_refused(team: Team) -> None:
    assert files_are_ours(databases=["default"]) == []  # none yet
    generation.keep_up()
    assert files_are_ours(databases=["default"]) == []


@pytest.mark.django_db(transaction=True)
def test_before_the_tables_are_there_nothing_is_refused(team: Team) -> None:
    generation.keep_up()
    table = connection.ops.quote_name(Installation._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
    try:
        assert files_are_ours(databases=["default"]) == []
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE elsewhere RENAME TO {table}")


# -- background work that fails -----------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_lives_and_gets_nothing_done_is_not_ready(client: Client) -> None:
    heartbeat.beat()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE batches_part RENAME TO elsewhere")
    try:
        with pytest.raises(Exception, match="batches_part"):
            tasks.tick()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE elsewhere RENAME TO batches_part")
    health.forget()
    reply = client.get("/readyz")
    assert reply.status_code == 503
    said = reply.json()["checks"]["worker"]["says"]
    assert said.startswith("Background work fails. ")
    assert "batches_part" in said
    tasks.tick()  # it was mended
    health.forget()
    assert client.get("/readyz").status_code == 200
    health.forget()


@pytest.mark.django_db
def test_a_worker_that_works_outweighs_one_that_fails_and_one_that_is_gone(settings: Any) -> None:
    heartbeat.beat()
    heartbeat.note("It fails.")
    heartbeat.beat("worker:gone:2")
    Heartbeat.objects.filter(name="worker:gone:2").update(at=timezone.now() - heartbeat.SILENCE)
    assert heartbeat.problem_of_workers() == "It fails."
    heartbeat.beat("worker:other:3")
    assert heartbeat.problem_of_workers() == ""


@pytest.mark.django_db
def test_what_fails_is_said_without_what_an_error_may_carry(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heartbeat.beat()

    def fails(**_: Any) -> None:
        raise ValueError("secret-token")

    monkeypatch.setattr(tasks, "run_tick", fails)
    with pytest.raises(ValueError, match="secret-token"):
        tasks.tick()
    assert Heartbeat.objects.get().problem == "ValueError."
