"""Addresses of pages, to be printed in a terminal."""

from django.conf import settings

from batchui.batches.models import Batch


def page_address(batch: Batch) -> str:
    """The absolute URL of a batch's page; only its path if BASE_URL is not known."""
    return f"{settings.BASE_URL}{batch.get_absolute_url()}"
