"""Takes secrets out of all that comes from outside, however they are written there.

Some servers repeat what they received, also the header with the token; and replies are shown,
stored and logged.
"""

import base64
import re

MARK = b"[token]"
# A part of base64 shorter than this would be found in texts that have nothing to do with it.
SHORTEST_BASE64 = 16
# The longest way to write one character.
LONGEST_ESCAPE = len("&#x000061;")


class Redactor:
    """Replaces each of some secrets by "[token]".

    One is found as it is; with characters as escapes of JSON (`\\u0061`, also doubly escaped), of
    addresses (`%61`) or of HTML (`&#97;`, `&#x61;`); and in base64, alone or within a longer text.
    An empty secret is nowhere.
    """

    def __init__(self, *secrets: str) -> None:
        all_plain = [secret.encode() for secret in secrets if secret]
        self._plain = [one for plain in all_plain for one in (plain, *in_base64(plain))]
        self._escapes = [escape for plain in all_plain for escape in _escapes(plain)]
        written = (b"".join(map(_written, plain)) for plain in all_plain)
        self._escaped = re.compile(b"|".join(written))
        # The longest way to write one: how much of a stream may be the beginning of a secret.
        self.longest = max(map(len, all_plain), default=0) * LONGEST_ESCAPE

    def __repr__(self) -> str:
        return "<Redactor>"

    def bytes(self, data: bytes) -> bytes:
        """The data without the secrets."""
        for written in self._plain:
            if written in data:
                data = data.replace(written, MARK)
        # Ten times as slow as the search above, so only where one of the characters is escaped.
        if any(_is_in(data, begins) and escape.search(data) for begins, escape in self._escapes):
            data = self._escaped.sub(MARK, data)
        return data

    def text(self, text: str) -> str:
        """The text without the secrets."""
        return self.bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def _is_in(data: bytes, begins: bytes) -> bool:
    """Whether an escape may begin there. Looking for its first character is much quicker."""
    return begins[:1] in data and begins in data


class RedactedStream:
    """Takes a secret out of a stream of bytes, also where it is cut into two pieces."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""

    def write(self, piece: bytes) -> bytes:
        """What can be passed on after this piece. The end of it may be held back."""
        data = self._redactor.bytes(self._held + piece)
        keep = max(0, len(data) - self._redactor.longest)
        self._held = data[keep:]
        return data[:keep]

    def end(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return held


def _escapes(secret: bytes) -> list[tuple[bytes, re.Pattern[bytes]]]:
    """Patterns for one escaped character of the secret, each with how it begins."""
    codes = sorted(set(secret))
    hexadecimal = b"|".join(b"%02x" % code for code in codes)
    decimal = b"|".join(b"%d;" % code for code in codes)
    signs = b"".join(re.escape(bytes([code])) for code in codes if not chr(code).isalnum())
    escapes = {
        rb"\u00": rb"\\u00(?i:%b)" % hexadecimal,
        b"%": b"%%(?i:%b)" % hexadecimal,
        b"&#": b"&#(?:0{0,4}(?:%b)|[xX]0{0,4}(?i:%b);)" % (decimal, hexadecimal),
    }
    if signs:
        escapes[b"\\"] = rb"\\[%b]" % signs
    return [(begins, re.compile(escape)) for begins, escape in escapes.items()]


def _written(code: int) -> bytes:
    """A pattern for the ways to write one character of a secret."""
    plain = re.escape(bytes([code]))
    if not chr(code).isalnum():
        plain = rb"\\{0,4}" + plain
    ways = (
        plain,
        rb"\\{1,4}u00(?i:%02x)" % code,
        b"%%(?i:%02x)" % code,
        b"&#(?:0{0,4}%d|[xX]0{0,4}(?i:%02x));" % (code, code),
    )
    return b"(?:%b)" % b"|".join(ways)


def in_base64(secret: bytes, *, shortest: int = SHORTEST_BASE64) -> list[bytes]:
    """The characters that stand for the secret in base64, wherever in a text it begins.

    In both alphabets, that of addresses too. Leaves out what is shorter than `shortest`.
    """
    found: list[bytes] = []
    for before in range(3):
        coded = base64.b64encode(bytes(before) + secret)
        # The first and the last characters depend on what stands around the secret too.
        whole = coded[-(-before * 8 // 6) : (before + len(secret)) * 8 // 6]
        if len(whole) >= shortest:
            found += {whole, whole.translate(bytes.maketrans(b"+/", b"-_"))}
    return found
