"""Every error code of the reference, for submissions and polls, through real HTTP."""

import io
import json
import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest

from batchui.cloudflare import errors
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    Gone,
    MaybeSent,
    Refused,
    TooLarge,
    error_for,
)
from tests.cloudflare.conftest import MODEL, REQUEST_ID
from tests.cloudflare.server import ScriptedServer, error, reply, truncated

FINAL = [
    *[(code, 400) for code in (3003, 5004, 5006, 3039)],
    *[(code, 405) for code in (5005, 5019, 5025)],
    (5007, 400),
    (3042, 404),
    (8007, 400),
    (3030, 400),
]
FOR_ADMINISTRATORS = [
    *[(code, 403) for code in (5016, 5018, 3041, 3023, 5035)],
    (10000, 401),
    (7003, 404),
    (9109, 403),
    (1000, 401),
    (6003, 400),
    (7000, 404),
    (9106, 400),
    (10001, 400),
]
UNCLEAR = [(3007, 408), (3008, 408), (5001, 500), (8008, 500), (5001, 400), (77, 500), (78, 503)]


def submit(client: RestClient) -> CloudflareError:
    with pytest.raises(CloudflareError) as caught:
        client.submit(MODEL, b'{"requests": []}')
    return caught.value


def poll(client: RestClient) -> CloudflareError:
    with pytest.raises(CloudflareError) as caught:
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    return caught.value


BOTH = pytest.mark.parametrize("call", [submit, poll])


@BOTH
@pytest.mark.parametrize(("code", "status"), FINAL)
def test_what_is_final_is_refused_in_cloudflares_words(
    server: ScriptedServer, client: RestClient, call: Any, code: int, status: int
) -> None:
    server.script(error(code, status, "AiError: AiError: The field is off"))
    exc = call(client)
    assert type(exc) is Refused
    assert (exc.code, exc.http_status) == (code, status)
    assert "Cloudflare says: “The field is off”." in exc.user_message
    assert str(exc) == f"The field is off (HTTP {status}, code {code})"


@BOTH
@pytest.mark.parametrize(("code", "status"), FOR_ADMINISTRATORS)
def test_what_an_administrator_must_settle_is_held(
    server: ScriptedServer, client: RestClient, call: Any, code: int, status: int
) -> None:
    server.script(error(code, status))
    exc = call(client)
    assert type(exc) is Busy
    assert exc.needs_person
    assert not exc.until_midnight
    assert exc.code == code
    assert str(exc) == f"Something (HTTP {status}, code {code})"


@pytest.mark.parametrize(("code", "status"), UNCLEAR)
def test_what_is_unclear_may_have_been_sent_and_is_polled_again(
    server: ScriptedServer, client: RestClient, code: int, status: int
) -> None:
    server.script(error(code, status))
    assert type(submit(client)) is MaybeSent
    exc = poll(client)
    assert type(exc) is BadReply
    assert (exc.code, exc.http_status) == (code, status)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 520, 524])
def test_a_page_of_html_with_408_or_5xx_is_unclear_too(
    server: ScriptedServer, client: RestClient, status: int
) -> None:
    server.script(reply(status, b"<html><h1>Bad gateway</h1></html>"))
    assert type(submit(client)) is MaybeSent
    unusable = poll(client)
    assert type(unusable) is BadReply
    assert f"(HTTP {status})" in unusable.user_message


@BOTH
def test_what_is_too_large_is_to_be_cut_smaller(
    server: ScriptedServer, client: RestClient, call: Any
) -> None:
    server.script(error(3006, 413))
    assert type(call(client)) is TooLarge


def test_a_413_without_a_code_is_too_large_when_sending_and_asked_again_when_polling(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(413, b"<html>Request Entity Too Large</html>"))
    assert type(submit(client)) is TooLarge
    assert type(poll(client)) is BadReply


@BOTH
def test_the_minute_limit_waits_a_minute_or_as_long_as_is_asked(
    server: ScriptedServer, client: RestClient, call: Any
) -> None:
    server.script(
        error(3021, 429), error(3021, 429, retry_after="5"), error(3021, 429, retry_after="90")
    )
    assert [call(client).wait for _ in range(3)] == [60.0, 60.0, 90.0]


@pytest.mark.parametrize("code", [None, *errors._BY_CODE])
@pytest.mark.parametrize("submitting", [True, False])
def test_no_error_promises_what_batchui_does_next(code: int | None, submitting: bool) -> None:
    """Whoever decides that says so: a person may be asked instead."""
    body = json.dumps({"errors": [{"code": code}] if code else []}).encode()
    for status in (302, 400, 401, 408, 413, 429, 500):
        said = error_for(status, body, None, submitting=submitting).user_message
        assert not re.search("by itself|batchui (asks|tries|goes|fetches)", said)


