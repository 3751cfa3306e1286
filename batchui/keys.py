"""Keys that are made once and kept in the data folder."""

import os
import secrets
from base64 import urlsafe_b64encode
from pathlib import Path

from cryptography.fernet import Fernet


def split_keys(text: str) -> list[str]:
    """The keys in a list separated by commas or blanks, newest first."""
    return text.replace(",", " ").split()


def is_fernet(key: str) -> bool:
    """Whether `key` is 32 bytes in URL-safe Base64, as Fernet wants it."""
    try:
        Fernet(key)
    except ValueError:
        return False
    return True


def generated_key(path: Path, *, fernet: bool = False) -> str:
    """The key kept in `path` (mode 600), made there when the file is absent.

    A Fernet key is 32 random bytes in URL-safe Base64; any other is 64 random characters.
    Two processes that start together end with the same key: the first link wins. Raises OSError
    where the folder cannot be written or the file cannot be read.
    """
    if not path.exists():
        key = urlsafe_b64encode(os.urandom(32)).decode() if fernet else secrets.token_urlsafe(48)
        _write_once(path, key)
    return path.read_text().strip()


def _write_once(path: Path, text: str) -> None:
    """Make `path` with `text` in it, whole and on the disk, unless somebody else just did."""
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
