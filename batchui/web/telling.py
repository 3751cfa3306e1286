"""A quiet word when a batch ends: what a page asks now and then, also while nobody sees its tab."""

from contextlib import suppress
from uuid import UUID

from django.http import HttpResponse, JsonResponse

from batchui.batches.models import Batch
from batchui.batches.states import ACTIVE_BATCHES
from batchui.web import status_words
from batchui.web.history_lines import SHOWN
from batchui.web.members import MemberRequest, member_required

# A page watches so many batches.
MOST_WATCHED = 100


@member_required
def ended(request: MemberRequest) -> HttpResponse:
    """Those of the batches in `?batch=` that are no longer under way; 204 if all are.

    Each has its id, its address, the word for its state with its name, and a sentence.
    """
    ids = []
    for text in request.GET.getlist("batch")[:MOST_WATCHED]:
        with suppress(ValueError):
            ids.append(UUID(text))
    found = Batch.objects.of_team(request.team).filter(pk__in=ids).only(*SHOWN)
    over = [_told(batch) for batch in found.exclude(status__in=ACTIVE_BATCHES)]
    return JsonResponse({"ended": over}) if over else HttpResponse(status=204)


def _told(batch: Batch) -> dict[str, str]:
    shown = status_words.of_batch(batch)
    return {
        "id": str(batch.pk),
        "address": batch.get_absolute_url(),
        "title": f"{shown.word}: {batch.name}",
        "sentence": shown.sentence,
    }
