"""Two hosts with a web and a worker process each, one PostgreSQL and one bucket between them."""

import csv
import io
import time
from collections.abc import Iterator
from contextlib import closing

import boto3
import psycopg
import pytest
from cryptography.fernet import Fernet
from moto.server import ThreadedMotoServer

from batchui.sandbox.testing import RunningSandbox, running_sandbox
from tests.project.helpers import until
from tests.stories.hosts import IMPATIENT_WORKER, PASSWORD, Host, Person, manage, running_host

pytestmark = pytest.mark.processes

BUCKET = "batches"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_REGION": "us-east-1",
}
MODEL = "@cf/meta/llama-4-scout-17b-16e-instruct"
# Half of it at once, and the other half over five minutes.
CALLS = 60


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """An S3 server with an empty bucket; its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        with closing(client):
            client.create_bucket(Bucket=BUCKET)
        yield address
    finally:
        server.stop()


@pytest.fixture(scope="module")
def shared(
    postgres_url: str,
    bucket: str,
    sandbox: RunningSandbox,
) -> dict[str, str]:
    """The settings that both hosts have."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS hosts WITH (FORCE)")
        connection.execute("CREATE DATABASE hosts")
    return {
        "DATABASE_URL": postgres_url.replace("/postgres?", "/hosts?"),
        "BATCHUI_S3_BUCKET": BUCKET,
        "BATCHUI_S3_ENDPOINT": bucket,
        "BATCHUI_SANDBOX_URL": sandbox.base_url,
        "BATCHUI_CALLS_PER_5_MINUTES": str(CALLS),
        "BATCHUI_FIRST_POLL_SECONDS": "0.3",
        "SECRET_KEY": "the same on every host, and long enough: 0123456789 0123456789",
        "BATCHUI_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        **CREDENTIALS,
    }


@pytest.fixture(scope="module")
def hosts(
    shared: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Host, Host]]:
    folder = tmp_path_factory.mktemp("hosts")
    manage("migrate", data=folder / "one", **shared)
    with (
        running_host(folder / "one", worker_of=IMPATIENT_WORKER, **shared) as one,
        running_host(folder / "other", **shared) as other,
    ):
        yield one, other


@pytest.fixture(scope="module")
def ana(hosts: tuple[Host, Host], shared: dict[str, str]) -> Iterator[Person]:
    """The first administrator, who came in at the first host."""
    one, _ = hosts
    link = manage("setup_link", data=one.data, **shared).strip()
    described = {"name": "Ana Lima", "email": "ana@example.com", "team_name": "Care"}
    with Person(one) as person:
        person.send(link, **described, password=PASSWORD)
        yield person


def rows_of(count: int) -> bytes:
    return "\r\n".join(
        ["id,text", *(f"{number},Text {number}" for number in range(1, count + 1))]
    ).encode()


def start(person: Person, content: bytes) -> str:
    """Upload and start a file; the address of its batch."""
    page = person.send("/new/", file=content)
    batch = str(page.url.path)
    until(lambda: "Start: " in person.http.get(f"{batch}checking/").text)
    person.send(
        batch,
        f"{batch}start/",
        name="Texts",
        model=MODEL,
        template="Summarise: {{text}}",
        max_tokens=100,
    )
    return batch


def finished(person: Person, batch: str) -> bool:
    return 'data-status="finished"' in person.http.get(batch).text


def test_what_is_uploaded_at_one_host_is_downloaded_at_the_other(
    hosts: tuple[Host, Host], ana: Person
) -> None:
    _, other = hosts
    batch = start(ana, rows_of(60))
    with ana.at(other) as there:
        until(lambda: finished(there, batch), seconds=60)
        answers = there.http.get(f"{batch}download/csv-plain/").text
        assert there.http.get(f"{batch}source/").content == rows_of(60)
    table = list(csv.DictReader(io.StringIO(answers)))
    assert [row["id"] for row in table] == [str(number) for number in range(1, 61)]
    assert all(row["status"] == "answered" and row["answer"] for row in table)
    for host in hosts:
        assert not (host.data / "files").exists()


def test_the_call_limit_holds_over_both(
    hosts: tuple[Host, Host], ana: Person, sandbox: RunningSandbox
) -> None:
    before = len(sandbox.calls("submit")) + len(sandbox.calls("poll"))
    began = time.monotonic()
    for _ in range(2):
        start(ana, rows_of(500))  # twenty parts, and forty calls, each
    until(lambda: _calls(sandbox) - before >= 20, seconds=60)
    time.sleep(8)  # the workers would make the rest of the calls in this time
    made, seconds = _calls(sandbox) - before, time.monotonic() - began
    # Some of the first half may have been used by the test before this one.
    assert made <= CALLS / 2 + seconds * CALLS / 2 / 300 + 1


def test_a_cluster_that_hangs_is_restarted_while_the_other_works(
    hosts: tuple[Host, Host], ana: Person
) -> None:
    one, other = hosts
    frozen, well = one.cluster(), other.cluster()
    one.freeze()
    said = one.worker.lines.wait_for("Background work is started again now", seconds=90)
    assert "no sign of life" in said
    until(lambda: not frozen.is_running(), seconds=15)
    until(lambda: one.cluster().pid != frozen.pid, seconds=15)
    assert other.cluster() == well
    assert not [line for line in other.worker.lines.lines if "again" in line]


def _calls(sandbox: RunningSandbox) -> int:
    return len(sandbox.calls("submit")) + len(sandbox.calls("poll"))
