import pytest

from batchui.pictures.addresses import Address, is_address, read_address
from batchui.pictures.problems import NoPicture


@pytest.mark.parametrize("cell", ["http://x", "https://x", " HTTPS://x ", "\tHttp://"])
def test_a_cell_with_an_address_is_known(cell: str) -> None:
    assert is_address(cell)


@pytest.mark.parametrize(
    "cell", ["", "x.jpg", "ftp://x", "file:///etc/passwd", "http:/x", "see http://x", "https:x"]
)
def test_a_cell_without_one_is_known(cell: str) -> None:
    assert not is_address(cell)


@pytest.mark.parametrize(
    ("cell", "address"),
    [
        ("http://Example.COM", Address(False, "example.com", 80, "/")),
        (" https://example.com./a?b ", Address(True, "example.com", 443, "/a?b")),
        ("HTTP://example.com:8080/a#b", Address(False, "example.com", 8080, "/a")),
        ("http://example.com:/", Address(False, "example.com", 80, "/")),
        ("https://[2606:4700::1111]:8443/", Address(True, "2606:4700::1111", 8443, "/")),
        ("http://bücher.example/", Address(False, "xn--bcher-kva.example", 80, "/")),
        ("http://faß.example/", Address(False, "xn--fa-hia.example", 80, "/")),
        ("http://①②⑦.⓪.⓪.①/", Address(False, "127.0.0.1", 80, "/")),
        ("http://my_bucket.example/", Address(False, "my_bucket.example", 80, "/")),
    ],
)
def test_an_address_is_read(cell: str, address: Address) -> None:
    assert read_address(cell) == address


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("/my photo.jpg", "/my%20photo.jpg"),
        ("/my%20photo.jpg", "/my%20photo.jpg"),
        ("/ü.jpg?q=ü z", "/%C3%BC.jpg?q=%C3%BC%20z"),
        ("/a,b;c=d@e!(f)?g=h&i=/+~", "/a,b;c=d@e!(f)?g=h&i=/+~"),
        ('/a"b<c>\\d', "/a%22b%3Cc%3E%5Cd"),
        ("/a\r\nHost: b", "/aHost:%20b"),
        ("?a", "/?a"),
    ],
)
def test_path_and_query_are_sent_as_a_browser_sends_them(written: str, sent: str) -> None:
    assert read_address(f"http://example.com{written}").target == sent


@pytest.mark.parametrize(
    "cell",
    [
        *("x.jpg", "ftp://example.com/", "file:///etc/passwd", "http://", "http:///a", "http://."),
        *("https://..", "http://.example.com", "http://a b/", "http://a%00b/", "http://a\\b/"),
        *("http://example.com:0/", "http://example.com:65536/", "http://example.com:x/"),
        *("http://[::1", "http://[fe80::1%25eth0]/", "http://[127.0.0.1]/", "http://ex(ample/"),
        *("http://\ud800/", "http://example.com/\ud800", "http://example.com/?\ud800"),
        "http://xn--ü/",
    ],
)
def test_what_is_no_address_is_refused(cell: str) -> None:
    with pytest.raises(NoPicture, match=r"^This is no address that can be opened") as raised:
        read_address(cell)
    assert not raised.value.passes


@pytest.mark.parametrize("cell", ["https://anna:secret@example.com/", "https://@example.com/"])
def test_a_password_in_an_address_is_refused_and_not_told(cell: str) -> None:
    with pytest.raises(NoPicture, match=r"The address at “example.com” has a user name") as raised:
        read_address(cell)
    assert "secret" not in str(raised.value)
    assert "anna" not in str(raised.value)


def test_the_usual_port_is_not_named_to_the_host() -> None:
    assert read_address("http://a:80/").authority == "a"
    assert read_address("https://a:443/").authority == "a"
    assert read_address("https://a:80/").authority == "a:80"
    assert read_address("http://a:443/").authority == "a:443"
    assert read_address("http://[2606::1]:81/").authority == "[2606::1]:81"


@pytest.mark.parametrize("entry", ["intranet", "Intranet:8000", " INTRANET "])
def test_an_allowed_host_is_known_in_any_case_of_letters(entry: str) -> None:
    assert read_address("http://INTRANET.:8000/").is_among(["other", entry])


@pytest.mark.parametrize("entry", ["intranet:80", "intra", "intranet.example", "net", ""])
def test_an_allowed_host_is_that_one_alone(entry: str) -> None:
    assert not read_address("http://intranet:8000/").is_among([entry])


def test_an_allowed_ipv6_address_stands_in_brackets() -> None:
    assert read_address("http://[::1]:8000/").is_among(["[::1]"])
    assert read_address("http://[::1]:8000/").is_among(["[::1]:8000"])
    assert not read_address("http://[::1]:8000/").is_among(["::1", "[::1]:80"])
