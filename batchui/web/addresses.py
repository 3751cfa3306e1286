"""Addresses of pages for those who are not in a browser."""

from django.conf import settings

from batchui.batches.models import Batch


def page_address(batch: Batch) -> str:
    """Where a batch is to be seen: whole where the web server's address is known, else the path."""
    return f"{settings.BASE_URL}{batch.get_absolute_url()}"
