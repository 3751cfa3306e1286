"""The forms that connect something: one for each kind of connection that people can add."""

import secrets
from pathlib import Path
from typing import Any, ClassVar

from django import forms
from django.conf import settings

from batchui.cloudflare.endpoints import address_problem, server_of
from batchui.cloudflare.local_client import LONGEST_MODEL
from batchui.cloudflare.worker_client import worker_address_problem, worker_secret_problem
from batchui.teams import connecting, crypto, pasted
from batchui.teams.connections import local_account
from batchui.teams.models import Connection, Team
from batchui.teams.problems import UnreadableSecret

WORKER_JS = Path(settings.BASE_DIR, "cloudflare-worker", "worker.js")


class SecretField(forms.CharField):
    """A secret. It is never sent back to the page; what stands around it when pasted is taken off.

    A form that comes back keeps what was typed (`hx-preserve`).
    """

    def __init__(self, **options: Any) -> None:
        attributes = {
            "autocomplete": "off",
            "spellcheck": "false",
            "autocapitalize": "off",
            "hx-preserve": "true",
        }
        super().__init__(
            max_length=4096,
            strip=False,
            widget=forms.PasswordInput(attrs=attributes, render_value=False),
            **options,
        )

    def to_python(self, value: Any) -> str:
        return pasted.secret(super().to_python(value) or "")


class ConnectionForm(forms.Form):
    """What is the same for all kinds. replaces: the connection that gets a new secret.

    A kind says in `only_new` which fields a connection keeps for good.
    """

    kind: ClassVar[Connection.Kind]
    only_new: ClassVar[tuple[str, ...]] = ("name",)

    name = forms.CharField(
        label="Name",
        max_length=80,
        required=False,
        help_text="What your team calls it, if it has several.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, replaces: Connection | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.replaces = replaces
        for field in self.only_new if replaces else ():
            del self.fields[field]

    def filled(self, team: Team) -> Connection:
        """The connection as it was filled in; the form is valid."""
        raise NotImplementedError


class RestForm(ConnectionForm):
    """A Cloudflare account, by its id and an API token."""

    kind = Connection.Kind.REST
    only_new = ("account_id", "name")

    account_id = forms.CharField(
        label="Account id",
        max_length=2000,
        help_text="32 digits and letters. The address of the dashboard has it, too: paste either.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Paste the account id."},
    )
    token = SecretField(
        label="API token",
        help_text="It is stored encrypted and never shown again.",
        error_messages={"required": "Paste the API token."},
    )
    field_order = ["account_id", "token", "name"]

    def clean_account_id(self) -> str:
        found = pasted.account_id(self.cleaned_data["account_id"])
        if not pasted.is_account_id(found):
            raise forms.ValidationError(
                f"This is no account id: that has 32 digits and letters from a to f, and this has "
                f"{len(found)} characters. Copy it again."
            )
        return found

    def filled(self, team: Team) -> Connection:
        account = self.replaces.account_id if self.replaces else self.cleaned_data["account_id"]
        return connecting.unsaved(
            team,
            kind=self.kind,
            account_id=account,
            token=self.cleaned_data["token"],
            base_url=settings.CLOUDFLARE_API_URL,
            name=self.cleaned_data.get("name") or "Cloudflare",
        )


class WorkerForm(ConnectionForm):
    """A Worker of the team's own, by its address and a secret that both sides know.

    A new one is made for the page that asks for it, and is in no later reply.
    """

    kind = Connection.Kind.WORKER
    only_new = ("address", "name")

    secret = SecretField(
        label="Secret",
        help_text="One was made for you. It is stored encrypted and never shown again.",
        error_messages={"required": "Enter the secret that the Worker has as BATCHUI_SECRET."},
    )
    address = forms.CharField(
        label="Address of the Worker",
        max_length=2000,
        help_text="Such as https://batchui-worker.your-name.workers.dev",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}
        ),
        error_messages={"required": "Paste the address of the Worker."},
    )
    field_order = ["secret", "address", "name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.is_bound:
            self.initial["secret"] = secrets.token_urlsafe(48)
            self.fields["secret"].widget.render_value = True

    @staticmethod
    def script() -> str:
        """The Worker itself, to be pasted into Cloudflare's editor."""
        return WORKER_JS.read_text()

    def clean_secret(self) -> str:
        found: str = self.cleaned_data["secret"]
        if problem := worker_secret_problem(found):
            raise forms.ValidationError(problem)
        return found

    def clean_address(self) -> str:
        found = pasted.worker_address(self.cleaned_data["address"])
        if problem := worker_address_problem(found):
            raise forms.ValidationError(f"This address cannot be used: {problem}.")
        return found

    def filled(self, team: Team) -> Connection:
        address = self.replaces.base_url if self.replaces else self.cleaned_data["address"]
        return connecting.unsaved(
            team,
            kind=self.kind,
            account_id=server_of(address),
            token=self.cleaned_data["secret"],
            base_url=address,
            name=self.cleaned_data.get("name") or "Cloudflare Worker",
        )


class LocalForm(ConnectionForm):
    """A model server of the team's own: its address, a model that it has, and its key, if any.

    All but its address can be changed later, so that another model may be the usual one.
    """

    kind = Connection.Kind.LOCAL
    only_new = ("address", "name")

    address = forms.CharField(
        label="Address of the server",
        max_length=300,
        help_text="As this computer, on which batchui runs, reaches it.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}
        ),
        error_messages={"required": "Enter the address of the server."},
    )
    model = forms.CharField(
        label="Model",
        max_length=LONGEST_MODEL,
        help_text="Its name as the server has it, such as llama3.2. The others can be chosen, too.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        error_messages={"required": "Enter the name of a model that the server has."},
    )
    key = SecretField(
        label="Key",
        required=False,
        help_text="Only if the server wants one. It is stored encrypted and never shown again.",
    )
    concurrency = forms.IntegerField(
        label="Rows asked at once",
        min_value=1,
        max_value=64,
        initial=4,
        help_text="As many as the server works on at one time, 1 to 64.",
    )
    minutes = forms.IntegerField(
        label="Minutes for one answer",
        min_value=1,
        max_value=1440,
        initial=10,
        help_text="After so long a row is given up and asked again.",
    )
    field_order = ["address", "model", "key", "concurrency", "minutes", "name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.replaces:
            told = self.replaces.settings
            self.initial = {**told, "minutes": round(told["timeout_seconds"] / 60)}

    def _key_before(self) -> str:
        try:
            return crypto.decrypt(self.replaces.token_encrypted) if self.replaces else ""
        except UnreadableSecret:
            return ""

    def clean_address(self) -> str:
        found: str = self.cleaned_data["address"].strip().rstrip("/")
        if "://" not in found:
            found = f"http://{found}"
        if problem := address_problem(found):
            raise forms.ValidationError(f"This address cannot be used: {problem}.")
        return found

    def filled(self, team: Team) -> Connection:
        told = self.cleaned_data
        address = self.replaces.base_url if self.replaces else told["address"]
        return connecting.unsaved(
            team,
            kind=self.kind,
            account_id=self.replaces.account_id if self.replaces else local_account(team, address),
            token=told["key"] or self._key_before(),
            base_url=address,
            name=told.get("name") or f"Local model ({server_of(address)})",
            settings={
                "model": told["model"].strip(),
                "concurrency": told["concurrency"],
                "timeout_seconds": 60 * told["minutes"],
            },
        )


class RenameForm(forms.Form):
    """Another name for a connection."""

    name = forms.CharField(
        label="Name",
        max_length=80,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Give it a name."},
    )
