"""Which requests are charged without bringing an answer, or may be.

What brings no answer is told apart by whether the model was asked. A request that was found invalid
(3030) or failed as a whole, and an item that failed, have nothing to charge. Any other request that
was accepted may be charged, and so is a row whose answer is empty, unreadable or not in the reply.
"""

from django.db.models import Case, F, IntegerField, Q, Value, When

from batchui.batches.states import CHARGED, CHARGED_PERHAPS, AttemptStatus
from batchui.cloudflare.errors import FOUND_INVALID

# The code of a request that was accepted, and refused when it was polled: found invalid.
JUDGED_WHEN_POLLED = FOUND_INVALID
# One that failed as a whole has no code.
NEVER_ASKED = (None, JUDGED_WHEN_POLLED)

# Accepted, and refused at every poll: its answers cannot be had.
_REFUSED_WHEN_POLLED = (
    Q(status=AttemptStatus.REFUSED, code__isnull=False)
    & ~Q(request_id="")
    & ~Q(code=JUDGED_WHEN_POLLED)
)
_ANSWERED = Q(status=AttemptStatus.ANSWERED)

# Attempts that were charged, or may have been.
MAYBE_CHARGED = Q(status__in=CHARGED) | _REFUSED_WHEN_POLLED
# The number of rows of an attempt that were charged without an answer, or may have been.
ROWS_IN_VAIN = Case(
    When(Q(status__in=CHARGED_PERHAPS) | _REFUSED_WHEN_POLLED, then=F("items")),
    When(_ANSWERED, then=F("in_vain")),
    default=Value(0),
    output_field=IntegerField(),
)
# Attempts of which rows were charged without an answer and sent again, if any attempt follows. The
# rows of the last two kinds are sent again by a Retry alone.
SENT_AGAIN_IN_VAIN = Q(status__in=CHARGED_PERHAPS) | Q(
    _REFUSED_WHEN_POLLED | (_ANSWERED & Q(in_vain__gt=0)),
    number__lte=F("part__attempts_before"),
)
