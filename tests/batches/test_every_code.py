"""Every error code of Cloudflare's, over HTTP: what it means, what people read, what becomes of it.

The table is that of the reference: the code, its HTTP status, and what is to be done.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import pytest
from django.utils import timezone

from batchui.batches import outcomes, pauses, sending
from batchui.batches.outcomes import OnHold, RefusedForGood, SendOutcome, Unsure
from batchui.cloudflare import errors
from batchui.cloudflare.catalogue import DEFAULT_MODEL
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    Gone,
    MaybeSent,
    Refused,
    TooLarge,
)
from batchui.sandbox.testing import RunningSandbox, running_sandbox

BODY = b'{"requests":[{"prompt":"Yes?"}]}'
REASON = "It is odd"
SAYS = f"Cloudflare says: “{REASON}”."
# The codes that a gateway in front gives for a malformed token or a wrong account.
OF_THE_GATEWAY = {6003: 400, 7000: 404, 9106: 400, 10001: 400}
Passes = Literal["passes", "stays", "unclear"]


@dataclass(frozen=True)
class Meaning:
    """What a code means. by: the sentences, by the kind of error. wait: in seconds."""

    by: dict[type[CloudflareError], str]
    passes: Passes
    sending: type[CloudflareError]
    polling: type[CloudflareError]
    outcome: type[SendOutcome]
    wait: float | None = None
    needs_person: bool = False
    until_midnight: bool = False
    everywhere: bool = True


def final(sentence: str) -> Meaning:
    return Meaning({Refused: sentence}, "stays", Refused, Refused, RefusedForGood)


def held(sentence: str, *, everywhere: bool) -> Meaning:
    return Meaning(
        {Busy: sentence}, "stays", Busy, Busy, OnHold, needs_person=True, everywhere=everywhere
    )


ASK_DIFFERENTLY = "Change the question, the options or the model, then send the rows again."
REFUSED = final(f"Cloudflare refused this request. {SAYS} Waiting does not help. {ASK_DIFFERENTLY}")
NO_MODEL = final(
    f"Cloudflare does not offer this model. {SAYS} Waiting does not help. Choose another model, "
    "then send the rows again."
)
MODEL_REFUSED = final(
    f"The model cannot do what was asked. {SAYS} Waiting does not help. Choose another model or "
    "shorten the texts, then send the rows again."
)
FOUND_INVALID = final(
    "Cloudflare accepted these rows, then found that this model cannot take such a request. "
    f"{SAYS} Waiting does not help. {ASK_DIFFERENTLY}"
)
NOT_ALLOWED = (
    f"The Cloudflare account may not use this model now. {SAYS} Waiting does not help. Ask the "
    "person who manages the account to accept the model's terms or change the plan, or choose "
    "another model."
)
OF_THIS_MODEL = held(NOT_ALLOWED, everywhere=False)
OF_THE_ACCOUNT = held(NOT_ALLOWED, everywhere=True)
LOCKED_OUT = held(
    f"Cloudflare does not accept the account id or API token of this connection. {SAYS} Waiting "
    "does not help. An administrator of your team corrects that under Connections; the token needs "
    "the permissions Workers AI Read and Edit.",
    everywhere=True,
)
TOO_LARGE = Meaning(
    {
        TooLarge: f"Cloudflare found this part of the file too large. {SAYS} Waiting does not "
        "help. Shorten the longest texts, then send the rows again."
    },
    "stays",
    TooLarge,
    TooLarge,
    outcomes.TooLarge,
)
MINUTE = Meaning(
    {Busy: "Cloudflare's limit of requests in a minute is reached. This passes after a minute."},
    "passes",
    Busy,
    Busy,
    OnHold,
    wait=60.0,
)
DAY = Meaning(
    {
        Busy: "Today's free allowance of Workers AI is used up; the next one begins at 00:00 UTC. "
        "To go on at once, change the Cloudflare account to the Workers Paid plan."
    },
    "passes",
    Busy,
    Busy,
    OnHold,
    until_midnight=True,
)
FULL = Meaning(
    {
        Busy: "Cloudflare has no room for this model at the moment. This passes. If it takes too "
        "long, stop the batch and run it again with another model."
    },
    "passes",
    Busy,
    Busy,
    OnHold,
    everywhere=False,
)
AMBIGUOUS = Meaning(
    {
        MaybeSent: f"Cloudflare did not confirm that it accepted these rows. {SAYS} It may have "
        "them already.",
        BadReply: f"Cloudflare's answer could not be used (HTTP {{status}}). {SAYS} Nothing is "
        "lost, and this usually passes. If it goes on for hours, look at "
        "www.cloudflarestatus.com.",
    },
    "unclear",
    MaybeSent,
    BadReply,
    Unsure,
)
GONE = Meaning(
    {
        Gone: f"Cloudflare no longer has this result, or does not know it. {SAYS} If that does "
        "not change, send the rows again."
    },
    "unclear",
    Gone,
    Gone,
    RefusedForGood,
)

TABLE: dict[int, tuple[int, Meaning]] = {
    **dict.fromkeys((3003, 5004, 5006, 3039, 5025), (400, REFUSED)),
    **dict.fromkeys((5005, 5019), (405, REFUSED)),
    5007: (400, NO_MODEL),
    3042: (404, NO_MODEL),
    8007: (400, MODEL_REFUSED),
    **dict.fromkeys((5016, 5018, 3041, 5035), (403, OF_THIS_MODEL)),
    3023: (403, OF_THE_ACCOUNT),
    10000: (401, LOCKED_OUT),
    7003: (404, LOCKED_OUT),
    9109: (403, LOCKED_OUT),
    1000: (401, LOCKED_OUT),
    3006: (413, TOO_LARGE),
    3021: (429, MINUTE),
    3036: (429, DAY),
    3040: (429, FULL),
    3050: (429, FULL),
    3007: (408, AMBIGUOUS),
    3008: (408, AMBIGUOUS),
    5001: (500, AMBIGUOUS),
    8008: (500, AMBIGUOUS),
    3030: (400, FOUND_INVALID),
    5504: (404, GONE),
    **{code: (status, LOCKED_OUT) for code, status in OF_THE_GATEWAY.items()},
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


@pytest.fixture(scope="module")
def client(sandbox: RunningSandbox) -> Iterator[RestClient]:
    with RestClient(account_id="me", token="any-token", base_url=sandbox.base_url) as client:
        yield client


def submit(client: RestClient) -> object:
    return client.submit(DEFAULT_MODEL, BODY)


def run(client: RestClient) -> object:
    return client.run(DEFAULT_MODEL, b'{"prompt":"Yes?"}')


def poll(client: RestClient) -> object:
    return client.poll(DEFAULT_MODEL, "a-request", io.BytesIO())


def test_the_table_has_every_code_that_is_known() -> None:
    assert set(TABLE) == set(errors._BY_CODE)


@pytest.mark.parametrize("call", [submit, run, poll])
@pytest.mark.parametrize("code", TABLE)
def test_a_code_means_what_the_table_says_to_every_call(
    sandbox: RunningSandbox,
    client: RestClient,
    code: int,
    call: Callable[[RestClient], object],
) -> None:
    status, meaning = TABLE[code]
    step = {"fault": "error", "call": call.__name__, "code": code, "message": f"AiError: {REASON}"}
    sandbox.script({**step, "status": OF_THE_GATEWAY.get(code, 0)})
    with pytest.raises(CloudflareError) as caught:
        call(client)
    error = caught.value
    kind = meaning.polling if call is poll else meaning.sending
    assert (type(error), error.code, error.http_status) == (kind, code, status)
    assert error.user_message == meaning.by[kind].format(status=status)
    assert (error.wait, error.raw) == (meaning.wait, "")
    if isinstance(error, Busy):
        assert error.needs_person is meaning.needs_person
        assert error.until_midnight is meaning.until_midnight
    assert str(error) == f"{REASON} (HTTP {status}, code {code})"


@pytest.mark.parametrize("code", TABLE)
def test_each_sentence_says_whether_it_passes(code: int) -> None:
    _, meaning = TABLE[code]
    said = " ".join(meaning.by.values())
    assert ("Waiting does not help." in said) is (meaning.passes == "stays")
    if meaning.passes == "passes":
        assert "This passes" in said or "00:00 UTC" in said


@pytest.mark.parametrize("code", TABLE)
def test_a_code_does_the_right_thing_with_what_was_sent(
    sandbox: RunningSandbox, client: RestClient, code: int
) -> None:
    status, meaning = TABLE[code]
    sandbox.script({"fault": "error", "call": "submit", "code": code, "status": status})
    now = timezone.now()
    outcome = sending.post(client, model=DEFAULT_MODEL, body=BODY)
    assert type(outcome) is meaning.outcome
    if not isinstance(outcome, OnHold):
        return
    assert outcome.everywhere is meaning.everywhere
    if meaning.needs_person:
        assert outcome.resume_at is None
        return
    wanted = now + timedelta(seconds=meaning.wait or 0)
    if meaning.until_midnight:
        wanted = pauses.next_midnight(now)
    assert outcome.resume_at is not None
    assert timedelta(0) <= outcome.resume_at - wanted < timedelta(seconds=20)
