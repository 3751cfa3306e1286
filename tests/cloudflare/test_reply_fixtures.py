"""What comes of every form of a reply: each file of `fixtures/`, to the byte.

The files are written by hand, one for each form that Cloudflare's documents show, that was captured
from its API, or that clients of it have met.
"""

import io
from pathlib import Path

import pytest

from batchui.cloudflare.answers import CUT_SHORT
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply, CloudflareError, Gone, Refused
from batchui.cloudflare.replies import EMPTY, ItemReply, Reply, Usage, decode
from tests.cloudflare.conftest import MODEL, REQUEST_ID
from tests.cloudflare.server import ScriptedServer, reply

FOLDER = Path(__file__).parent / "fixtures"
LOOK_UP = (
    b'[{"id": "call_1", "type": "function", "function": '
    b'{"name": "look_up", "arguments": "{\\"city\\": \\"Oslo\\"}"}}]'
)
CHAT_USAGE = b'{"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}'
CUT_USAGE = b'{"prompt_tokens": 20, "completion_tokens": 256, "total_tokens": 276}'
OBJECT_USAGE = b'{"input_tokens": 30, "output_tokens": 12, "total_tokens": 42}'
ALL_REASONING = (
    "All the room for the answer went into the model's reasoning: it reached the longest answer "
    "allowed before it wrote anything. Allow a longer answer, then retry this row."
)
TO_THE_END = "The model only reasoned, and wrote no answer. Retry this row, or ask more plainly."
SO_FAR = "The model only reasoned, and wrote no answer. Allow a longer answer, then retry this row."
DECLINED = "The model declined to answer: “I cannot help with that”. Ask differently, then retry."


def yes(
    index: int | None,
    answer: bytes,
    *,
    ref: str | None = None,
    usage: bytes | None = None,
    cut: bool | None = None,
) -> ItemReply:
    return ItemReply(index, "answered", answer, None, ref, usage, cut=cut)


def empty(
    index: int,
    why: str = EMPTY,
    *,
    answer: bytes | None = None,
    usage: bytes | None = None,
    cut: bool | None = None,
) -> ItemReply:
    return ItemReply(index, "empty", answer, why, None, usage, cut=cut)


def no(index: int | None, why: str, *, ref: str | None = None) -> ItemReply:
    error = f"The model could not answer this row. {why} Retry it, or shorten its text."
    return ItemReply(index, "failed", error=error, reference=ref)


