"""Under which address the links to this server work: for colleagues, or on this computer alone."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest


def for_others(request: HttpRequest) -> list[str]:
    """The addresses of this server that other machines can reach, as “http://10.0.0.5:8000”.

    Those that the settings name; `up` adds the names of the machine where it listens to others.
    """
    port = urlsplit(own(request)).port
    end = f":{port}" if port else ""
    named = [settings.BASE_URL] if settings.BASE_URL else []
    hosts = [host for host in settings.ALLOWED_HOSTS if not host.startswith((".", "*"))]
    found = named + [f"{request.scheme}://{host}{end}" for host in reversed(hosts)]
    return [address for address in dict.fromkeys(found) if not is_of_this_computer(address)]


def own(request: HttpRequest) -> str:
    """The address by which the server was opened, as “http://127.0.0.1:8000”."""
    return f"{request.scheme}://{request.get_host()}"


def is_of_this_computer(address: str) -> bool:
    """Whether an address means, on each computer, that computer itself."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def chosen(request: HttpRequest) -> str:
    """The address that a form chose for a link (`at`); without a choice, the server's own."""
    at = request.POST.get("at", "")
    return at if at in for_others(request) else own(request)
