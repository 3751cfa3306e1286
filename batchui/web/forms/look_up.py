"""The form with which somebody looks up a request that was sent elsewhere."""

from typing import Any

from django import forms

from batchui.batches.catalogues import catalogue_of
from batchui.batches.look_ups import holds_answers, read_pasted
from batchui.teams.connections import ensure_connection, open_connections
from batchui.teams.models import Team

PASTED_MOST = 10_000
NO_ID_IN_IT = (
    "This reply has no request_id, so nothing was accepted. Send the request again, and paste what "
    "comes then."
)
ANSWERS_IN_IT = (
    "This reply has the answers, but not the id of its request. Paste the id, or the reply that "
    "came when the request was sent. Nothing needs to be sent again."
)


class LookUpForm(forms.Form):
    """A request id, or the reply that has it, and the model that was asked.

    The connection is asked for where a team has several.
    """

    request_id = forms.CharField(
        label="Request id",
        max_length=PASTED_MOST,
        required=False,
        help_text="Or the whole reply that Cloudflare gave when the request was sent.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "autofocus": "autofocus"}
        ),
    )
    model = forms.CharField(
        label="Model that was asked",
        max_length=200,
        required=False,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "list": "known-models"}
        ),
    )

    def __init__(self, data: Any = None, *, team: Team, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        used = ensure_connection(team)
        there = open_connections(team)
        self.models = [model.name for model in catalogue_of(used).models()]
        self.fields["connection"] = forms.ModelChoiceField(
            there, label="Through", initial=used, empty_label=None, required=False
        )
        self.is_one = len(there) < 2
        self.used = used

    def clean(self) -> dict[str, Any]:
        """What was pasted, read: a reply says the model, too."""
        found = super().clean() or {}
        pasted = found.get("request_id", "")
        request_id, model = read_pasted(pasted)
        if pasted and not request_id:
            has_answers = holds_answers(pasted)
            self.add_error("request_id", ANSWERS_IN_IT if has_answers else NO_ID_IN_IT)
        return {
            "request_id": request_id,
            "model": found.get("model") or model,
            "connection": found.get("connection") or self.used,
        }
