"""Addresses of pages for those who are not in a browser."""

from django.conf import settings

from batchui.batches.models import Batch


def page_address(batch: Batch) -> str:
    """The absolute URL of a batch's page; the path alone when BASE_URL is not known."""
    return f"{settings.BASE_URL}{batch.get_absolute_url()}"
