import pytest

from batchui.pictures.public import is_public


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "93.184.216.34", "1.1.1.1", "172.32.0.1", "192.0.1.1", "100.128.0.1"),
        *("168.63.129.17", "223.255.255.254", "2606:4700::1111", "2001:4860:4860::8888"),
        "2a00:1450:4001:81b::200e",
    ],
)
def test_what_everybody_can_reach_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254"),
        *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        "169.254.169.254",  # credentials of clouds
        *("100.64.0.1", "100.100.100.200", "100.127.255.255"),  # shared by providers
        *("192.0.0.1", "192.0.0.9", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.1"),
        *("192.88.99.1", "198.18.0.1", "198.19.255.255"),
        *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255"),
        "168.63.129.16",  # Azure, from within
    ],
)
def test_an_ipv4_address_of_a_private_or_special_network_is_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("::", "::1", "::2", "::127.0.0.1", "::8.8.8.8"),
        *("fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254"),
        *("ff02::1", "ff0e::1", "100::1", "5f00::1", "4000::1", "64:ff9b:1::808:808"),
        *("2001::1", "2001:1::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "3fff::1"),
        *("2002:7f00:1::", "2002:808:808::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
    ],
)
def test_an_ipv6_address_of_a_private_or_special_network_is_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("before", ["::ffff:", "64:ff9b::"])
def test_an_ipv4_address_inside_an_ipv6_address_is_what_counts(before: str) -> None:
    assert is_public(f"{before}8.8.8.8")
    for inside in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "224.0.0.1", "192.0.0.192"):
        assert not is_public(f"{before}{inside}")
