"""The addresses of the stylesheet and the script, for the head of every page."""

from django import template

from batchui.web.static_files import addresses

register = template.Library()

register.simple_tag(addresses, name="addresses_of")
