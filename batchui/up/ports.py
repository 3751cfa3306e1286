"""Addresses and ports of this machine (standard library only)."""

import errno
import socket

from batchui.up.errors import CannotStart

LAST_PORT = 65535
# How many ports after a taken one are tried, to name a free one.
NEIGHBOURS = 20


def refuse_taken_port(*, host: str, port: int) -> None:
    """Raise CannotStart (status 2) if it is not possible to listen at this address."""
    if not 1 <= port <= LAST_PORT:
        raise CannotStart(f"--port {port}: a port is a number from 1 to {LAST_PORT}.", status=2)
    try:
        _bind(host, port)
    except PermissionError:
        sentence = f"Port {port} needs administrator rights here. Choose one above 1023: --port "
        raise CannotStart(f"{sentence}{port + 8000}", status=2) from None
    except socket.gaierror:
        raise CannotStart(f"--host {host}: there is no such address.", status=2) from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CannotStart(
                f"Port {port} is taken: another program (perhaps another batchui) listens there. "
                f"Stop it, or choose another port{_for_example(host, port)}",
                status=2,
            ) from None
        raise CannotStart(f"--host {host}: {error.strerror}.", status=2) from None


def _for_example(host: str, taken: int) -> str:
    """The end of a sentence that names the next free port, if there is one near."""
    for port in range(taken + 1, min(taken + NEIGHBOURS, LAST_PORT) + 1):
        try:
            _bind(host, port)
        except OSError:
            continue
        return f", for example: --port {port}"
    return ": --port"


def _bind(host: str, port: int) -> None:
    """Take an address and give it back. Raises OSError where that is not possible."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)


def this_machine() -> list[str]:
    """The name of this machine, and its address for other machines."""
    names = [socket.gethostname()]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: connecting a datagram socket only chooses the local address.
            # 192.0.2.1 stands for "any other machine" (RFC 5737).
            probe.connect(("192.0.2.1", 9))
            names.append(probe.getsockname()[0])
        except OSError:
            pass
    return names


def free_port(preferred: int) -> int:
    """A free port of 127.0.0.1; `preferred` if it is free."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise CannotStart("No free port was found on 127.0.0.1 for the sandbox.")


def sandbox_address(port: int) -> str:
    """The address of a sandbox on this machine."""
    return f"http://127.0.0.1:{port}/client/v4"


def in_address(host: str) -> str:
    """`host` as part of an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host
