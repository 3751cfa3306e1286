"""Cleans what people paste: an account id, a token, an address. What belongs to it stays."""

import re
import unicodedata

from batchui.keys import Hidden

# What a page, a chat or a shell puts around a secret.
_AROUND = "\"'`´‘’“”„«»<>,;"
_BEARER = re.compile(r"^(authorization\s*:)?\s*bearer\b[\s:]*", re.IGNORECASE)
_ASSIGNED = re.compile(r"^(?:export\s+)?(?:CLOUDFLARE|CF|BATCHUI)_[A-Z0-9_]*\s*=")
_IN_ADDRESS = re.compile(
    r"\bcloudflare\.com/(?:[^\s]*/)??([0-9a-f]{32})(?![0-9a-f])", re.IGNORECASE
)
_ACCOUNT = re.compile(r"[0-9a-f]{32}")


def secret(text: str) -> str:
    """A pasted secret without what is around it.

    That is blanks, line ends (also within: long lines are broken), characters of no width, quotes,
    “Bearer” or a whole Authorization header, and the name of a variable before “=”.
    """
    text = _bare(text)
    text = _bare(_ASSIGNED.sub("", text))
    text = _bare(_BEARER.sub("", text))
    return Hidden(re.sub(r"\s+", "", text))


def account_id(text: str) -> str:
    """A pasted account id: alone, in an address of Cloudflare's dashboard or API, or assigned."""
    if found := _IN_ADDRESS.search(_without_invisible(text)):
        return found[1].lower()
    return secret(text).lower()


def worker_address(text: str) -> str:
    """The address of a Worker without what is around it; https where it names no scheme."""
    address = _bare(text).rstrip("/")
    return address if "://" in address or not address else f"https://{address}"


def is_account_id(text: str) -> bool:
    """Whether it looks like the account ids of Cloudflare: 32 digits, and letters from a to f."""
    return bool(_ACCOUNT.fullmatch(text))


def _bare(text: str) -> str:
    return _without_invisible(text).strip().strip(_AROUND).strip()


def _without_invisible(text: str) -> str:
    """Without characters that cannot be seen (category Cf, such as U+200B), no-break ones plain."""
    shown = (char for char in text if unicodedata.category(char) != "Cf")
    return "".join(" " if char.isspace() else char for char in shown)
