"""Whether the pages answer, asked of a server from outside."""

import pytest

from batchui.processes.web_server import answers
from batchui.up.ports import free_port
from tests.cloudflare.server import Act, cut, raw, reply, scripted_server


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (reply(200, b"ok"), True),
        (reply(503, b"not yet"), False),
        (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), False),
        (cut(), False),
    ],
    ids=["ok", "not yet", "not HTTP", "cut"],
)
def test_only_a_200_is_an_answer(act: Act, expected: bool) -> None:
    with scripted_server() as server:
        server.script(act)
        assert answers(server.address, timeout=5) is expected
        assert [call.path for call in server.received] == ["/healthz"]


def test_a_port_that_nobody_listens_on_does_not_answer() -> None:
    assert not answers(f"127.0.0.1:{free_port(0)}", timeout=5)
