"""The lease, the lock and the limit that all steps share. A step sends a part, or polls it."""

import threading
from datetime import timedelta

from django.conf import settings

# django-q2 ends a process whose task outlasts its timeout: no POST outlives this.
PART_LEASE = timedelta(seconds=settings.LONGEST_TASK_SECONDS + 30)

# One request is made, or one reply understood, at a time: under the GIL more would not be
# faster, and memory stays at one part.
ONE_IN_MEMORY = threading.Lock()
# A larger reply lies in a temporary file until it is its turn: each thread may have one.
REPLY_IN_MEMORY = 256 * 1024
