"""The models of a connection: what its account lists, and the bundled facts for the rest.

What a batch is asked of comes through here. Before the listing of a connection was read, the
bundled catalogue answers alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from django.utils import timezone
from msgspec import structs

from batchui.batches import goes_to
from batchui.batches.known_models import TOLD, KnownModel, ModelListing
from batchui.batches.models import Batch
from batchui.batches.money import BUNDLED, Prices, precise
from batchui.batches.states import EDITABLE
from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model, UnknownModel
from batchui.cloudflare.listed_models import SchemaFacts
from batchui.teams.models import Connection

# The set of options of a model whose schema is not known, by its task.
USUAL = {"chat": "@cf/google/gemma-4-26b-a4b-it", "embedding": "@cf/baai/bge-base-en-v1.5"}
FORMATS = {"chat": "messages", "embedding": "text", "translation": "translation"}


@dataclass(frozen=True)
class Catalogue:
    """The models of one connection. known: by name; {} if only the bundled ones are known.

    connection: None for the bundled ones alone. first_read_at, read_at, problem: of its listing.
    """

    connection: Connection | None = None
    known: Mapping[str, KnownModel] = field(default_factory=dict)
    first_read_at: datetime | None = None
    read_at: datetime | None = None
    problem: str = ""

    @property
    def is_own(self) -> bool:
        """Whether these are the models of a server of the team's, and no others."""
        return self.connection is not None and self.connection.is_local

    @property
    def _usual_own(self) -> str:
        """The model that a server of the team's was connected with."""
        return str(self.connection.settings["model"]) if self.connection else ""

    def find(self, name: str) -> Model:
        """The model of this name. Raises UnknownModel with a suggestion."""
        if self.is_own:
            return self._own(name)
        one = self.known.get(name)
        try:
            bundled = catalogue.find(name)
        except UnknownModel:
            if one is None:
                raise
            return _unbundled(one)
        return bundled if one is None else _overlaid(bundled, one)

    def models(self) -> tuple[Model, ...]:
        """The models to choose from, recommended ones first: bundled, then others."""
        if self.is_own:
            own = map(self._own, dict.fromkeys((self._usual_own, *sorted(self.known))))
            return tuple(model for model in own if model.listed)
        bundled = [self.find(model.name) for model in catalogue.every_model()]
        names = {model.name for model in bundled}
        others = [_unbundled(one) for name, one in sorted(self.known.items()) if name not in names]
        return tuple(model for model in (*bundled, *others) if model.listed)

    def taking(self, item_formats: Sequence[str]) -> tuple[Model, ...]:
        """The models with one of these item formats, in their order; unlisted ones if none is."""
        models = self.models()
        listed = [one for form in item_formats for one in models if one.item_format == form]
        if self.is_own:
            return tuple(listed)
        return tuple(listed) or tuple(
            self.find(model.name) for model in catalogue.taking(item_formats)
        )

    def prices_of(self, name: str) -> Prices:
        """What a million tokens of a model cost here; the bundled prices if that is not known."""
        try:
            model = self.find(name)
        except UnknownModel:
            return BUNDLED
        if not model.has_price:
            return BUNDLED
        return Prices(model.usd_per_m_input, model.usd_per_m_output)

    def remark(self, name: str, *, now: datetime | None = None) -> str:
        """What has changed about a model, as sentences; "" if nothing has."""
        if self.is_own:
            return ""
        one = self.known.get(name)
        if one is None:
            return self._missing(name)
        since = (now or timezone.now()) - TOLD
        found = [_withdrawn(one)]
        if one.added_by_id is not None and not one.takes_batches:
            found.append(TYPED_IN)
        elif not one.takes_batches and one.took_batches:
            found.append(NO_LONGER)
        elif one.first_seen > since and self.first_read_at and one.first_seen > self.first_read_at:
            found.append("New in Cloudflare's list.")
        if one.price_changed_at and one.price_changed_at > since:
            found.append(_other_price(one))
        return " ".join(filter(None, found))

    def _own(self, name: str) -> Model:
        """A model of the team's server. The one that it was connected with is always there."""
        one, usual = self.known.get(name), self._usual_own
        if one is None and name != usual:
            raise UnknownModel(
                f"Your model server has no model “{name}”. The usual one is “{usual}”."
            )
        one = one or KnownModel(name=name, task="chat", takes_batches=True)
        return structs.replace(
            _unbundled(one),
            is_own=True,
            sees=True,  # nobody but the team knows, and the server says if it does not
            label=name,
            description=one.description or "The model that your server was connected with.",
            listed=one.takes_batches or name == usual,
        )

    def _missing(self, name: str) -> str:
        """About a model that a listing which was read does not have, though it is a usual one."""
        if self.read_at is None:
            return ""
        try:
            is_usual = catalogue.find(name).listed
        except UnknownModel:
            return ""
        return NO_LONGER if is_usual else ""


