"""Replies of any size: streamed to the spool, unpacked under a cap, whole or not at all."""

import gzip
import io
import json
import tempfile
import tracemalloc
import zlib
from typing import Any

import pytest

from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply, CloudflareError, MaybeSent, Oversized
from batchui.cloudflare.replies import decode
from tests.cloudflare.conftest import ACCOUNT, MODEL, REQUEST_ID, TOKEN, finished, queued
from tests.cloudflare.server import (
    Act,
    ScriptedServer,
    dripping,
    raw,
    reply,
    truncated,
    truncated_chunks,
    until_close,
)

ITEMS = [
    {"id": i, "result": {"response": f"Answer {i} é " * 20}, "success": True} for i in range(900)
]
LONG = json.dumps(finished(*ITEMS), ensure_ascii=False).encode()


def poll_error(client: RestClient, *, max_bytes: int = 10**9) -> BadReply:
    with pytest.raises(BadReply) as caught:
        client.poll(MODEL, REQUEST_ID, io.BytesIO(), max_bytes=max_bytes)
    return caught.value


def test_a_long_reply_arrives_byte_for_byte(server: ScriptedServer, client: RestClient) -> None:
    assert len(LONG) > 200_000
    server.script(reply(200, LONG))
    with tempfile.TemporaryFile() as spool:
        assert client.poll(MODEL, REQUEST_ID, spool) is None
        assert spool.tell() == 0
        assert spool.read() == LONG
    assert len(decode(LONG).items) == 900


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_a_packed_reply_is_unpacked(
    server: ScriptedServer, client: RestClient, encoding: str
) -> None:
    server.script(reply(200, gzip.compress(LONG), content_encoding=encoding))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert spool.getvalue() == LONG


def test_a_reply_packed_in_several_members_is_unpacked(
    server: ScriptedServer, client: RestClient
) -> None:
    packed = gzip.compress(LONG[:1000]) + gzip.compress(LONG[1000:])
    server.script(reply(200, packed, content_encoding="gzip"))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert spool.getvalue() == LONG


def test_a_body_of_64_kib_is_still_read_for_how_far_the_request_is(
    server: ScriptedServer, client: RestClient
) -> None:
    missing = 64 * 1024 - len(json.dumps(queued(padding="")))
    small, long = (json.dumps(queued(padding=" " * n)).encode() for n in (missing, missing + 1))
    assert len(small) == 64 * 1024
    server.script(reply(200, small), reply(200, long))
    assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) == "queued"
    assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) is None


def test_a_reply_that_says_it_is_not_packed_is_read(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, LONG, content_encoding="identity"))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert spool.getvalue() == LONG


def test_a_packed_acknowledgement_is_read(server: ScriptedServer, client: RestClient) -> None:
    packed = gzip.compress(json.dumps(queued()).encode())
    server.script(reply(200, packed, content_encoding="gzip"))
    assert client.submit(MODEL, b"{}").request_id == REQUEST_ID


@pytest.mark.parametrize(
    ("content", "encoding", "why"),
    [
        (gzip.compress(LONG)[:-20], "gzip", "the gzip body is cut short"),
        (gzip.compress(LONG)[:5000], "gzip", "the gzip body is cut short"),
        (b"", "gzip", "the gzip body is cut short"),
        (LONG, "gzip", "the gzip body is damaged: "),
        (zlib.compress(LONG), "gzip", "the gzip body is damaged: "),
        (gzip.compress(LONG) + b"rubbish", "gzip", "the gzip body is damaged: "),
        (gzip.compress(LONG) + zlib.compress(LONG), "gzip", "the gzip body is damaged: "),
        (LONG, "br", "the body is encoded as 'br'"),
        (LONG, "zstd", "the body is encoded as 'zstd'"),
    ],
    ids=[
        *("no end", "half", "nothing", "not gzip", "zlib"),
        *("rubbish after it", "zlib after it", "br", "zstd"),
    ],
)
def test_a_reply_that_cannot_be_unpacked_whole_is_asked_again(
    server: ScriptedServer, client: RestClient, content: bytes, encoding: str, why: str
) -> None:
    server.script(reply(200, content, content_encoding=encoding))
    error = poll_error(client)
    assert "did not arrive whole" in error.user_message
    assert f"unreadable: {why}" in str(error)
    assert error.http_status == 200
    with pytest.raises(MaybeSent, match=why):
        client.submit(MODEL, b"{}")


def test_a_reply_whose_line_break_comes_alone_is_taken(
    server: ScriptedServer, client: RestClient
) -> None:
    chunks = b"%x\r\n%b\r\n1\r\n\n\r\n0\r\n\r\n" % (len(LONG), LONG)
    server.script(raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert spool.getvalue() == LONG + b"\n"


@pytest.mark.parametrize("keep", [0, 1000, 100_000, len(LONG) - 1])
def test_a_reply_cut_short_is_asked_again_however_it_is_framed(
    server: ScriptedServer, client: RestClient, keep: int
) -> None:
    server.script(
        truncated(LONG, keep=keep),
        truncated_chunks(LONG[:keep]) if keep else truncated(LONG, keep=keep),
        until_close(LONG[:keep]),
    )
    for _ in range(3):
        poll_error(client)


def test_a_reply_without_a_length_is_taken_when_it_is_whole(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(until_close(LONG + b"\n"))
    spool = io.BytesIO()
    assert client.poll(MODEL, REQUEST_ID, spool) is None
    assert spool.getvalue() == LONG + b"\n"


def test_a_long_page_of_html_is_not_taken_for_a_reply(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, b"<html>" + b"x" * 100_000 + b"{}"))
    error = poll_error(client)
    assert "damaged" in error.user_message
    assert str(error) == "a long reply that is not one JSON object"


def test_a_long_reply_may_begin_with_blanks(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, b" \r\n" + LONG))
    assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) is None


