"""The certificates that calls trust: read once, however many threads begin at the same moment."""

import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from batchui.cloudflare import http_call
from batchui.cloudflare.http_call import trusted_by

THREADS = 4


@pytest.fixture(autouse=True)
def nothing_read() -> Iterator[None]:
    http_call._certificates.cache_clear()
    yield
    http_call._certificates.cache_clear()


def test_threads_that_begin_together_read_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[float] = []
    together = threading.Barrier(THREADS)

    def slowly(**_: object) -> ssl.SSLContext:
        read.append(time.monotonic())
        time.sleep(0.05)
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    def begin(_: int) -> ssl.SSLContext:
        together.wait(30)
        return trusted_by("https://api.cloudflare.com")

    monkeypatch.setattr(httpx, "create_ssl_context", slowly)
    with ThreadPoolExecutor(THREADS) as pool:
        contexts = set(pool.map(begin, range(THREADS)))
    assert len(contexts) == len(read) == 1


@pytest.mark.parametrize(("address", "some"), [("https://a.example", True), ("http://a", False)])
def test_only_https_trusts_somebody_and_nobody_goes_unchecked(address: str, some: bool) -> None:
    context = trusted_by(address)
    assert bool(context.get_ca_certs()) is some
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
