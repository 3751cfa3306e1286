"""The signal that something waits to be done.

Nothing depends on it. Background work looks for itself every two seconds; whoever drives it may
connect here to look at once.
"""

from django.dispatch import Signal

# Sender: Batch. `batch`: one to be read by a worker, or whose parts may be sent now.
work_waits = Signal()
