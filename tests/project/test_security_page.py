"""What docs/security.md says is so."""

import re

import pytest
from django.conf import global_settings, settings
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.urls import reverse

from batchui import checks
from batchui.batches import converting, preparing, upload_limits
from batchui.cloudflare import client
from batchui.exports import formulas
from batchui.processes import bodies, channels, serving
from batchui.prompts import problems, template
from batchui.prompts.conversion import limits
from batchui.prompts.reading.format import HEAD_SIZE
from batchui.sandbox.options import Options
from batchui.teams import browsers, invitations
from batchui.up.venv import ROOT
from batchui.web import body_limits, download_limit, history, watchers
from batchui.web.sheet import seen

PAGE = (ROOT / "docs" / "security.md").read_text()
TEXT = " ".join(PAGE.split())
LIMITS = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE.split("## Limits")[1], re.M))
SOURCES = [path.read_text() for path in (ROOT / "batchui").rglob("*.py")]


def test_the_readme_points_to_it() -> None:
    assert "(docs/security.md)" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    ("what", "limit"),
    [
        (
            "the head of a request",
            f"{channels.HEAD_SECONDS:.0f} seconds, {serving.LONGEST_HEAD // 1024} kB",
        ),
        (
            "a body, a reply",
            f"after {channels.PATIENCE_SECONDS:.0f} seconds, {channels.BYTES_A_SECOND:,} bytes a "
            "second on the average",
        ),
        ("a body without an account", f"{body_limits.ANYBODY // 1024} kB"),
        ("a form", f"{body_limits.MEMBER // 1024**2} MB"),
        (
            "besides the content of a body in chunks",
            f"{bodies.FRAMING_BYTES // 1024} kB, and a byte for {bodies.CONTENT_FOR_FRAMING} of "
            "content",
        ),
        (
            "a prompt, an instruction, further options",
            f"{template.LONGEST_TEXT:,} characters, {template.MOST_USES} uses of columns",
        ),
        (
            "a row",
            f"{problems.LINE_LIMIT:,} characters, {problems.CELL_LIMIT:,} in a cell, "
            f"{problems.VALUE_LIMIT:,} values",
        ),
        (
            "the names of columns",
            f"{problems.COLUMN_LIMIT:,}, {problems.NAME_LIMIT:,} characters each, "
            f"{problems.NAMES_LIMIT:,} characters of JSON keys together",
        ),
        (
            "the names of columns with what stands above them",
            f"the first {HEAD_SIZE} of a table",
        ),
        (
            "the conversion of a workbook, JSON, Parquet or a packed file",
            f"{limits.LEAST_MEMORY // limits.MEGABYTE} MB of memory and {limits.MEMORY_FOR_BYTE} "
            f"bytes for each byte of the file, {limits.MOST_MEMORY // 10**9} GB at most; "
            f"{limits.LEAST_SECONDS:g} seconds of the processor and "
            f"{limits.SECONDS_FOR_MEGABYTE:g} for each MB; `BATCHUI_MAX_UPLOAD_MB` "
            f"{['', 'once', 'twice', 'three times', 'four times'][converting.LARGER]} unpacked",
        ),
        ("a batch", f"{preparing.MOST_PARTS:,} requests"),
        (
            "downloads of one person at the same time",
            f"{download_limit.MOST_AT_ONCE} in each web process",
        ),
        (
            "connections",
            f"{serving.MOST_CONNECTIONS:,} in each web process, {serving.MOST_OF_ONE} of one "
            "address; then the longest silent one is cut off",
        ),
        (
            "a reply of Cloudflare",
            f"{client.MAX_REPLY // 1024**2} MB, unpacked in pieces",
        ),
    ],
)
def test_a_limit_is_the_one_of_the_code(what: str, limit: str) -> None:
    assert LIMITS[what] == limit


def test_the_disk_is_never_full_of_uploads() -> None:
    reserve = settings.KEEP_FREE_BYTES // 1000**2
    assert f"leave less than {reserve} MB on the disk is refused" in TEXT
    assert f"An upload counts {upload_limits.STORED_FOR_A_BYTE} times" in TEXT


