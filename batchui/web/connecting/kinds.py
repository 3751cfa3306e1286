"""The kinds of connections that people can add: a row for each, and its words on the page.

Another kind is a row here, a form in `forms/connections.py`, a template with its steps, and a line
in `teams/connections.py: CLIENTS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from batchui.teams.models import Connection
from batchui.teams.testing import Wrong
from batchui.web.forms.connections import ConnectionForm, LocalForm, RestForm, WorkerForm


@dataclass(frozen=True)
class Kind:
    """One kind. form: its fields. steps: the template around them, from the first step to the last.

    connect: the words of the button that adds one. secret: what its secret is called. replaced:
    what can be replaced later. called: the other side, in sentences. places: the field that is
    wrong, by what a test found.
    """

    form: type[ConnectionForm]
    steps: str
    connect: str
    secret: str
    replaced: str
    called: str
    places: Mapping[Wrong, str]

    @property
    def word(self) -> str:
        """How the kind is called in addresses."""
        return self.form.kind.value


KINDS: Mapping[str, Kind] = {
    kind.word: kind
    for kind in (
        Kind(
            form=RestForm,
            steps="connections/_rest_steps.html",
            connect="Connect an account",
            secret="API token",  # noqa: S106
            replaced="API token",
            called="Cloudflare",
            places={Wrong.TOKEN: "token", Wrong.ACCOUNT: "account_id"},
        ),
        Kind(
            form=WorkerForm,
            steps="connections/_worker_steps.html",
            connect="Connect a Worker",
            secret="secret",  # noqa: S106
            replaced="secret",
            called="your Worker",
            places={Wrong.TOKEN: "secret", Wrong.ACCOUNT: "address"},
        ),
        Kind(
            form=LocalForm,
            steps="connections/_local_steps.html",
            connect="Use a local model",
            secret="key",  # noqa: S106
            replaced="model or key",
            called="your model server",
            places={Wrong.TOKEN: "key", Wrong.ACCOUNT: "address", Wrong.MODEL: "model"},
        ),
    )
}


def kind_of(connection: Connection) -> Kind | None:
    """The kind of a connection; None for the sandbox, which nobody adds."""
    return KINDS.get(connection.kind)
