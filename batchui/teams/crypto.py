"""Encrypts stored secrets, with Fernet and `settings.ENCRYPTION_KEYS` (newest key first).

Encrypting uses the first key; decrypting tries all of them. To replace a key, put the new one in
front of it, and remove the old one when nothing is encrypted with it any more.
"""

from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from batchui.keys import Hidden
from batchui.teams.problems import UnreadableSecret


def encrypt(secret: str) -> str:
    """Return `secret` encrypted with the newest key, as ASCII text."""
    return _fernet().encrypt(secret.encode()).decode("ascii")


def decrypt(encrypted: str) -> str:
    """Return the secret that was encrypted. Raises UnreadableSecret if none of the keys fits."""
    try:
        return Hidden(_fernet().decrypt(encrypted.encode()).decode())
    except InvalidToken:
        raise UnreadableSecret(
            "A stored API token cannot be read: none of the keys in BATCHUI_ENCRYPTION_KEYS fits. "
            "Add the key it was stored with to the end of the list, or store the token again: on "
            "the page Connections, or with CLOUDFLARE_API_TOKEN and another start of batchui."
        ) from None


def fits(encrypted: str, keys: Sequence[str]) -> bool:
    """Whether a secret can be read with one of these keys; an empty one is none."""
    try:
        MultiFernet([Fernet(key) for key in keys if key]).decrypt(encrypted.encode())
    except (InvalidToken, ValueError):
        return False
    return True


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
