"""Why no backup can be made, or none can be put back."""


class NotPossible(Exception):
    """A backup that cannot be made or restored now. str() is a sentence on what to do."""


class BadArchive(Exception):
    """A file that is no whole backup. str() is a sentence that says why, and at which place."""
