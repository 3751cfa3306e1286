"""What stands at the edge that is not ours: name servers, certificates, slow machines."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from batchui.pictures import connecting


class Names:
    """A name server: what each look-up of any host gives, the last one for all that follow."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: list[str] | Exception) -> None:
        self.asked: list[tuple[Any, Any]] = []
        self._answers = list(answers)
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)

    def _look_up(self, host: Any, port: Any, **wanted: Any) -> list[Any]:
        assert wanted == {"type": socket.SOCK_STREAM}
        assert threading.current_thread().daemon, "a slow one would keep the program from ending"
        self.asked.append((host, port))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return [
            (
                socket.AF_INET6 if ":" in one else socket.AF_INET,
                *(socket.SOCK_STREAM, 6, ""),
                (one, port, 0, 0) if ":" in one else (one, port),
            )
            for one in answer
        ]


def lead_to(
    monkeypatch: pytest.MonkeyPatch, place: tuple[str, int], *, refusing: tuple[str, ...] = ()
) -> list[Any]:
    """Connect to `place` instead of anywhere else. What was meant is in the list."""
    meant: list[Any] = []
    connect = socket.socket.connect

    def elsewhere(self: socket.socket, peer: Any) -> None:
        meant.append(peer)
        if peer[0] in refusing:
            raise ConnectionRefusedError
        connect(self, place)

    monkeypatch.setattr(socket.socket, "connect", elsewhere)
    return meant


@contextmanager
def listening(act: Callable[[socket.socket], None]) -> Iterator[int]:
    """A machine that does this with each connection. Yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    one, _ = listener.accept()
                    threading.Thread(target=run, args=(one,), daemon=True).start()

        def run(one: socket.socket) -> None:
            with suppress(OSError), one:
                act(one)

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


Key = ec.EllipticCurvePrivateKey


def certified(folder: Path, name: str) -> ssl.SSLContext:
    """TLS of a host of this name, by an authority whose certificate is folder/authority.pem."""
    authority, key = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP256R1()),
    )
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority for a test")])
    root = _certificate(issuer, issuer, authority, authority).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    root = root.add_extension(
        x509.KeyUsage(*(False,) * 5, key_cert_sign=True, crl_sign=True, **_NOT_USED), critical=True
    )
    leaf = _certificate(x509.Name([]), issuer, key, authority).add_extension(
        x509.SubjectAlternativeName([x509.DNSName(name)]), critical=True
    )
    (folder / "authority.pem").write_bytes(
        root.sign(authority, hashes.SHA256()).public_bytes(Encoding.PEM)
    )
    chain = folder / "chain.pem"
    chain.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + leaf.sign(authority, hashes.SHA256()).public_bytes(Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context


_NOT_USED = {"encipher_only": False, "decipher_only": False}


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: Key, authority: Key
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(issuer_name=issuer, subject_name=subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()),
            critical=False,
        )
    )


@contextmanager
def trusting(monkeypatch: pytest.MonkeyPatch, authority: Path) -> Iterator[None]:
    """This machine trusts that authority, as OpenSSL is told."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    connecting._certificates.cache_clear()
    yield
    connecting._certificates.cache_clear()