# The items of a finished reply in its order, and the tokens of the whole.
FINISHED: dict[str, Reply] = {
    "response-text": Reply(
        [
            yes(1, b'"Bonn was it, until 1990."', ref="row-2"),
            yes(0, '"Grüße 👋"'.encode()),
        ],
        Usage(24, 11),
    ),
    "response-text-and-parsed-object-mixed": Reply(
        [
            yes(0, b'{"companies": ["Acme", "Umbrella"]}', ref="a"),
            yes(1, b'"{\\"companies\\": [\\"Initech\\"]}"', ref="b"),
            ItemReply(2, "empty", b'{"companies": []}', EMPTY, "c"),
        ],
        Usage(90, 30),
    ),
    "older-nesting-without-an-envelope": Reply(
        [
            yes(2, b'"\\nBecause he always got fleeced!"'),
            yes(0, b'", please!\\nAn impasta!"'),
            yes(1, b'" Dear [Provider\'s Name],"'),
        ],
        Usage(22, 243),
    ),
    "older-nesting-with-usage-outside": Reply(
        [
            yes(0, b'"Yes"', usage=b'{"prompt_tokens": 3, "completion_tokens": 1}'),
            yes(1, b'"No"', usage=b'{"prompt_tokens": 4, "completion_tokens": 2}'),
        ]
    ),
    "binding-without-an-envelope": Reply(
        [
            yes(
                0,
                b'[{"id":0,"score":0.73974609375},{"id":1,"score":0.642578125},'
                b'{"id":2,"score":0.6220703125}]',
                ref="reference-1",
            )
        ],
        Usage(12, 0),
    ),
    "contexts-without-a-query": Reply(
        [yes(0, b"[[0.25, -0.5], [1.0, 0.0]]"), yes(1, b"[0.125, 0.5]")], Usage(9, 0)
    ),
    "embeddings": Reply(
        [
            yes(0, b"[0.0319050066, 0.0060713537, -1e-7]", ref="story1"),
            yes(1, b"[[0.5, 0.25], [-0.5, 0.75]]", ref="story2"),
        ],
        Usage(14, 0),
    ),
    "translated-text": Reply(
        [yes(0, b'"Je vais commander des moules frites"', ref="7")], Usage(11, 12)
    ),
    "chat-completion": Reply(
        [
            yes(1, b'"No"', usage=CHAT_USAGE, cut=False),
            yes(0, b'"Yes"', usage=CHAT_USAGE, cut=False),
        ],
        Usage(40, 10),
    ),
    "chat-completion-cut-off": Reply(
        [yes(0, b'"It begins well, and th"', usage=CUT_USAGE, cut=True)], Usage(40, 10)
    ),
    "chat-null-content-all-reasoning": Reply(
        [
            empty(0, ALL_REASONING, usage=CUT_USAGE, cut=True),
            empty(1, ALL_REASONING, usage=CHAT_USAGE, cut=True),
        ],
        Usage(40, 10),
    ),
    "chat-null-content-reasoned-to-the-end": Reply(
        [
            empty(0, TO_THE_END, usage=CHAT_USAGE, cut=False),
            empty(1, SO_FAR, answer=b'""', usage=CHAT_USAGE),
        ],
        Usage(40, 10),
    ),
    "chat-null-content-without-reasoning": Reply(
        [
            empty(0, usage=CHAT_USAGE, cut=False),
            empty(1, CUT_SHORT, usage=CHAT_USAGE, cut=True),
        ],
        Usage(40, 10),
    ),
    "chat-tool-calls": Reply(
        [
            yes(0, LOOK_UP, usage=CHAT_USAGE, cut=False),
            yes(1, b'"I look it up."', usage=CHAT_USAGE, cut=False),
        ],
        Usage(40, 10),
    ),
    "chat-refusal": Reply([empty(0, DECLINED, usage=CHAT_USAGE, cut=False)], Usage(40, 10)),
    "response-tool-calls": Reply(
        [
            yes(
                0,
                b'[{"name": "look_up", "arguments": {"city": "Oslo"}}]',
                usage=b'{"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15}',
            ),
            yes(1, b'"Oslo"'),
        ]
    ),
    "response-null-beside-choices": Reply(
        [yes(0, b'"Yes"', cut=False), yes(1, b'"It begins well, and th"', cut=True)]
    ),
    "text-completion": Reply(
        [
            yes(
                0,
                b'"\\n\\nYes"',
                ref="r0",
                usage=b'{"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}',
                cut=False,
            ),
            yes(1, b'"It begins well, and th"', ref="r1", cut=True),
            empty(2, CUT_SHORT, answer=b'""', cut=True),
        ]
    ),
    "responses-object": Reply([yes(0, b'"Yes, no"', usage=OBJECT_USAGE, cut=False)], Usage(40, 10)),
    "responses-object-cut-off": Reply(
        [
            yes(0, b'"It begins well, and th"', usage=OBJECT_USAGE, cut=True),
            yes(1, b'"I was about to"', usage=OBJECT_USAGE, cut=False),
        ],
        Usage(40, 10),
    ),
    "responses-object-all-reasoning": Reply(
        [
            empty(0, ALL_REASONING, usage=OBJECT_USAGE, cut=True),
            empty(1, TO_THE_END, usage=OBJECT_USAGE, cut=False),
        ],
        Usage(40, 10),
    ),
    "responses-object-function-calls": Reply(
        [
            yes(
                0,
                b'[{"type": "function_call", "call_id": "call_1", "name": "look_up", '
                b'"arguments": "{}"},{"type": "function_call", "call_id": "call_2", '
                b'"name": "tell", "arguments": "{}"}]',
                usage=OBJECT_USAGE,
                cut=False,
            )
        ],
        Usage(40, 10),
    ),
    "items-with-both-id-and-index": Reply(
        [yes(1, b'"second"'), yes(0, b'"first"'), yes(2, b'"third"')]
    ),
    "items-with-text-ids": Reply(
        [
            yes(1, b'"second"', ref="row-2"),
            yes(0, b'"first"', ref="row-1"),
            yes(None, b'"which?"', ref="row-3"),
        ]
    ),
    "items-without-an-id": Reply(
        [
            yes(None, b'"second"', ref="row-2"),
            yes(None, b'"first"', ref="row-1"),
            yes(None, b'"nobody\'s"'),
        ]
    ),
    "unknown-fields": Reply(
        [
            yes(0, b'"Yes"', ref="a"),
            yes(1, b'{"summary": "In a shape of its own", "score": 3}'),
        ],
        Usage(4, 2),
    ),
    "failed-items": Reply(
        [
            no(0, "Cloudflare says: “The prompt is too long”.", ref="a"),
            no(1, "Cloudflare says: “Context too long”.", ref="b"),
            no(2, "Cloudflare says: “Internal error”.", ref="c"),
            no(3, "Cloudflare says: “JSON Mode couldn't be met”.", ref="d"),
            no(4, "Cloudflare gives no reason.", ref="e"),
        ],
        Usage(0, 0),
    ),
    "empty-answers": Reply(
        [
            empty(0, answer=b'""'),
            empty(1),
            empty(2),
            empty(3),
            empty(4, answer=b'"```json\\n{\\"names\\": []}\\n```"'),
        ]
    ),
    "items-left-out-and-null": Reply(
        [yes(3, b'"only this one"'), no(None, "Cloudflare gives no reason.")]
    ),
}
UNDER_WAY = {
    "queued": "queued",
    "running": "running",
    "running-without-an-envelope": "running",
}
RAN_OUT = (
    "Cloudflare could not answer these rows. Cloudflare says: “The worker ran out of memory”. Send "
    "them again, or choose another model."
)
INVALID = (
    "Cloudflare accepted these rows, then found that this model cannot take such a request. "
    "Cloudflare says: “{}”. Waiting does not help. Change the question, the options or the model, "
    "then send the rows again."
)
NO_QUEUE = (
    "The model cannot do what was asked. Cloudflare says: “This model does not support request "
    "queuing”. Waiting does not help. Choose another model or shorten the texts, then send the "
    "rows again."
)
GONE = (
    "Cloudflare no longer has this result, or does not know it. Cloudflare says: “Request not "
    "found in queue”. If that does not change, send the rows again."
)
UNUSABLE = (
    "Cloudflare's answer could not be used (HTTP 200).{} Nothing is lost, and this usually passes. "
    "If it goes on for hours, look at www.cloudflarestatus.com."
)
# The error, its code, its sentence, and whether the reply is kept for "Technical details".
FAILED: dict[str, tuple[type[CloudflareError], int | None, str, bool]] = {
    "failed-by-its-status": (Refused, None, RAN_OUT, True),
    "failed-by-its-status-with-a-code": (
        Refused,
        3030,
        INVALID.format("Batch validation failed: at '/requests/0'"),
        False,
    ),
    "failed-by-errors-without-a-result": (
        Refused,
        3030,
        INVALID.format("Batch validation failed"),
        False,
    ),
    "failed-by-errors-and-a-null-result": (Refused, 8007, NO_QUEUE, False),
    "failed-by-errors-within-the-result": (Gone, 5504, GONE, False),
    "failed-with-a-code-nobody-knows": (
        BadReply,
        4711,
        UNUSABLE.format(" Cloudflare says: “The dog ate it”."),
        True,
    ),
    "the-array-is-missing": (BadReply, None, UNUSABLE.format(""), True),
    "an-envelope-without-a-result": (BadReply, None, UNUSABLE.format(""), True),
}


