"""What never gets into a log."""

import logging
import re

LINK = re.compile(r"(/(?:setup|join)/)[^/\s\"']+")


class LinksBlottedOut(logging.Filter):
    """Takes the token out of links that let people in, wherever an address is logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if LINK.search(message):
            record.msg, record.args = LINK.sub(r"\1…", message), ()
        return True