def test_sessions_and_links_end_when_it_says() -> None:
    days = settings.SESSION_COOKIE_AGE // 86_400
    hours = settings.IDLE_SECONDS // 3_600
    assert f"after {days} days, and after {hours} hours in which nobody did anything" in TEXT
    lives = (invitations.LIFETIME.days, invitations.PASSWORD_LINK_LIFETIME.days)
    assert "invitations for {} days, password links for {} day".format(*lives) in TEXT


def test_the_sandbox_forgets_when_it_says() -> None:
    assert f"forgets what it was sent after {Options().keep_days} days" in TEXT


def test_a_place_where_somebody_signed_in_is_known_as_long_as_it_says() -> None:
    browser, address = (
        seconds // 86_400 for seconds in (browsers.SECONDS, browsers.ADDRESS_SECONDS)
    )
    assert f"signed cookie for {browser} days, or an address, for {address} days" in TEXT


def test_formulas_are_held_off_behind_the_separators_that_it_names() -> None:
    names = {",": "commas", ";": "semicolons", "\t": "tabs"}
    assert {*names, *"\r\n"} == {*formulas.SEPARATORS}
    assert "read with {}, {} or {} (".format(*names.values()) in TEXT


def test_passwords_are_checked_and_stored_as_it_says() -> None:
    minimum = next(
        one["OPTIONS"]["min_length"]
        for one in settings.AUTH_PASSWORD_VALIDATORS
        if one["NAME"].endswith("MinimumLengthValidator")
    )
    assert f"at least {minimum} characters" in TEXT
    assert len(CommonPasswordValidator().passwords) > 19_000
    # Tests have a quicker one; the product has Django's.
    assert "PASSWORD_HASHERS" not in (ROOT / "batchui/settings.py").read_text()
    assert global_settings.PASSWORD_HASHERS[0].endswith("hashers.PBKDF2PasswordHasher")


def test_the_policies_are_those_of_the_code() -> None:
    policy = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert policy["default-src"] == ["'none'"]
    assert "`default-src 'none'`" in TEXT
    assert f"`Referrer-Policy: {settings.SECURE_REFERRER_POLICY}`" in TEXT


def test_every_event_of_the_log_is_named_and_no_other() -> None:
    named = set(re.split(r",\s+", PAGE.split("Events: ")[1].split(".")[0]))
    written = r'(?:security_log\.record|\b_?note)\(\s*(?:self, )?"([a-z -]+)"'
    recorded = {event for source in SOURCES for event in re.findall(written, source)}
    assert named == recorded


def test_every_chapter_of_asvs_is_judged_and_only_the_second_factor_is_not_met() -> None:
    rows = re.findall(r"^\| V(\d+) .+? \| (.+?) \| (.*?) ?\|$", PAGE, re.M)
    assert [int(number) for number, _, _ in rows] == list(range(1, 18))
    assert {verdict for _, verdict, _ in rows} == {"met", "partly", "not met", "not used"}
    [(number, _, evidence)] = [row for row in rows if row[1] == "not met"]
    assert (number, evidence.partition(",")[0]) == ("6", "no second factor")


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:tests|exports|requirements)/\S*?)`", PAGE)))
)
def test_every_file_that_it_names_is_there(path: str) -> None:
    assert (ROOT / path).exists() or (ROOT / "batchui" / path).exists()


def test_every_setting_and_check_that_it_names_is_there() -> None:
    source = (ROOT / "batchui/settings.py").read_text()
    for name in set(re.findall(r"`([A-Z][A-Z0-9_]{4,})(?:=1)?`", PAGE)):
        assert f'"{name}"' in source, name
    for check in re.findall(r"`(batchui\.\w+)`", PAGE):
        assert check == "batchui.security" or check in (checks.__doc__ or ""), check


def test_the_addresses_that_it_names_are_there() -> None:
    for name in ("join", "setup"):
        assert f"`{reverse(name, args=['x']).removesuffix('x/')}`" in PAGE


def test_how_long_a_watcher_is_remembered_and_how_late_news_may_be() -> None:
    assert watchers.LONGEST_SECONDS == 5 * 60
    assert "remembers for 5 minutes whom it let through" in TEXT
    assert seen.known.seconds == history.marks.seconds == 1
    assert "is told a second late at most" in TEXT
