"""A small site for the tests of the web server: `python -m … PORT [JSON]`.

The JSON sets constants of the server's modules and of this one, so that a deadline is not a minute.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from batchui.processes import channels, serving

MOST_BYTES = 200_000
BEHIND_PROXY = False
# Who was asked for.
asked: list[str] = []


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterator[bytes]:
    path = environ["PATH_INFO"]
    length = [("Content-Length", "100000")] if path in ("/long", "/broken") else []
    if path == "/nothing":
        start("204 No Content", [])
        return iter(())
    start("200 OK", [("Content-Type", "text/plain"), *length])
    return body_of(path, environ)


def body_of(path: str, environ: dict[str, Any]) -> Iterator[bytes]:
    if path == "/pid":
        yield str(os.getpid()).encode()
    elif path in ("/body", "/shared"):
        body = environ["wsgi.input"].read()
        yield json.dumps([environ.get("CONTENT_LENGTH"), len(body)]).encode()
    elif path == "/long":
        yield b"x" * 100_000
    elif path == "/broken":
        yield b"x" * 60_000
        raise ValueError("a damaged file")
    elif path == "/large":
        for _ in range(400):
            yield b"x" * 100_000
    elif path == "/slowly":  # not the client's doing
        yield b"begun "
        time.sleep(3)
        yield b"done"
    elif path == "/asked":
        yield json.dumps(asked).encode()
    elif path == "/proxy":
        yield environ.get("HTTP_X_FORWARDED_PROTO", "").encode()
    else:
        yield b"page"


def most_bytes(path: str, headers: Any, under_way: int) -> int:
    return MOST_BYTES - (under_way if path == "/shared" else 0)


def may_send(headers: Any) -> bool:
    asked.append(headers.get("WHO", ""))
    return asked[-1] != "removed"


if __name__ == "__main__":
    for name, value in json.loads((sys.argv[2:] or ["{}"])[0]).items():
        for module in (channels, serving, sys.modules[__name__]):
            if hasattr(module, name):
                setattr(module, name, value)
    sys.exit(
        serving.serve(
            lambda: serving.Site(application, most_bytes, may_send, behind_proxy=BEHIND_PROXY),
            host="127.0.0.1",
            port=int(sys.argv[1]),
            processes=1,
            threads=2,
            seconds_to_stop=30,
        )
    )
