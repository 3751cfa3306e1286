"""Downloads: the same file with the answers, streamed, at any time."""

import logging
from collections.abc import Iterator

from django.http import FileResponse, Http404, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from batchui.batches import exporting, files
from batchui.batches.models import Batch, Part
from batchui.exports.names import download_name
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest

logger = logging.getLogger(__name__)

BROKEN_OFF = b"\r\nTHIS FILE IS NOT COMPLETE: the download broke off here. Download it again.\r\n"


@with_batch
def download(request: MemberRequest, batch: Batch, kind: str) -> HttpResponseBase:
    """The file with the answers so far."""
    if kind not in exporting.KINDS:
        raise Http404("There is no such kind of download. Choose CSV or JSON on the batch's page.")
    if not batch.is_started:
        raise Http404("This batch has not been started, so there are no answers to download yet.")
    made = exporting.KINDS[kind]
    name = download_name(batch.source_name, made.ending)
    return StreamingHttpResponse(
        _whole_or_marked(made.chunks(batch), batch),
        content_type=made.content_type,
        headers={
            "Content-Disposition": _attachment(name),
            "Cache-Control": "no-store",  # a minute later there may be more answers
            "X-Accel-Buffering": "no",
        },
    )


def _whole_or_marked(chunks: Iterator[bytes], batch: Batch) -> Iterator[bytes]:
    """The chunks; if they break off, also a last line that says so.

    The server ends the response properly even then, so half a file would look like a whole one.
    In JSON this line makes the file invalid, on purpose.
    """
    try:
        yield from chunks
    except Exception:
        logger.exception("A download of batch %s broke off", batch.pk)
        yield BROKEN_OFF


@with_batch
def source(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """The file as it was uploaded, byte for byte."""
    return FileResponse(
        files.open_file(batch.source_file), as_attachment=True, filename=batch.source_name
    )


@with_batch
def raw_reply(request: MemberRequest, batch: Batch, number: int, attempt: int) -> HttpResponseBase:
    """Cloudflare's raw reply to one attempt."""
    part: Part | None = batch.parts.filter(number=number).first()
    found = part.attempts.filter(number=attempt).first() if part else None
    if found is None or not found.reply_file:
        raise Http404("No reply is kept for this attempt.")
    return StreamingHttpResponse(
        files.read_compressed(found.reply_file),
        content_type="application/json",
        headers={"Content-Disposition": _attachment(f"part-{number}-attempt-{attempt}.json")},
    )


def _attachment(name: str) -> str:
    return content_disposition_header(True, name) or "attachment"
