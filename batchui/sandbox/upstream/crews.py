"""Which crew works for which account."""

import threading

from batchui.sandbox.errors import UNKNOWN_UPSTREAM, ApiError
from batchui.sandbox.upstream.crew import Crew
from batchui.sandbox.upstream.pauses import Patience
from batchui.sandbox.upstream.settings import Upstream
from batchui.sandbox.upstream.work_store import WorkStore

# How the names of accounts begin that have an upstream of their own.
LOCAL = "local-"


class Crews:
    """The crews of a sandbox: one for each registered account, and one for all other accounts.

    upstream: of the others; None: their answers are made up.
    """

    def __init__(self, store: WorkStore, *, upstream: Upstream | None, patience: Patience) -> None:
        """Raises sqlite3.Error."""
        self.store = store
        self._patience = patience
        self._lock = threading.Lock()
        self._registered: dict[str, Crew] = {}
        self._others = self._begun(upstream, account=None) if upstream else None

    def of(self, account: str) -> Crew | None:
        """The crew of an account; None if its answers are made up.

        Raises ApiError UNKNOWN_UPSTREAM for a `local-` account that nobody has registered since
        the start.
        """
        if not account.startswith(LOCAL):
            return self._others
        with self._lock:
            crew = self._registered.get(account)
        if crew is None:
            raise unknown(account)
        return crew

    def register(self, account: str, upstream: Upstream) -> None:
        """Give a `local-` account its upstream, or another one. Its requests go on.

        Raises sqlite3.Error.
        """
        with self._lock:
            crew = self._registered.get(account)
            if crew is None:
                self._registered[account] = self._begun(upstream, account=account)
            else:
                crew.use(upstream)

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            crews = list(self._registered.values())
        for crew in [*crews, *filter(None, [self._others])]:
            crew.close()

    def _begun(self, upstream: Upstream, *, account: str | None) -> Crew:
        """A crew, with the requests of the account (None: of all others) that have not ended."""
        crew = Crew(upstream, self.store, patience=self._patience)
        for request in self.store.unfinished():
            owner = request.account if request.account.startswith(LOCAL) else None
            if owner == account:
                crew.add(request.id, model=request.model, left=request.left)
        return crew


def unknown(account: str) -> ApiError:
    """The error for an account whose requests cannot go on, as no upstream is known for it."""
    if account.startswith(LOCAL):
        told = "it must be told again after each start"
    else:
        told = "start the sandbox with SANDBOX_UPSTREAM_URL, as it was when this was sent"
    return ApiError(
        UNKNOWN_UPSTREAM, f"This sandbox does not know the model server of {account}: {told}."
    )
