"""The exception of this package, and the limit that its modules share."""

# In bytes, as a picture comes: a photo of 48 megapixels has about 15 MB.
LARGEST_SOURCE = 25_000_000
_MB = 1_000_000


class NoPicture(Exception):
    """Why there is no picture.

    `str(exc)` is a whole sentence for the page: what is wrong, and what to do. It has no secret: of
    an address it names the host alone. `passes`: trying again later may help.
    """

    def __init__(self, sentence: str, *, passes: bool = False) -> None:
        super().__init__(sentence)
        self.passes = passes


def too_large(what: str) -> NoPicture:
    """The error for a picture of more than LARGEST_SOURCE bytes. what: begins its sentence."""
    return NoPicture(
        f"{what} is larger than {LARGEST_SOURCE // _MB} MB. Make it smaller, or save it as JPEG."
    )
