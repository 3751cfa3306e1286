"""The sample file for trying the product."""

import csv
import io

SAMPLE_NAME = "sample-reviews.csv"
SAMPLE_PROMPT = (
    "Read this hotel review and say in one sentence what the guest liked and disliked.\n\n"
    "Review: {{review}}"
)

_REVIEWS = (
    ("2026-05-02", "Lisbon", "Lovely room with a view of the river. Breakfast was cold twice."),
    ("2026-05-03", "Porto", "The lift was broken, but the staff carried our bags. Thank you, Rui!"),
    ("2026-05-07", "Lisbon", "Quiet, clean, ten minutes from the station. We would come back."),
    ("2026-05-11", "Faro", "Nobody at the desk after ten. We waited an hour with two children."),
    ("2026-05-12", "Porto", "Best coffee of the trip, and the terrace at sunset is a dream."),
    ("2026-05-15", "Braga", "Wi-Fi did not reach the third floor. Otherwise good value."),
    ("2026-05-19", "Lisbon", "Le lit était parfait, mais la rue est bruyante jusqu'à minuit."),
    ("2026-05-21", "Faro", "Pool closed for repairs, and the website did not say so."),
    ("2026-05-26", "Braga", "Sehr freundlich, sehr sauber. Das Frühstück könnte größer sein."),
    ("2026-05-30", "Porto", 'They called it a "suite". It was a cupboard with a window.'),
    ("2026-06-01", "Lisbon", "Great shower, soft towels, and a bookshelf in the room!"),
    ("2026-06-04", "Faro", "Paid for parking that does not exist. Still waiting for the refund."),
)


def sample_csv() -> bytes:
    """The sample file as a spreadsheet saves it: UTF-8 with a byte order mark, commas, CRLF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(("date", "city", "review"))
    writer.writerows(_REVIEWS)
    return out.getvalue().encode("utf-8-sig")