@BOTH
def test_the_daily_allowance_waits_until_midnight(
    server: ScriptedServer, client: RestClient, call: Any
) -> None:
    server.script(error(3036, 429))
    exc = call(client)
    assert type(exc) is Busy
    assert exc.until_midnight
    assert "00:00 UTC" in exc.user_message


@BOTH
@pytest.mark.parametrize("code", [3040, 3050])
def test_a_lack_of_capacity_is_waited_out(
    server: ScriptedServer, client: RestClient, call: Any, code: int
) -> None:
    server.script(error(code, 429), error(code, 429, retry_after="7"))
    exc, later = call(client), call(client)
    assert (type(exc), exc.wait, exc.needs_person, exc.until_midnight) == (Busy, None, False, False)
    assert later.wait == 7.0


@BOTH
@pytest.mark.parametrize("body", [b"", b"<html>Slow down</html>", b'{"success":false,"errors":[]}'])
def test_a_429_without_a_known_code_obeys_retry_after(
    server: ScriptedServer, client: RestClient, call: Any, body: bytes
) -> None:
    server.script(reply(429, body, retry_after="300"), error(971, 429), reply(429, body))
    waits = [call(client).wait for _ in range(3)]
    assert waits == [300.0, None, None]


@BOTH
def test_a_result_that_is_gone_is_gone(
    server: ScriptedServer, client: RestClient, call: Any
) -> None:
    server.script(error(5504, 404, "Request not found in queue"), error(5504, 400))
    assert [type(call(client)) for _ in range(2)] == [Gone, Gone]


def test_an_unknown_code_is_final_when_sending_and_asked_again_when_polling(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(error(4711, 400, "No such thing"))
    refused, unclear = submit(client), poll(client)
    assert (type(refused), refused.code) == (Refused, 4711)
    assert (type(unclear), unclear.code) == (BadReply, 4711)
    assert "No such thing" in refused.user_message


def test_the_first_known_code_of_several_decides(
    server: ScriptedServer, client: RestClient
) -> None:
    errors = [{"code": 4711, "message": "No route"}, {"code": "7003", "message": "No account"}]
    server.script(reply(404, {"success": False, "errors": errors, "result": {}}))
    exc = submit(client)
    assert (type(exc), exc.code) == (Busy, 7003)
    assert "No account" in exc.user_message


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 5007, "message": "No such model"}},
        {"errors": [{"code": "5007", "message": {"detail": "No such model"}}]},
        {"errors": ["What?", {"code": 5007, "message": "No such model"}], "result": None},
    ],
)
def test_errors_of_odd_shapes_are_understood(
    server: ScriptedServer, client: RestClient, body: Any
) -> None:
    server.script(reply(400, body))
    exc = submit(client)
    assert (type(exc), exc.code) == (Refused, 5007)
    assert "“No such model”" in exc.user_message


@pytest.mark.parametrize(
    "body",
    [
        {"errors": [], "error": {"code": 5007, "message": "No such model"}},
        {"errors": "What?", "error": {"code": 5007, "message": "No such model"}},
    ],
)
def test_an_error_beside_an_empty_list_of_errors_is_understood(
    server: ScriptedServer, client: RestClient, body: Any
) -> None:
    server.script(reply(400, body))
    assert submit(client).code == 5007


def test_an_error_without_a_body_says_so(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(502, b""))
    told = "no error code or message; the body begins: '' (HTTP 502)"
    assert str(submit(client)) == str(poll(client)) == told


def test_a_body_without_a_reason_is_told_by_its_beginning() -> None:
    exc = error_for(502, b"<h1>\xff " + b"x" * 1_000, None, submitting=True)
    begins = f"<h1>\ufffd {'x' * 234}"
    assert str(exc) == f"no error code or message; the body begins: {begins!r} (HTTP 502)"


def test_a_code_on_a_page_that_is_not_json_is_no_code() -> None:
    assert error_for(429, b'<script>{"code": 3036}', None, submitting=True).code is None
    cut_short = error_for(400, b' {"code": 5007, "message": "No su', None, submitting=True)
    assert cut_short.code == 5007
    assert "Cloudflare says" not in cut_short.user_message


def test_a_code_may_be_a_text_of_up_to_nine_digits() -> None:
    body = b'{"errors": [{"code": "%b"}]}'
    assert error_for(400, body % (b"9" * 9), None, submitting=True).code == 999_999_999


