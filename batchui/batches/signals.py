"""The signal that there is work to do.

Work goes on without it: workers look for work every five seconds. A listener can wake them at once.
"""

from django.dispatch import Signal

# Sender: Batch. `batch`: a worker has to read its file, or may send its parts now.
work_waits = Signal()
