"""Pictures to test with: in archives, and at addresses of this machine."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from django.core.files.base import ContentFile
from PIL import Image

from batchui.batches import picture_archives
from batchui.batches.models import Batch
from tests.batches.conftest import MODEL

# Of a model that sees.
SEES, BLIND = MODEL, "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
LOOK: dict[str, Any] = {"model": SEES, "template": "What is it?", "picture_column": "photo"}


def jpeg(colour: str = "red", size: tuple[int, int] = (64, 48)) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", size, colour).save(made, "JPEG")
    return made.getvalue()


def archive(*names: str, **others: bytes) -> bytes:
    """A ZIP archive of small pictures with these names; others: its other files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name in names:
            made.writestr(name, jpeg())
        for name, content in others.items():
            made.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def naming(*photos: str) -> bytes:
    """A CSV file whose rows name these pictures."""
    lines = [f"{number},{photo}" for number, photo in enumerate(photos, 1)]
    return "\n".join(["id,photo", *lines, ""]).encode()


def add_archive(batch: Batch, content: bytes, name: str = "photos.zip") -> None:
    picture_archives.add(batch, ContentFile(content, name))


class PictureServer:
    """Serves pictures on this machine. replies: what comes of a path: bytes, or a status.

    asked: the paths, in order.
    """

    def __init__(self, replies: Mapping[str, bytes | int]) -> None:
        self.replies, self.asked = dict(replies), list[str]()
        self.port = 0

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def address(self, path: str) -> str:
        return f"http://{self.host}{path}"


@contextmanager
def picture_server(**replies: bytes | int) -> Iterator[PictureServer]:
    """A server; `a_jpg=…` is at /a.jpg."""
    served = PictureServer({f"/{name.replace('_', '.')}": what for name, what in replies.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            reply = served.replies.get(self.path, 404)
            self.send_response(200 if isinstance(reply, bytes) else reply)
            body = reply if isinstance(reply, bytes) else b""
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