NO_LONGER = "Cloudflare's list no longer has it for batches: choose another model."
TYPED_IN = (
    "Cloudflare's list does not have it for batches. An administrator added it: it may be refused."
)


def catalogue_of(connection: Connection) -> Catalogue:
    """The models of a connection. Two queries."""
    listing = ModelListing.objects.filter(connection=connection).first()
    known = {one.name: one for one in KnownModel.objects.filter(connection=connection)}
    if listing is None:
        return Catalogue(connection, known)
    return Catalogue(connection, known, listing.first_read_at, listing.read_at, listing.problem)


def of_batch(batch: Batch) -> Catalogue:
    """The models of the connection that a batch goes to: of a draft, of the one that it would.

    Two queries, the first time that it is asked; and those of `goes_to.connection_of` for a draft.
    Of a batch that is not stored, the bundled ones.
    """
    if batch._state.adding:
        return Catalogue()
    is_draft = batch.status in EDITABLE
    key = None if is_draft and not batch.connection_chosen else batch.connection_id
    memo: dict[int | None, Catalogue] = batch.__dict__.setdefault("known_models", {})
    if key not in memo:
        memo[key] = catalogue_of(goes_to.connection_of(batch) if is_draft else batch.connection)
    return memo[key]


def forget(batch: Batch) -> None:
    """Let the models of a batch be looked up anew, because they were read meanwhile."""
    batch.__dict__.pop("known_models", None)


def is_known_anywhere(name: str) -> bool:
    """Whether some connection knows a model of this name."""
    return KnownModel.objects.filter(name=name).exists()


def _overlaid(bundled: Model, one: KnownModel) -> Model:
    """A bundled model with what the account says: price, window, plan, and whether it is listed."""
    says_price = one.usd_read is not None
    return structs.replace(
        bundled,
        usd_per_m_input=one.usd_read if says_price else bundled.usd_per_m_input,
        usd_per_m_output=one.usd_written if says_price else bundled.usd_per_m_output,
        context_window=one.context_window or bundled.context_window,
        needs_paid_plan=one.needs_paid_plan or bundled.needs_paid_plan,
        sees=one.sees or bundled.sees,
        listed=_is_offered(one, bundled),
    )


def _is_offered(one: KnownModel, bundled: Model | None = None) -> bool:
    """Whether a model may be chosen. One that was only typed in says nothing of a bundled one."""
    was_listed = one.last_seen is not None
    if not was_listed and bundled is not None:
        return bundled.listed or one.added_by_id is not None
    return one.takes_batches or one.added_by_id is not None


def _unbundled(one: KnownModel) -> Model:
    """A model of which only the account knows, or an administrator."""
    facts = msgspec.convert(one.facts, SchemaFacts)
    usual = catalogue.find(USUAL[one.task]) if one.task in USUAL else None
    return Model(
        name=one.name,
        label=one.name.rpartition("/")[2],
        task=one.task,  # type: ignore[arg-type]
        item_format=facts.item_format or FORMATS[one.task],  # type: ignore[arg-type]
        description=one.description or "A model that batchui has no words about.",
        usd_per_m_input=one.usd_read or 0.0,
        usd_per_m_output=one.usd_written,
        has_price=one.usd_read is not None,
        context_window=one.context_window,
        needs_paid_plan=one.needs_paid_plan,
        options=facts.options or (usual.options if usual else ()),
        schema_nesting=facts.schema_nesting,
        speed="medium",
        reasons=one.reasons,
        sees=one.sees,
        listed=_is_offered(one),
    )


def _withdrawn(one: KnownModel) -> str:
    if one.withdrawn_on is None:
        return ""
    day = f"{one.withdrawn_on:%d %B %Y}".lstrip("0")
    is_over = one.withdrawn_on <= timezone.now().date()
    planned = f"Cloudflare planned to withdraw it on {day}" if is_over else ""
    return f"{planned or f'Cloudflare withdraws it on {day}'}: choose another model in time."


def _other_price(one: KnownModel) -> str:
    before = [one.usd_read_before, one.usd_written_before]
    usd = " and ".join(precise(price) for price in before if price is not None)
    return f"Its price has changed; it was {usd} for a million tokens."
