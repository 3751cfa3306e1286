"""Who does not know the secret of the Worker gets nothing from it."""

import httpx
import pytest

from batchui.cloudflare.errors import Busy
from batchui.cloudflare.worker_client import WorkerClient
from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import NO_CERTIFICATES
from tests.worker_binding.conftest import LLAMA, RUN, SECRET, submitted
from tests.worker_binding.workerd import Workerd

pytestmark = pytest.mark.processes

SHORT = "0123456789012345678901234567890"  # that of worker.capnp
ROUTES = [
    ("POST", f"{RUN}?queueRequest=true"),
    ("POST", RUN),
    ("GET", "/ai/models/search"),
    ("GET", "/example/single"),
    ("POST", "/example/batch"),
    ("GET", "/check-request?id=1&model=x"),
    ("GET", "/generate/users"),
    ("GET", "/"),
    ("OPTIONS", RUN),
]
WRONG = [
    None,
    "",
    "Bearer",
    f"Basic {SECRET}",
    SECRET,
    f"Bearer {SECRET}x",
    f"Bearer {SECRET[:-1]}",
    f"Bearer {SECRET.upper()}",
    f"Bearer {SECRET} {SECRET}",
    "Bearer undefined",
]


def call(address: str, method: str, path: str, authorization: str | None) -> httpx.Response:
    headers = {} if authorization is None else {"Authorization": authorization}
    body = {"requests": [{"prompt": "Hello"}]} if method == "POST" else None
    with httpx.Client(base_url=address, timeout=20, verify=NO_CERTIFICATES) as http:
        return http.request(method, path, headers=headers, json=body)


@pytest.mark.parametrize("authorization", WRONG)
def test_a_missing_or_wrong_secret_reaches_nothing(
    workerd: Workerd, sandbox: RunningSandbox, authorization: str | None
) -> None:
    for method, path in ROUTES:
        reply = call(workerd.address(), method, path, authorization)
        assert reply.status_code == 401
        assert [error["code"] for error in reply.json()["errors"]] == [990401]
        assert SECRET not in reply.text
    assert sandbox.calls() == []


@pytest.mark.parametrize(
    ("socket", "authorization"),
    [
        ("no secret", "Bearer"),
        ("no secret", "Bearer undefined"),
        ("no secret", f"Bearer {SECRET}"),
        ("short secret", f"Bearer {SHORT}"),
        ("no text", f"Bearer {SECRET}"),
        ("no text", "Bearer [object Object]"),
    ],
)
def test_a_worker_without_a_secret_or_with_a_short_one_answers_nobody(
    workerd: Workerd, sandbox: RunningSandbox, socket: str, authorization: str
) -> None:
    for method, path in ROUTES:
        reply = call(workerd.address(socket), method, path, authorization)
        assert reply.status_code == 503
        assert [error["code"] for error in reply.json()["errors"]] == [990403]
        assert SHORT not in reply.text
    assert sandbox.calls() == []


@pytest.mark.parametrize(
    ("socket", "secret", "said"),
    [
        ("worker", "another-secret-0123456789abcdefgh", "does not accept the secret"),
        ("no secret", SECRET, "has no secret"),
        ("no binding", SECRET, "is not connected to Workers AI"),
    ],
)
def test_a_person_is_told_what_to_correct(
    workerd: Workerd, sandbox: RunningSandbox, socket: str, secret: str, said: str
) -> None:
    address = workerd.address(socket)
    with WorkerClient(address=address, secret=secret) as client:
        for ask in (client.test_connection, lambda: submitted(client, {"prompt": "Yes?"})):
            with pytest.raises(Busy) as caught:
                ask()
            assert caught.value.needs_person
            name = f"Your Worker ({address.removeprefix('http://')})"
            assert caught.value.user_message.startswith(f"{name} {said}")
    assert sandbox.calls() == []


def test_blanks_around_the_secret_of_the_worker_do_no_harm(workerd: Workerd) -> None:
    address = workerd.address("padded secret")
    assert call(address, "GET", "/ai/models/search", f"Bearer {SECRET}").status_code == 200


def test_the_word_before_the_secret_may_have_any_case(workerd: Workerd) -> None:
    reply = call(workerd.address(), "GET", "/ai/models/search", f"bearer {SECRET}")
    assert reply.status_code == 200


def test_no_reply_may_be_read_by_a_page_of_another_site_or_kept(http: httpx.Client) -> None:
    origin = {"Origin": "https://evil.example"}
    preflight = {"Access-Control-Request-Method": "POST"}
    for reply in (
        http.post(RUN, json={"prompt": "Hello"}, headers=origin),
        http.get("/ai/models/search", headers=origin),
        http.get("/nothing", headers=origin),
        http.options(RUN, headers=origin | preflight),
    ):
        assert not [name for name in reply.headers if name.startswith("access-control")]
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["batchui-worker"] == "1"
        assert SECRET not in reply.text


def test_what_is_not_there_is_said_to_who_knows_the_secret(http: httpx.Client) -> None:
    for method, path in (("GET", "/"), ("GET", RUN), ("DELETE", RUN), ("POST", "/ai/run/")):
        reply = http.request(method, path)
        assert (reply.status_code, reply.json()["errors"][0]["code"]) == (404, 990404)


def test_no_name_that_a_model_cannot_have_reaches_the_binding(
    http: httpx.Client, sandbox: RunningSandbox
) -> None:
    for name in ("@cf/a b", "@cf/a%0D%0AX: y", "%ff", "@cf//a", f"{LLAMA}/", "..%2F"):
        reply = http.post(f"/ai/run/{name}", json={"prompt": "Hello"})
        assert (reply.status_code, reply.json()["errors"][0]["code"]) == (400, 5007)
    assert sandbox.calls() == []
