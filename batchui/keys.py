"""Keys: reads them from a list, makes random ones, and keeps them in files."""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from pathlib import Path

from cryptography.fernet import Fernet


class Hidden(str):
    """A secret text. It is not shown where settings, variables or errors are shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[hidden]'"


def split_keys(text: str) -> list[str]:
    """The keys in a list separated by commas or blanks, newest first."""
    return [Hidden(key) for key in text.replace(",", " ").split()]


def is_fernet(key: str) -> bool:
    """Whether `key` is a Fernet key: 32 bytes in URL-safe Base64."""
    try:
        Fernet(key)
    except ValueError:
        return False
    return True


def new_secret() -> str:
    """64 random characters."""
    return secrets.token_urlsafe(48)


def new_fernet_key() -> str:
    """32 random bytes in URL-safe Base64."""
    return urlsafe_b64encode(os.urandom(32)).decode()


def derived(secret: str, *, purpose: str) -> str:
    """64 characters that only somebody who knows `secret` can find; others for each purpose."""
    return hmac.new(secret.encode(), f"batchui: {purpose}".encode(), hashlib.sha256).hexdigest()


def kept_text(path: Path) -> str:
    """The text in the file `path`; "" if there is no such file. Raises OSError."""
    try:
        return path.read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def keep(path: Path, text: str) -> str:
    """Write `text` to `path` (mode 600), whole and on the disk, unless the file exists already.

    Returns the stored text. If several processes write, the first wins and all return its text.
    Raises OSError if the folder cannot be written or the file cannot be read.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
