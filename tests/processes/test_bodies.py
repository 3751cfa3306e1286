"""What the web server keeps of a request's body, in chunks or of a length that was announced."""

import time
from typing import Any

import pytest
from waitress.adjustments import Adjustments

from batchui.processes.bodies import FRAMING_BYTES, PIECE_BYTES, THROWN_AWAY, Parser

HEAD = b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


class AnyLength(Parser):
    most_bytes = staticmethod(lambda *_: 1 << 40)


def parser(sent: bytes = b"") -> Any:
    """A parser that has read a head, and what was sent after it."""
    reads = AnyLength(Adjustments(max_request_body_size=1 << 62, inbuf_overflow=1 << 30))
    assert reads.received(HEAD) == len(HEAD)
    if sent:
        assert reads.received(sent) == len(sent)
    return reads


def chunk(content: bytes, extension: bytes = b"") -> bytes:
    return b"%x%s\r\n%s\r\n" % (len(content), extension, content)


def cpu_seconds(packet: bytes, times: int = 1) -> float:
    """What it costs to read so many packets."""
    reads, begun = parser(), time.process_time()
    for _ in range(times):
        reads.received(packet)
    assert reads.error is None
    return time.process_time() - begun


@pytest.mark.parametrize(
    ("begin", "endless"),
    [
        pytest.param(b"1;", b"a", id="a control line"),
        pytest.param(b"0\r\nx: ", b"a", id="a trailer"),
        pytest.param(chunk(b"x" * 1_000_000) + b"1;", b"a", id="a control line after content"),
        pytest.param(chunk(b"x" * 1_000_000) + b"0\r\nx: ", b"a", id="a trailer after content"),
        pytest.param(b"", b"\r\n", id="blank lines"),
        pytest.param(b"", chunk(b"x"), id="chunks of a byte"),
    ],
)
def test_a_chunked_body_without_content_is_refused_at_once(begin: bytes, endless: bytes) -> None:
    reads = parser(begin)
    packet = endless * (2 * PIECE_BYTES // len(endless))
    assert reads.received(packet) == len(packet)  # the rest is no other request
    assert reads.completed
    assert reads.error.code == 400


@pytest.mark.parametrize("size", [1, 40])
def test_chunks_that_are_too_small_are_refused_also_if_few_come_at_a_time(size: int) -> None:
    reads, packet = parser(), chunk(b"x" * size) * 20
    for _ in range(FRAMING_BYTES // 16):
        reads.received(packet)
        if reads.error:
            break
    assert reads.error.code == 400


def test_chunks_with_extensions_and_a_trailer_are_read() -> None:
    content = bytes(range(256)) * 4
    sent = chunk(content, b";signed=yes") * 500 + b"0\r\nX-Sum: 5\r\n\r\n"
    reads = parser()
    for at in range(0, len(sent), 10_007):
        assert reads.received(sent[at : at + 10_007]) == len(sent[at : at + 10_007])
    assert (reads.completed, reads.error) == (True, None)
    assert reads.get_body_stream().read() == content * 500


def test_what_comes_after_a_chunked_body_is_left_for_the_next_request() -> None:
    body = chunk(b"x") + b"0\r\n\r\n"
    reads = parser()
    assert reads.received(body + b"GET / HTTP/1.1\r\n") == len(body)
    assert reads.completed


def test_many_chunks_in_a_packet_cost_no_more_than_in_many_packets() -> None:
    small = chunk(b"x" * 50) * 250
    cpu_seconds(small)  # what is loaded the first time
    many = cpu_seconds(small, times=80)
    assert cpu_seconds(small * 80) < 5 * many


def test_nothing_more_is_kept_of_a_chunked_body_whose_sender_was_refused() -> None:
    reads = parser(chunk(b"x" * 1_000))
    reads.is_refused = True
    reads.received(chunk(b"x" * 1_000))
    assert reads.error.code == 413


def test_only_the_web_server_says_that_a_body_was_thrown_away() -> None:
    class Small(AnyLength):
        most_bytes = staticmethod(lambda *_: 10)

    for length, said in ((10, None), (11, "1")):
        reads = Small(Adjustments())
        head = f"POST / HTTP/1.1\r\nThrown-Away: mine\r\nContent-Length: {length}\r\n\r\n"
        reads.received(head.encode())
        assert reads.headers.get(THROWN_AWAY) == said
