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
    ("2026-06-06", "Braga", "The receptionist drew us a map of the old town. It made our day."),
    ("2026-06-07", "Lisbon", "Air conditioning rattled all night, and earplugs cost two euros."),
    ("2026-06-09", "Porto", "Breakfast until noon! Whoever thought of that deserves a medal."),
    ("2026-06-11", "Faro", "The room smelled of smoke. They moved us within ten minutes."),
    ("2026-06-12", "Évora", "Cool thick walls, a well in the courtyard, and no traffic at all."),
    ("2026-06-14", "Lisbon", "Booked a double bed and got two singles pushed together."),
    ("2026-06-15", "Coimbra", "Students sang in the street until three. Charming for one night."),
    ("2026-06-17", "Porto", "Check-in took forty minutes because the system was down."),
    ("2026-06-19", "Braga", "Spotless bathroom, and a hair dryer that works."),
    ("2026-06-20", "Faro", "Our dog got a bowl, a blanket and a biscuit. We got a view."),
    ("2026-06-22", "Lisbon", "Charged twice for the minibar we never opened."),
    ("2026-06-23", "Évora", "The owner bakes the bread himself. Ask for the fig jam."),
    ("2026-06-25", "Porto", "Steep stairs and no lift: not for heavy cases."),
    ("2026-06-27", "Coimbra", "Room 12 has the best light in the house."),
    ("2026-06-28", "Lisbon", "Towels were changed every day although we had asked them not to."),
    ("2026-06-30", "Faro", "The beach bus stops at the door every half hour. Perfect."),
    ("2026-07-01", "Braga", "Pillows like bricks, but a very kind night porter."),
    ("2026-07-03", "Porto", "We left a charger behind; it was at home before we were."),
    ("2026-07-04", "Lisbon", "Rooftop bar closed at nine, with no word of it at check-in."),
    ("2026-07-06", "Évora", "Swallows nest above the window. Bring a camera."),
    ("2026-07-08", "Coimbra", "The shower floods the whole bathroom."),
    ("2026-07-09", "Faro", "Vegetarian breakfast meant one tomato."),
    ("2026-07-11", "Porto", "A quiet desk, fast Wi-Fi, good coffee: I worked better than at home."),
    ("2026-07-12", "Lisbon", "The taxi they called knew a better price than the app."),
    ("2026-07-14", "Braga", "Nothing special, nothing wrong, fair price."),
    ("2026-07-16", "Évora", "Habitación amplia, cama cómoda y un desayuno estupendo."),
    ("2026-07-17", "Porto", "Mold in the corner of the ceiling. They gave us a discount."),
    ("2026-07-19", "Faro", "Children eat free, and the cook makes faces on the pancakes."),
    ("2026-07-20", "Lisbon", "The photos must be ten years old."),
    ("2026-07-22", "Coimbra", "They printed our train tickets and walked us to the station."),
    ("2026-07-24", "Porto", "Thin walls. We know everything about our neighbours now."),
    ("2026-07-25", "Braga", "Garden with lemon trees and hammocks. We stayed two days longer."),
    ("2026-07-27", "Faro", "Key card failed four times in three days."),
    ("2026-07-28", "Lisbon", "Fresh flowers in the room, and somebody had remembered my birthday."),
    ("2026-07-30", "Évora", "Too hot under the roof, and the fan was broken."),
    ("2026-08-01", "Porto", "The tram stops in front of the door; so does its bell, at six."),
    ("2026-08-02", "Coimbra", "Simple, cheap and clean. Exactly as described."),
    ("2026-08-04", "Lisbon", "Waiting for an answer to three e-mails about an invoice."),
    ("2026-08-06", "Faro", "Best shower pressure in the Algarve."),
    ("2026-08-07", "Braga", "Das Zimmer war laut, aber das Personal hat sofort geholfen."),
    ("2026-08-09", "Porto", "Wine tasting on Thursdays, with cheese from the next village."),
    ("2026-08-10", "Évora", "No parking, no sign, no number on the door. Worth finding."),
    ("2026-08-12", "Lisbon", "The bed was so soft that my back still hurts."),
    ("2026-08-14", "Faro", "They kept breakfast for us when the ferry was late."),
    (
        "2026-08-15",
        "Coimbra",
        "Our window looked at a wall, and the wall looked back.",
    ),
    (
        "2026-08-17",
        "Porto",
        "No step from street to shower: thank you from a wheelchair.",
    ),
    ("2026-08-19", "Braga", "Construction next door from seven in the morning."),
    ("2026-08-20", "Lisbon", "Everything within walking distance, and nobody in a hurry."),
)


def sample_csv() -> bytes:
    """The sample file as a spreadsheet saves it: UTF-8 with a byte order mark, commas, CRLF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(("date", "city", "review"))
    writer.writerows(_REVIEWS)
    return out.getvalue().encode("utf-8-sig")