def test_the_cap_counts_the_unpacked_bytes(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, LONG), reply(200, gzip.compress(LONG), content_encoding="gzip"))
    for _ in range(2):
        assert "larger than 100,000 bytes" in str(poll_error(client, max_bytes=100_000))


def test_a_reply_over_the_cap_is_another_error_than_one_that_is_cut_short(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, LONG), truncated(LONG, keep=100_000))
    over, cut = poll_error(client, max_bytes=70_000), poll_error(client, max_bytes=len(LONG))
    assert (type(over), type(cut)) == (Oversized, BadReply)
    assert over.user_message == (
        f"The answer of Cloudflare ({server.address}) is larger than batchui can read "
        "(70,000 bytes)."
    )
    assert over.http_status == cut.http_status == 200


@pytest.mark.parametrize(
    ("act", "comes"),
    [
        (truncated(LONG, keep=100_000), LONG[:100_000]),
        (truncated(LONG, keep=1_000), LONG[:1_000]),
        (reply(200, b"<html>not ours"), b"<html>not ours"),
        (reply(500, b"<html>broken"), b"<html>broken"),
        (reply(401, b'{"errors": []}'), b'{"errors": []}'),
        (reply(200, queued(status="odd")), json.dumps(queued(status="odd")).encode()),
        (reply(200, b""), b""),
    ],
    ids=["long", "short", "another page", "an error", "refused", "an odd status", "nothing"],
)
def test_the_spool_has_what_came_of_a_reply_that_cannot_be_used(
    server: ScriptedServer, client: RestClient, act: Act, comes: bytes
) -> None:
    server.script(act)
    spool = io.BytesIO(b"of an earlier poll")
    with pytest.raises(CloudflareError):
        client.poll(MODEL, REQUEST_ID, spool)
    assert spool.getvalue() == comes


def test_the_spool_has_no_more_than_the_cap(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, LONG))
    spool = io.BytesIO()
    with pytest.raises(Oversized):
        client.poll(MODEL, REQUEST_ID, spool, max_bytes=100_000)
    kept = len(spool.getvalue())
    assert LONG.startswith(spool.getvalue())
    assert 0 < kept <= 100_000


def test_a_reply_may_have_exactly_as_many_bytes_as_the_cap(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, LONG))
    assert client.poll(MODEL, REQUEST_ID, io.BytesIO(), max_bytes=len(LONG)) is None
    assert "larger than" in str(poll_error(client, max_bytes=len(LONG) - 1))


def test_without_another_cap_a_reply_ends_at_256_mib(server: ScriptedServer) -> None:
    class Sink(io.BytesIO):
        """Counts what is written, and keeps none of it."""

        total = 0

        def write(self, data: Any) -> int:
            self.total += len(data)
            return len(data)

    member = gzip.compress(b"{" + b" " * (16 * 1024 * 1024 - 1), 1)
    server.script(reply(200, member * 17, content_encoding="gzip"))
    spool = Sink()
    with (
        RestClient(account_id=ACCOUNT, token=TOKEN, base_url=server.base_url) as client,
        pytest.raises(BadReply, match="larger than 268,435,456 bytes"),
    ):
        client.poll(MODEL, REQUEST_ID, spool)
    assert spool.total <= 256 * 1024 * 1024


def test_an_acknowledgement_over_16_mib_is_no_receipt(server: ScriptedServer) -> None:
    body = json.dumps(queued(padding=" " * (16 * 1024 * 1024))).encode()
    server.script(reply(200, gzip.compress(body, 1), content_encoding="gzip"))
    with (
        RestClient(account_id=ACCOUNT, token=TOKEN, base_url=server.base_url) as client,
        pytest.raises(MaybeSent, match="larger than 16,777,216 bytes"),
    ):
        client.submit(MODEL, b"{}")


def test_a_bomb_of_gzip_never_fills_the_memory(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, gzip.compress(b"{" + b" " * 80_000_000), content_encoding="gzip"))
    tracemalloc.start()
    try:
        poll_error(client, max_bytes=70_000)
        with tempfile.TemporaryFile() as spool, pytest.raises(BadReply):
            client.poll(MODEL, REQUEST_ID, spool)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def test_a_long_reply_is_not_held_in_memory(server: ScriptedServer, client: RestClient) -> None:
    content = b'{"result":{"responses":[' + b" " * 30_000_000 + b"]}}"
    server.script(reply(200, gzip.compress(content, 1), content_encoding="gzip"))
    with tempfile.TemporaryFile() as spool:
        tracemalloc.start()
        try:
            assert client.poll(MODEL, REQUEST_ID, spool) is None
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert spool.seek(0, io.SEEK_END) == len(content)
    assert peak < 4_000_000


def test_a_body_that_drips_is_given_up(server: ScriptedServer) -> None:
    server.script(dripping(b"{" * 200, every=0.05))
    with RestClient(account_id=ACCOUNT, token=TOKEN, base_url=server.base_url, seconds=1) as client:
        assert "not finished in time" in str(poll_error(client))
        with pytest.raises(BadReply, match="not finished in time"):
            client.test_connection()


def test_a_full_disk_is_the_callers_to_know(server: ScriptedServer, client: RestClient) -> None:
    class FullDisk(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    server.script(reply(200, LONG))
    with pytest.raises(OSError, match="No space left"):
        client.poll(MODEL, REQUEST_ID, FullDisk())
