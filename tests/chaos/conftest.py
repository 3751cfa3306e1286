"""What tests of chaos ask for: stored files and a sandbox of their own."""

from tests.batches.conftest import files_in, receive, sandbox, shared_sandbox, start, team

__all__ = ["files_in", "receive", "sandbox", "shared_sandbox", "start", "team"]
