"""Sentences about what is no picture, or one of a kind that is not read."""

import re

from batchui.pictures.problems import NoPicture

_LOOKED_AT = 1024
_SAVE = "Save it as JPEG or PNG"
_PAGE = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b")
_DRAWING = re.compile(rb"<svg\b")
# The brands of ISO/IEC 23008-12: pictures in the way of HEVC.
_HEIC = re.compile(rb".{4}ftyp(?:hei[cxms]|hev[cxms]|mif1|msf1)", re.S)
_KINDS = [
    (_HEIC, "This is a HEIC picture, which cannot be read. Save it as JPEG."),
    (re.compile(rb"%PDF-"), f"This is a PDF document. {_SAVE} first, a picture for each page."),
    (
        re.compile(rb".{4}ftypavi[fs]", re.S),
        "This AVIF picture is damaged, or of a kind that cannot be read. Save it as JPEG.",
    ),
    (re.compile(rb".{4}ftyp", re.S), f"This is a film. {_SAVE} what it shows at one moment."),
]


def no_picture(content: bytes) -> NoPicture:
    """The error for bytes that are no picture of a kind that is read."""
    start = content[:_LOOKED_AT].lstrip(b"\xef\xbb\xbf \t\r\n\0").lower()
    if not content:
        return NoPicture("The picture has no bytes. Put another one in its place.")
    if start.startswith(b"<") and _PAGE.search(start):
        return NoPicture(
            "This is a web page and no picture: one around the picture, or one for signing in. "
            "Put the address of the picture itself in the cell."
        )
    if start.startswith(b"<") and _DRAWING.search(start):
        return NoPicture(f"This is an SVG drawing. {_SAVE}.")
    for kind, sentence in _KINDS:
        if kind.match(content):
            return NoPicture(sentence)
    return NoPicture(f"This is no picture of a kind that can be read. {_SAVE}.")
