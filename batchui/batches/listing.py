"""Reads the models of a connection, daily and on demand; and takes in one that is typed."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from batchui.batches import call_limit
from batchui.batches.clients import shared_client
from batchui.batches.known_models import KnownModel, ModelListing
from batchui.cloudflare import catalogue
from batchui.cloudflare.accounts import check_model
from batchui.cloudflare.errors import CloudflareError, Refused
from batchui.cloudflare.listed_models import ListedModel, listed, schema_facts
from batchui.cloudflare.protocol import BatchClient
from batchui.prompts.problems import BadInput
from batchui.teams.connections import takes_new_batches
from batchui.teams.models import Connection, User
from batchui.teams.problems import TeamProblem

logger = logging.getLogger(__name__)

# A listing is read so often; one that did not come is asked for again sooner.
DAILY, AGAIN = timedelta(days=1), timedelta(hours=1)
# The calls of one reading: the pages of the listing, and schemas of models that are new.
PAGES, MOST_SCHEMAS = 2, 20
TASKS = ("chat", "embedding", "translation")
NO_TASK = "Choose what the model does."


def refresh_models(connection: Connection) -> str:
    """Read the models of a connection now. Returns "" or the sentence about why it failed.

    Nothing changes then: what was read before stays. Models that are gone keep their row.
    """
    now = timezone.now()
    ModelListing.objects.get_or_create(connection=connection)
    ModelListing.objects.filter(connection=connection).update(tried_at=now)
    if call_limit.take(connection, PAGES) < PAGES:
        return _failed(connection, "Too many calls were made in the last minutes. Try again soon.")
    try:
        client = shared_client(connection)
        entries = [one for entry in client.models() if (one := listed(entry))]
        if not entries:
            return _failed(connection, "The account lists no models for text.")
        facts = _facts_of_new(connection, client, entries)
    except CloudflareError as problem:
        return _failed(connection, problem.user_message)
    except TeamProblem as problem:
        return _failed(connection, str(problem))
    _store(connection, entries, facts, now)
    return ""


def refresh_due() -> bool:
    """Read the listing of one connection whose last is a day old. False: there is none.

    Of those to which new batches may go, and of one alone, because it may take as long as a call
    may. A listing that was asked for within the hour is left alone, so that two workers do not both
    read it.
    """
    now = timezone.now()
    is_due = Q(listing=None) | (
        (Q(listing__read_at=None) | Q(listing__read_at__lt=now - DAILY))
        & (Q(listing__tried_at=None) | Q(listing__tried_at__lt=now - AGAIN))
    )
    ours = Connection.objects.filter(takes_new_batches(), is_due)
    connection = ours.order_by("listing__tried_at", "pk").first()
    if connection is None:
        return False
    if problem := refresh_models(connection):
        logger.warning("The models of connection %s were not read: %s", connection.pk, problem)
    return True


def add_model(connection: Connection, name: str, *, task: str, by: User) -> KnownModel:
    """Let people choose a model that the listing does not have. Raises BadInput.

    by: an administrator; who asks makes sure of that.
    """
    name = name.strip()
    try:
        check_model(name)
    except Refused as problem:
        raise BadInput(problem.user_message) from None
    try:
        task = catalogue.find(name).task
    except catalogue.UnknownModel:
        if task not in TASKS:
            raise BadInput(NO_TASK) from None
    added, _ = KnownModel.objects.update_or_create(
        connection=connection,
        name=name,
        defaults={"added_by": by},
        create_defaults={"added_by": by, "task": task},
    )
    return added


def _failed(connection: Connection, why: str) -> str:
    ModelListing.objects.filter(connection=connection).update(problem=why)
    return why


def _facts_of_new(
    connection: Connection, client: BatchClient, entries: Iterable[ListedModel]
) -> dict[str, Any]:
    """The facts in the schemas of models for batches that batchui has no words about."""
    known = KnownModel.objects.filter(connection=connection).exclude(facts={})
    read = set(known.values_list("name", flat=True))
    found: dict[str, Any] = {}
    for one in entries:
        if not one.takes_batches or one.name in read or _is_bundled(one.name):
            continue
        if len(found) == MOST_SCHEMAS or not call_limit.take(connection, 1):
            break
        facts = schema_facts(client.schema(one.name), one.task)
        found[one.name] = msgspec.to_builtins(facts)
    return found


def _is_bundled(name: str) -> bool:
    try:
        catalogue.find(name)
    except catalogue.UnknownModel:
        return False
    return True


@transaction.atomic
def _store(
    connection: Connection, entries: list[ListedModel], facts: dict[str, Any], now: datetime
) -> None:
    """Store what was listed. Of models that are gone only the batch flag changes."""
    listing = ModelListing.objects.select_for_update().get(connection=connection)
    before = {one.name: one for one in KnownModel.objects.filter(connection=connection)}
    for one in entries:
        known = before.pop(one.name, None) or KnownModel(
            connection=connection, name=one.name, first_seen=now
        )
        _note_price(known, one, now)
        for name in ("task", "description", "takes_batches", "usd_read", "usd_written"):
            setattr(known, name, getattr(one, name))
        known.context_window, known.withdrawn_on = one.context_window, one.withdrawn_on
        known.needs_paid_plan = one.needs_paid_plan
        known.reasons, known.sees = one.reasons, one.sees
        known.took_batches = known.took_batches or one.takes_batches
        known.facts = facts.get(one.name, known.facts)
        known.last_seen = now
        known.save()
    gone = [one.pk for one in before.values()]
    KnownModel.objects.filter(pk__in=gone).update(takes_batches=False)
    listing.first_read_at = listing.first_read_at or now
    listing.read_at, listing.problem = now, ""
    listing.save()


def _note_price(known: KnownModel, one: ListedModel, now: datetime) -> None:
    """Keep the price before, where it is another one now."""
    before, after = (known.usd_read, known.usd_written), (one.usd_read, one.usd_written)
    if known.last_seen is not None and before != after:
        known.usd_read_before, known.usd_written_before = before
        known.price_changed_at = now
