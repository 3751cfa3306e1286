"""What tests of background work ask for: batches with a real sandbox behind them."""

from tests.batches.conftest import batch, files_in, receive, sandbox, shared_sandbox, start, team

__all__ = ["batch", "files_in", "receive", "sandbox", "shared_sandbox", "start", "team"]
