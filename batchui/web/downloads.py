"""Downloads: the same file with the answers, streamed, at any time."""

import logging
from collections.abc import Iterator

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header

from batchui import security_log
from batchui.batches import files, uploads
from batchui.batches.compressed import IF_DAMAGED, read_compressed
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import NOT_STARTED, REPLY_IS_GONE
from batchui.batches.whole_files import file_name
from batchui.exports.zipped import zip_chunks
from batchui.web.access import with_batch
from batchui.web.download_limit import MOST_AT_ONCE, Counted, TooManyDownloads
from batchui.web.errors import FileLost, too_many_requests
from batchui.web.forms.download import DownloadForm
from batchui.web.members import MemberRequest

logger = logging.getLogger(__name__)

# For what came from outside: no page of this origin can use it as a script, whatever its name is.
UNTYPED = "application/octet-stream"
# A file that is opened instead of saved has no rights here.
NO_PAGE = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NO_SUCH_KIND = "There is no such kind of download. Choose one on the batch's page."
BROKEN_OFF = b"\r\nTHIS FILE IS NOT COMPLETE: the download broke off here. Download it again.\r\n"


@with_batch
def download(request: MemberRequest, batch: Batch, kind: str) -> HttpResponseBase:
    """The file with the answers so far, made while it is sent.

    `?only=`, `?columns=`, `?answer=`: what goes out; see `forms/download.py`.
    """
    refuse_unstarted(batch)
    asked = request.GET.copy()
    asked["kind"] = kind
    form = DownloadForm(asked, batch=batch)
    if kind not in form.kinds:
        raise Http404(NO_SUCH_KIND)
    if not form.is_valid():
        raise Http404("This batch has no such rows or columns. Choose them on the batch's page.")
    return made_while_sent(request, batch, form)


def made_while_sent(request: MemberRequest, batch: Batch, form: DownloadForm) -> HttpResponseBase:
    """What a valid form says. Raises Http404 for a kind that has to be made as a whole."""
    kind = form.cleaned_data["kind"]
    made = form.kinds[kind]
    if made.chunks is None:
        raise Http404(NO_SUCH_KIND)
    security_log.record("downloaded", who=request.user.in_log, batch=batch.pk, what=kind)
    name = file_name(batch, kind, timezone.localdate())
    chunks, content_type = made.chunks(batch, form.choice), made.content_type
    if form.cleaned_data["packed"]:
        chunks = zip_chunks(chunks, name, made=timezone.localtime())
        content_type, name = "application/zip", f"{name}.zip"
    else:
        chunks = _whole_or_marked(chunks, batch)
    return streamed(
        request,
        chunks,
        content_type=content_type,
        # no-store: a minute later there may be more answers.
        headers=attachment(name) | {"Cache-Control": "no-store"},
    )


def refuse_unstarted(batch: Batch) -> None:
    """Raise Http404 for a draft."""
    if not batch.is_started:
        raise Http404(NOT_STARTED)


def streamed(
    request: MemberRequest, chunks: Iterator[bytes], *, content_type: str, headers: dict[str, str]
) -> HttpResponseBase:
    """The chunks, which are made while they are sent; 429 if too many are on their way already."""
    try:
        counted = Counted(chunks, person=request.user.pk)
    except TooManyDownloads:
        return too_many_requests(
            request,
            f"You are downloading {MOST_AT_ONCE} files at the moment. When one of them is "
            "complete, this one can begin.",
        )
    return StreamingHttpResponse(counted, content_type=content_type, headers=headers)


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
    if not batch.source_file:
        raise Http404("The file of this draft is not made yet.")
    if not default_storage.exists(batch.source_file):
        raise FileLost(f"The uploaded file is not there any more. {IF_DAMAGED}")
    security_log.record("downloaded", who=request.user.in_log, batch=batch.pk, what="upload")
    if uploads.is_compressed(batch.source_file):
        return streamed(
            request,
            uploads.chunks_of(batch),
            content_type=UNTYPED,
            # By it a browser tells that the download broke off.
            headers=attachment(batch.source_name) | {"Content-Length": str(batch.source_size)},
        )
    return FileResponse(
        files.open_file(batch.source_file),
        as_attachment=True,
        filename=batch.source_name,
        content_type=UNTYPED,
        headers=NO_PAGE,
    )


@with_batch
def raw_reply(request: MemberRequest, batch: Batch, number: int, attempt: int) -> HttpResponseBase:
    """Cloudflare's raw reply to one attempt."""
    part: Part | None = batch.parts.filter(number=number).first()
    found = part.attempts.filter(number=attempt).first() if part else None
    if found is None or not found.reply_file:
        is_gone = found is not None and found.reply_is_gone
        raise Http404(REPLY_IS_GONE if is_gone else "No reply is kept for this attempt.")
    security_log.record("downloaded", who=request.user.in_log, batch=batch.pk, what="raw reply")
    return streamed(
        request,
        read_compressed(found.reply_file),
        content_type=UNTYPED,
        headers=attachment(f"part-{number}-attempt-{attempt}.json"),
    )


def attachment(name: str) -> dict[str, str]:
    """The headers of a file to be saved under this name."""
    return NO_PAGE | {"Content-Disposition": content_disposition_header(True, name) or "attachment"}
