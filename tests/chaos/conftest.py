"""What tests of chaos ask for: stored files and a sandbox of their own."""

from tests.batches.conftest import files_in, shared_sandbox

__all__ = ["files_in", "shared_sandbox"]
