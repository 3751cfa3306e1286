"""The errors about people, links and connections, each with a sentence for the page."""


class TeamProblem(Exception):
    """Something that a person asked for cannot be done.

    `str(exc)` is the sentence to show: what is wrong, and what to do.
    """


class LinkProblem(TeamProblem):
    """A link that does not work: it is unknown, used, withdrawn, replaced or too old.

    `gone`: the link worked before, so the page answers 410, not 404.
    """

    def __init__(self, sentence: str, *, gone: bool = True) -> None:
        super().__init__(sentence)
        self.gone = gone


class EmailTaken(TeamProblem):
    """Somebody already signs in with this e-mail address."""


class UnreadableSecret(TeamProblem):
    """A stored secret was encrypted with a key that is no longer in the settings."""
