"""What people paste as a secret or an account id, and what is taken from it."""

import pytest

from batchui.teams import pasted

TOKEN = "Xk7_zP-2mQ9vR4tY8wB1nC6dF3gH5jK0lS_aE-iO"
ACCOUNT = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        f"  {TOKEN}\n",
        f"{TOKEN[:20]}\r\n{TOKEN[20:]}",
        f"\u200b{TOKEN}\ufeff",
        f"\u00a0{TOKEN[:7]}\u200d{TOKEN[7:]}\u2060",
        f'"{TOKEN}"',
        f"“{TOKEN}”,",
        f"`{TOKEN}`",
        f"Bearer {TOKEN}",
        f"bearer: {TOKEN}",
        f"Authorization: Bearer {TOKEN}",
        f'"Authorization: Bearer {TOKEN}"',
        f"CLOUDFLARE_API_TOKEN={TOKEN}",
        f"export CLOUDFLARE_API_TOKEN='{TOKEN}'",
    ],
)
def test_what_is_around_a_secret_is_taken_off(text: str) -> None:
    assert pasted.secret(text) == TOKEN


@pytest.mark.parametrize("secret", [TOKEN, "bearerlike_Token-1", "QUJDREVG=", "a=b+c/d=="])
def test_a_secret_itself_is_not_changed(secret: str) -> None:
    assert pasted.secret(secret) == secret


@pytest.mark.parametrize(
    "text",
    [
        f" {ACCOUNT} ",
        ACCOUNT.upper(),
        f"https://dash.cloudflare.com/{ACCOUNT}",
        f"https://dash.cloudflare.com/{ACCOUNT}/ai/workers-ai?x=1",
        f"dash.cloudflare.com/{ACCOUNT.upper()}/home",
        f"https://api.cloudflare.com/client/v4/accounts/{ACCOUNT}/ai/run/",
        f"CLOUDFLARE_ACCOUNT_ID={ACCOUNT}",
        f"“{ACCOUNT}”",
    ],
)
def test_an_account_id_is_found_also_in_an_address_of_the_dashboard(text: str) -> None:
    assert pasted.account_id(text) == ACCOUNT
    assert pasted.is_account_id(pasted.account_id(text))


@pytest.mark.parametrize("text", ["", "care", ACCOUNT[:-1], ACCOUNT + "0", TOKEN, f"x{ACCOUNT}"])
def test_anything_else_is_no_account_id(text: str) -> None:
    assert not pasted.is_account_id(pasted.account_id(text))
