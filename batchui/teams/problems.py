"""What can go wrong with people, links and connections, each as a sentence for the page."""


class TeamProblem(Exception):
    """Something a person asked for cannot be done.

    `str(exc)` is the sentence to show: it names the thing, says what happened and what to do.
    """


class LinkProblem(TeamProblem):
    """A link that opens nothing: it is unknown, used, withdrawn, replaced or too old.

    `gone` is true when the link did work once, so that the page answers 410 rather than 404.
    """

    def __init__(self, sentence: str, *, gone: bool = True) -> None:
        super().__init__(sentence)
        self.gone = gone


class EmailTaken(TeamProblem):
    """Somebody already signs in with this e-mail address."""


class UnreadableSecret(TeamProblem):
    """A stored secret was encrypted with a key that is no longer configured."""
