"""Addresses of pages for those who are not in a browser."""

from django.conf import settings

from batchui.batches.models import Batch


def page_address(batch: Batch) -> str:
    """Where a batch is to be seen: the whole address while `up` runs, else its path."""
    try:
        site = settings.ADDRESS_FILE.read_text().strip()
    except FileNotFoundError:
        site = ""
    return f"{site}{batch.get_absolute_url()}"
