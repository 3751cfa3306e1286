"""Which addresses of the internet are public.

A server that fetches what people name must not open what only it can reach: its own services, its
network, and where clouds hand out credentials. Python's `is_global` is not enough: it lets
multicast through, and the rest differs between versions (CVE-2024-4032). The networks are those of
the IANA registries of special-purpose addresses.
"""

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_NOT_IPV4 = [
    IPv4Network(network)
    for network in (
        "192.0.0.0/24",  # protocols; Oracle's cloud gives credentials at 192.0.0.192
        "192.88.99.0/24",  # relays of 6to4
        "168.63.129.16/32",  # public by number, but each machine of Azure finds Azure there
    )
]
# All that is handed out of IPv6, and what is special within.
_IPV6 = IPv6Network("2000::/3")
_NOT_IPV6 = [
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocols; Teredo, which has an IPv4 address inside
        "2001:db8::/32",  # for documents
        "2002::/16",  # 6to4, which has an IPv4 address inside
        "3fff::/20",  # for documents
    )
]
# A network without IPv4 reaches that of others through these, the last 32 bits.
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether anybody on the internet can reach this IP address, and it is one machine's.

    text: as getaddrinfo writes it; the zone of an IPv6 address may follow.
    """
    address = ipaddress.ip_address(text)
    if isinstance(address, IPv6Address):
        inner = _ipv4_inside(address)
        return _is_public_ipv6(address) if inner is None else _is_public_ipv4(inner)
    return _is_public_ipv4(address)


def _is_public_ipv4(address: IPv4Address) -> bool:
    return (
        address.is_global
        and not address.is_multicast
        and not any(address in network for network in _NOT_IPV4)
    )


def _is_public_ipv6(address: IPv6Address) -> bool:
    return (
        address in _IPV6
        and address.is_global
        and not any(address in network for network in _NOT_IPV6)
    )


def _ipv4_inside(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that is really meant; None if it is IPv6 itself."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped
