"""Every file of the corpus takes the product's own path."""

from tests.batches.conftest import files_in, receive, team

__all__ = ["files_in", "receive", "team"]