def body_of(name: str) -> bytes:
    return (FOLDER / f"{name}.json").read_bytes()


def test_every_file_has_what_must_come_of_it() -> None:
    names = {path.stem for path in FOLDER.glob("*.json")}
    assert names == {*FINISHED, *UNDER_WAY, *FAILED}


@pytest.mark.parametrize("name", FINISHED)
def test_a_finished_reply_of_this_form_is_read_to_the_byte(
    server: ScriptedServer, client: RestClient, name: str
) -> None:
    server.script(reply(200, body_of(name)))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert decode(spool.read(), request_id=REQUEST_ID) == FINISHED[name]


@pytest.mark.parametrize("name", UNDER_WAY)
def test_a_request_that_is_not_finished_has_a_status(
    server: ScriptedServer, client: RestClient, name: str
) -> None:
    server.script(reply(200, body_of(name)))
    assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) == UNDER_WAY[name]


@pytest.mark.parametrize("name", FAILED)
def test_a_request_that_failed_as_a_whole_says_why(
    server: ScriptedServer, client: RestClient, name: str
) -> None:
    kind, code, sentence, is_kept = FAILED[name]
    server.script(reply(200, body_of(name)))
    with pytest.raises(CloudflareError) as caught:
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    error = caught.value
    assert (type(error), error.code, error.user_message) == (kind, code, sentence)
    assert error.raw == (body_of(name).decode().strip() if is_kept else "")
