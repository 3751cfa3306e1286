"""The documents' curl commands, to the letter but for host, account and token, and their replies.

`documented/` has each command and its reply as Cloudflare's pages show them: `batch-*` of the page
about the Batch API over REST, `run` of "Get started", `run-*` of the pages of models, and
`model-search` of the API's reference. What the pages about the binding of a Worker show needs a
Worker; their replies are among `tests/cloudflare/fixtures`.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import TOKEN

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

FOLDER = Path(__file__).parent / "documented"
NAMES = sorted(path.stem for path in FOLDER.glob("*.sh"))
# What the sandbox answers besides. The published types have all of it.
MORE = {
    "run": {"result.tool_calls", "result.usage"},
    "run-messages": {"result.tool_calls", "result.usage"},
    "run-embeddings": {"result.pooling"},
    "model-search": {"result_info"},
}


def command(name: str) -> str:
    return (FOLDER / f"{name}.sh").read_text()


def curl(sandbox: RunningSandbox, command: str, *, token: str = TOKEN) -> Any:
    for written, meant in (
        ("https://api.cloudflare.com", sandbox.root_url),
        ("{ACCOUNT_ID}", "me"),
        ("{API_TOKEN}", token),
    ):
        command = command.replace(written, meant)
    accounts = dict.fromkeys(("ACCOUNT_ID", "CLOUDFLARE_ACCOUNT_ID"), "me")
    tokens = dict.fromkeys(("API_TOKEN", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_AUTH_TOKEN"), token)
    done = subprocess.run(
        ["sh", "-c", command],
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", **accounts, **tokens},
        capture_output=True,
        timeout=20,
        check=True,
    )
    return json.loads(done.stdout)


def differences(documented: Any, found: Any, where: str = "") -> Iterator[str]:
    """Where a reply has other types than the documented one, lacks something, or has more.

    An object or a list in which nothing is documented may have anything; null may be a text.
    """
    if isinstance(documented, dict) and isinstance(found, dict):
        for name in documented.keys() | (found.keys() if documented else set()):
            path = f"{where}.{name}".lstrip(".")
            if name not in found:
                yield f"{path} is missing"
            elif name not in documented:
                yield path
            else:
                yield from differences(documented[name], found[name], path)
    elif isinstance(documented, list) and isinstance(found, list):
        for one in found:
            yield from differences(documented[0], one, f"{where}[]") if documented else ()
    elif kind(documented) not in (kind(found), "null"):
        yield f"{where} is of {kind(found)}, not of {kind(documented)}"


def kind(value: Any) -> str:
    if value is None:
        return "null"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


@pytest.mark.parametrize("name", NAMES)
def test_a_documented_command_has_a_reply_of_the_documented_shape(
    sandbox: RunningSandbox, name: str
) -> None:
    asked = command(name)
    if "<uuid>" in asked:
        receipt = curl(sandbox, command("batch-submit"))["result"]
        asked = asked.replace("<uuid>", receipt["request_id"])
    documented = json.loads((FOLDER / f"{name}.json").read_text())
    assert set(differences(documented, curl(sandbox, asked))) == MORE.get(name, set())


def test_every_document_is_a_command_with_its_reply() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == NAMES


def test_what_differs_from_a_document_is_found() -> None:
    documented = {"a": [{"n": 1.5}], "b": "text", "c": None, "d": [], "e": {}, "f": True}
    assert set(differences(documented, documented)) == set()
    other = {"a": [{"n": 1}, {"n": "1"}, {}], "b": 7, "c": "", "d": [7], "e": {"x": 1}, "g": 0}
    assert set(differences(documented, other)) == {
        "a[].n is of str, not of number",
        "a[].n is missing",
        "b is of number, not of str",
        "f is missing",
        "g",
    }


def test_a_reference_within_contexts_comes_back_as_null(sandbox: RunningSandbox) -> None:
    receipt = curl(sandbox, command("batch-submit"))["result"]
    polled = curl(sandbox, command("batch-poll").replace("<uuid>", receipt["request_id"]))
    (entry,) = polled["result"]["responses"]
    assert entry["external_reference"] is None
    assert {score["id"] for score in entry["result"]["response"]} == {0, 1, 2}


def test_an_empty_token_is_refused(sandbox: RunningSandbox) -> None:
    refused = curl(sandbox, command("batch-submit"), token="")
    assert refused["errors"][0]["code"] == 10000


def test_a_large_file_is_sent(sandbox: RunningSandbox, tmp_path: Any) -> None:
    """curl asks first (Expect: 100-continue) when a body is large."""
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"requests": [{"text": "word " * 300} for _ in range(3_000)]}))
    asked = command("batch-submit").partition(" --json")[0] + f" --data-binary @{body}"
    assert curl(sandbox, asked)["result"]["status"] == "queued"