@pytest.mark.parametrize("code", [True, "٣٠٣٦", "9" * 10, "3036x", 3.5, None, [3036]])
def test_what_is_no_code_is_no_code(code: object) -> None:
    body = json.dumps({"errors": [{"code": code, "message": "Because."}]}).encode()
    exc = error_for(400, body, None, submitting=True)
    assert (type(exc), exc.code) == (Refused, None)
    assert "“Because”" in exc.user_message


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"code": 4711}, "does not accept the account id or API token"),
        ({"message": "Go away"}, "does not accept the account id or API token"),
        ({}, "Something other than Cloudflare's API answered"),
    ],
)
@pytest.mark.parametrize("status", [401, 402, 403, 407])
@pytest.mark.parametrize("submitting", [True, False])
def test_a_locked_door_is_the_apis_own_when_it_gives_a_code_or_a_message(
    error: dict[str, object], said: str, status: int, submitting: bool
) -> None:
    body = json.dumps({"errors": [error]}).encode()
    assert said in error_for(status, body, None, submitting=submitting).user_message


def test_an_error_says_in_the_log_what_is_known_of_it() -> None:
    assert str(CloudflareError("Oh.")) == "Oh."
    assert repr(CloudflareError("Oh.")) == "CloudflareError('Oh.')"
    assert str(CloudflareError("Oh.", detail="why", code=7)) == "why (code 7)"
    assert str(CloudflareError("Oh.", http_status=500)) == "Oh. (HTTP 500)"
    assert str(CloudflareError("Oh.", code=7, http_status=500)) == "Oh. (HTTP 500, code 7)"


def test_an_error_body_cut_short_still_tells_its_code(
    server: ScriptedServer, client: RestClient
) -> None:
    body = b'{"success":false,"errors":[{"code":3036,"message":"You have used up'
    server.script(truncated(body + b' it all"}]}', keep=len(body), status=429))
    exc = submit(client)
    assert (type(exc), exc.code) == (Busy, 3036)


def test_an_error_whose_body_cannot_be_read_is_told_by_its_status(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(
        reply(429, b"not gzip", content_encoding="gzip", retry_after="5"),
        reply(429, b"<html>" + b" " * 200_000, retry_after="6"),
    )
    for seconds in (5.0, 6.0):
        exc = submit(client)
        assert isinstance(exc, Busy)
        assert exc.wait == seconds


def test_cloudflares_words_are_kept_short_and_on_one_line(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(error(8007, 400, "Too\r\nlong:\x00 {braces} " + "x" * 5000))
    exc = submit(client)
    assert "Too long: {braces} xxx" in exc.user_message
    assert len(exc.user_message) < 450
    assert len(str(exc)) < 300


@pytest.mark.parametrize(
    ("retry_after", "least", "most"),
    [
        ("in two hours", 7100, 7201),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("Wed, 21 Oct 2015 07:28:00 -0000", 0, 0),
        ("9" * 400, 86_400, 86_400),
        ("0", 0, 0),
    ],
)
def test_retry_after_may_be_a_date_and_is_a_day_at_most(
    retry_after: str, least: float, most: float
) -> None:
    if retry_after == "in two hours":  # from when the test runs, not from when it was collected
        retry_after = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    exc = error_for(429, b"", retry_after, submitting=True)
    assert isinstance(exc, Busy)
    assert exc.wait is not None
    assert least <= exc.wait <= most


def test_a_date_in_another_time_zone_is_the_same_moment() -> None:
    in_two_hours = datetime.now(timezone(timedelta(hours=9))) + timedelta(hours=2)
    exc = error_for(429, b"", format_datetime(in_two_hours), submitting=True)
    assert isinstance(exc, Busy)
    assert exc.wait == pytest.approx(7_200, abs=100)


@pytest.mark.parametrize(
    "retry_after", [None, "", "soon", "-5", "1.5", "٣", f"Mon, 01 Jan {10**20} 00:00:00 GMT"]
)
def test_a_retry_after_that_says_nothing_is_no_wait(retry_after: str | None) -> None:
    exc = error_for(429, b"", retry_after, submitting=True)
    assert isinstance(exc, Busy)
    assert exc.wait is None


def test_every_message_is_a_sentence_that_says_what_to_do() -> None:
    codes = [code for code, _ in [*FINAL, *FOR_ADMINISTRATORS, *UNCLEAR]]
    for code in [*codes, 3006, 3021, 3036, 3040, 3050, 5504]:
        for submitting in (True, False):
            body = b'{"errors":[{"code":%d,"message":"Because."}]}' % code
            message = error_for(400, body, None, submitting=submitting).user_message
            assert message[0].isupper()
            assert message.endswith(".")
            # About the limit of a minute people can do nothing.
            assert code == 3021 or message.count(". ") >= 1, message
            assert "{" not in message
            assert ".”." not in message
