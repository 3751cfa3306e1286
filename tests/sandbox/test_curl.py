"""The documented curl commands, with only the host changed."""

import json
import shutil
import subprocess
from typing import Any

import pytest

from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import TOKEN

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

SUBMIT = """
curl -sS "https://api.cloudflare.com/client/v4/accounts/$ACCOUNT_ID/ai/run/@cf/baai/bge-m3?queueRequest=true" \\
 --header "Authorization: Bearer $API_TOKEN" \\
 --header 'Content-Type: application/json' \\
 --data '{
    "requests": [
        {
            "query": "This is a story about Cloudflare",
            "contexts": [
                {"text": "This is a story about an orange cloud"},
                {"text": "This is a story about a llama"},
                {"text": "This is a story about a hugging emoji"}
            ],
            "external_reference": "reference-1"
        }
    ]
  }'
"""  # noqa: E501 - as it is documented
POLL = """
curl -sS "https://api.cloudflare.com/client/v4/accounts/$ACCOUNT_ID/ai/run/@cf/baai/bge-m3?queueRequest=true" \\
 --header "Authorization: Bearer $API_TOKEN" \\
 --header 'Content-Type: application/json' \\
 --data '{"request_id": "<uuid>"}'
"""  # noqa: E501
RUN = """
curl -sS https://api.cloudflare.com/client/v4/accounts/$ACCOUNT_ID/ai/run/@cf/meta/llama-3.3-70b-instruct-fp8-fast \\
 -H "Authorization: Bearer $API_TOKEN" \\
 -d '{ "prompt": "Where did the phrase Hello World come from" }'
"""  # noqa: E501
SEARCH = """
curl -sS "https://api.cloudflare.com/client/v4/accounts/$ACCOUNT_ID/ai/models/search?search=kimi" \\
 -H "Authorization: Bearer $API_TOKEN"
"""


def curl(sandbox: RunningSandbox, command: str, *, token: str = TOKEN) -> Any:
    done = subprocess.run(
        ["sh", "-c", command.replace("https://api.cloudflare.com", sandbox.root_url)],
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "ACCOUNT_ID": "me", "API_TOKEN": token},
        capture_output=True,
        timeout=20,
        check=True,
    )
    return json.loads(done.stdout)


def test_a_batch_is_submitted_and_polled(sandbox: RunningSandbox) -> None:
    acknowledged = curl(sandbox, SUBMIT)
    assert acknowledged["result"]["status"] == "queued"
    polled = curl(sandbox, POLL.replace("<uuid>", acknowledged["result"]["request_id"]))
    (entry,) = polled["result"]["responses"]
    assert entry["external_reference"] == "reference-1"
    assert {score["id"] for score in entry["result"]["response"]} == {0, 1, 2}


def test_a_prompt_is_answered_at_once(sandbox: RunningSandbox) -> None:
    assert "[sandbox]" in curl(sandbox, RUN)["result"]["response"]


def test_the_catalogue_is_searched(sandbox: RunningSandbox) -> None:
    assert "@cf/moonshotai/kimi-k2.6" in [m["name"] for m in curl(sandbox, SEARCH)["result"]]


def test_an_empty_token_is_refused(sandbox: RunningSandbox) -> None:
    assert curl(sandbox, SUBMIT, token="")["errors"][0]["code"] == 10000


def test_a_large_file_is_sent(sandbox: RunningSandbox, tmp_path: Any) -> None:
    """curl asks first (Expect: 100-continue) when a body is large."""
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"requests": [{"text": "word " * 300} for _ in range(3_000)]}))
    command = SUBMIT.partition(" --data")[0] + f" --data-binary @{body}"
    assert curl(sandbox, command)["result"]["status"] == "queued"
