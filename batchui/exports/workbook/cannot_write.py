"""The error for a workbook that cannot take the answers."""

SAVE_AGAIN = "Open it in Excel or LibreOffice, save it as XLSX, and upload that file."
NOT_WELL_FORMED = "Its XML is not well-formed."
TOO_LONG = "The sheet has a row, or a beginning, that is too long."
NO_ROWS = "The sheet has something else where its rows should be."
DOCTYPE = "It has a document type declaration, which XLSX does not allow."


class CannotWrite(ValueError):
    """Answers cannot be added to this workbook without a risk to what is in it.

    str() is one or two plain sentences for the page: what is wrong, and what to do if something can
    be done. A new workbook can always be made instead.
    """


def unreadable(what: str) -> CannotWrite:
    """The error for a file that programs may read differently. what: a sentence that says why."""
    return CannotWrite(f"The workbook is not made as Excel makes it. {what} {SAVE_AGAIN}")


def another_kind(which: str) -> CannotWrite:
    """The error for a file of another kind. which: what it is."""
    return CannotWrite(
        f"Only XLSX and XLSM workbooks can be added to; this is {which}. {SAVE_AGAIN}"
    )


def damaged() -> CannotWrite:
    """The error for a file of which a piece is missing or changed."""
    return CannotWrite("The workbook is damaged, or was cut short. Upload it once more.")
