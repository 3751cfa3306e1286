"""The security log: who came in, who was kept out, and who changed what.

Each event is one line of the logger `batchui.security`, with its facts: `who` did it, `whom` it is
about, `address` of the browser. No fact is a secret: links are named by their number.
"""

import logging
from contextvars import ContextVar

logger = logging.getLogger("batchui.security")

# Longer facts come from somebody who types them: an e-mail address, the name of a file.
LONGEST_FACT = 200

# The address of the client whose request is answered now; "" in the terminal and in workers.
client_address: ContextVar[str] = ContextVar("client_address", default="")


def record(event: str, **facts: object) -> None:
    """Write down an event, such as "signed in". Facts that are None are left out."""
    found = {name: str(fact)[:LONGEST_FACT] for name, fact in facts.items() if fact is not None}
    if address := client_address.get():
        found["address"] = address
    logger.info(event, extra={"facts": found})
