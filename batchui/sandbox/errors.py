"""The API's errors: codes with their usual HTTP status and message."""

# The sandbox's own codes, for accounts whose requests an upstream works off. Their statuses are
# such that a client which does not know them does the right thing: it waits after 429 and 403.
UNKNOWN_UPSTREAM = 990001  # it must be registered; nothing was accepted
UPSTREAM_REFUSES = 990002  # until a person has corrected something
UPSTREAM_AWAY = 990003  # nothing was asked
ITEM_FAILED = 990004
WRONG_UPSTREAM = 990005

# code: (HTTP status, message). Codes and statuses are those of the reference, which has several
# statuses for some codes and only "4xx" for 5504. The status of 6002 and all of 7001 are the
# sandbox's choice. The messages of 8007 and 5504 are from the reference, the others are made up.
CODES: dict[int, tuple[int, str]] = {
    1000: (401, "Invalid API Token"),
    3003: (400, "AiError: Request is missing headers or body"),
    3006: (413, "AiError: Request is too large"),
    3007: (408, "AiError: Request timeout"),
    3008: (408, "AiError: Request was aborted"),
    3021: (429, "AiError: Rate limit reached, try again in a minute"),
    3023: (403, "AiError: Account is blocked from using Workers AI"),
    3030: (400, "AiError: Batch validation failed"),
    3036: (
        429,
        "AiError: you have used up your daily free allocation of 10,000 neurons, "
        "please upgrade to Cloudflare's Workers Paid plan to continue",
    ),
    3039: (400, "AiError: Finetune is missing required files"),
    3040: (429, "AiError: Capacity temporarily exceeded, please try again."),
    3041: (403, "AiError: This account is not allowed to use this model"),
    3042: (404, "AiError: Invalid model id"),
    3050: (429, "AiError: Max retries exhausted, out of capacity"),
    5001: (500, "AiError: Internal error"),
    5004: (400, "AiError: Invalid data"),
    5005: (405, "AiError: This model does not support LoRA"),
    5006: (400, "AiError: Bad input"),
    5007: (400, "AiError: No such model or task"),
    5016: (403, "AiError: Prior to using this model, you must submit the prompt 'agree'."),
    5018: (403, "AiError: This account is not allowed to access this model"),
    5019: (405, "AiError: Deprecated SDK version"),
    5025: (400, "AiError: This model does not support JSON Schema"),
    5035: (403, "AiError: This model needs the Workers Paid plan"),
    5504: (404, "AiError: Request not found in queue"),
    6002: (404, "Schema not found"),
    7001: (405, "Method not available for that URI"),
    7003: (404, "Could not route, perhaps your object identifier is invalid?"),
    8007: (400, "AiError: This model does not support request queuing"),
    8008: (500, "AiError: Backend error"),
    9109: (403, "Unauthorized to access requested resource"),
    10000: (401, "Authentication error"),
    UNKNOWN_UPSTREAM: (409, "The model server of this account is not known"),
    UPSTREAM_REFUSES: (403, "The model server refuses"),
    UPSTREAM_AWAY: (429, "The model server cannot be reached"),
    ITEM_FAILED: (422, "The model server gave no answer"),
    WRONG_UPSTREAM: (400, "These are no settings of a model server"),
}


class ApiError(Exception):
    """The answer to the call is an error. Defaults of status and message: those of the code.

    wait: seconds that the caller is asked to wait; None: none are named.
    """

    def __init__(
        self, code: int, message: str = "", *, status: int = 0, wait: float | None = None
    ) -> None:
        usual_status, usual_message = CODES.get(code, (400, "Unknown error"))
        self.code = code
        self.status = status or usual_status
        self.message = message or usual_message
        self.wait = wait
        super().__init__(f"{self.code}: {self.message}")
