"""The question that every side of the bench asks, and the columns of the file."""

MODEL = "@cf/meta/llama-4-scout-17b-16e-instruct"
TEMPLATE = "Say in one sentence what the guest liked and disliked: {{review}}"
MAX_TOKENS = 1024
COLUMNS = ("id", "city", "review")


def question(review: str) -> str:
    """The prompt for one review, as every side has to send it."""
    return TEMPLATE.replace("{{review}}", review)
