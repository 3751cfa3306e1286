"""What the replies of a Worker mean, where that differs from the REST API (see `errors`).

Errors of Workers AI come through it with their codes. Those of 990xxx are its own
(cloudflare-worker/worker.js).
"""

from batchui.cloudflare.errors import LOCKED_OUT_CODES, REST, Busy, Ruling, Rulings

_ENTER = " Ask an administrator of the team to enter what the Worker has as BATCHUI_SECRET."
_MANAGER = " Ask the person who manages it "


def _held(sentence: str) -> Ruling:
    """A person must correct something; until then nothing is sent."""
    return Ruling(Busy, sentence, {"needs_person": True})


_WRONG_SECRET = _held(
    "Your Worker ({server}) does not accept the secret of this connection." + _ENTER
)
_NO_SECRET = _held(
    "Your Worker ({server}) has no secret, or one of less than 32 characters, and answers nobody."
    + _MANAGER
    + "to set BATCHUI_SECRET."
)
_NO_ROUTE = _held(
    "Your Worker ({server}) does not know this call."
    + _MANAGER
    + "to deploy the worker.js of this version of batchui."
)
_NO_BINDING = _held(
    "Your Worker ({server}) is not connected to Workers AI." + _MANAGER + "to add the binding AI."
)
_LOCKED_OUT = _held(
    "Cloudflare does not let your Worker ({server}) use Workers AI.{reason} Ask the person who "
    "manages the Cloudflare account to check the Worker and its binding AI."
)
_UNEXPLAINED = _held(
    "Your Worker ({server}) was refused without a reason (HTTP {status})."
    + _MANAGER
    + "to check its binding AI."
)
_STRANGE = _held(
    "Something other than your Worker answered at {server} (HTTP {status}). Ask an administrator "
    "of the team to check the address, and whether a sign-in page or the like stands before it."
)
_REDIRECTED = _held(
    "The address of your Worker ({server}) redirects to another one (HTTP {status}). batchui does "
    "not send the secret there. Ask an administrator of the team to check the address."
)

# Of what the Worker finds wrong with the secret.
SECRET_CODES = (990401, 990403)
WORKER = Rulings(
    {
        **REST.by_code,
        **dict.fromkeys(LOCKED_OUT_CODES, _LOCKED_OUT),
        990401: _WRONG_SECRET,
        990403: _NO_SECRET,
        990404: _NO_ROUTE,
        990424: _NO_BINDING,
    },
    locked_out=_LOCKED_OUT,
    unexplained=_UNEXPLAINED,
    strange=_STRANGE,
    redirected=_REDIRECTED,
)
