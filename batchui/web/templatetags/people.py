"""What the pages about people show besides their context."""

from typing import NamedTuple

from django import template
from django.template import Context

from batchui.web import link_addresses
from batchui.web.connecting import shown
from batchui.web.connecting.kinds import KINDS, Kind
from batchui.web.connecting.shown import Shown

register = template.Library()


class LinkAddress(NamedTuple):
    """own: the address by which batchui was opened. others: those that other machines can reach."""

    own: str
    is_only_here: bool
    others: list[str]


@register.simple_tag(takes_context=True)
def link_address(context: Context) -> LinkAddress:
    """Where the links that are made on this page would work."""
    own = link_addresses.own(context["request"])
    others = link_addresses.for_others(context["request"])
    return LinkAddress(own, link_addresses.is_of_this_computer(own), others)


@register.simple_tag(takes_context=True)
def refused_connections(context: Context) -> list[Shown]:
    """The connections of the team that are not let in."""
    return shown.refused_of(context["request"].team)


@register.simple_tag(takes_context=True)
def administrators(context: Context) -> list[str]:
    """The names of those who may change connections."""
    return list(shown.administrators_of(context["request"].team))


@register.simple_tag
def kinds_to_connect() -> list[Kind]:
    """The kinds of connections that an administrator can add."""
    return list(KINDS.values())
