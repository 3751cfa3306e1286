"""The columns of a batch about its file: what was uploaded, how it is read, what was found."""

import json
from pathlib import PurePath
from typing import Any
from zlib import crc32

from django.db import models

from batchui.prompts.reading.format import UNKNOWN, Choices, Format
from batchui.prompts.reading.rows import decode_row


class Upload(models.Model):
    """A file of rows. The text is in files (see `files.py`)."""

    source_name = models.CharField(max_length=255)
    source_file = models.CharField(max_length=255)
    source_size = models.PositiveBigIntegerField()
    source_sha256 = models.CharField(max_length=64)
    # The bytes of the stored file; 0: of an older version, which stored it as it came.
    source_stored_size = models.PositiveBigIntegerField(default=0)
    # How a person wants it to be read, and how it is read: see `choices` and `format`.
    source_choices = models.JSONField(default=dict)
    source_format = models.JSONField(default=dict)
    # What was made of an upload that is not a plain text, to read its rows from: see `sources.py`.
    converted_file = models.CharField(max_length=255, blank=True, default="")
    converted = models.JSONField(default=dict)
    # The rows as they were read; goes some time after the start: see `draft_rows.py`.
    draft_rows_file = models.CharField(max_length=255, blank=True, default="")
    # A ZIP archive with pictures that rows name; that of the rows themselves, or another file.
    pictures_file = models.CharField(max_length=255, blank=True, default="")
    pictures_name = models.CharField(max_length=255, blank=True, default="")
    pictures_count = models.PositiveIntegerField(default=0)
    rows = models.PositiveIntegerField(default=0)
    bad_rows = models.PositiveIntegerField(default=0)
    # Why the batch cannot start, as a sentence, and the first rows it is about.
    problem = models.TextField(blank=True)
    problem_rows = models.JSONField(default=list)
    # All of them: how many, and the file (see `row_problems.py`).
    problem_count = models.PositiveIntegerField(default=0)
    problems_file = models.CharField(max_length=255, blank=True, default="")
    # Per column: how many cells are blank, and the first such row.
    blanks = models.JSONField(default=dict)
    # The first rows as JSON texts, with numbers as they were written (see `first_rows`), and those
    # above them: titles, and the names of the columns.
    sample = models.JSONField(default=list)
    above = models.JSONField(default=list)

    class Meta:
        abstract = True

    @property
    def format(self) -> Format:
        """How the upload is read. Without columns as long as nothing is known about it."""
        return Format.from_dict(self.source_format) if self.source_format else UNKNOWN

    @property
    def format_key(self) -> str:
        """A text that changes whenever the file is found to be read in another way.

        Another sheet is another file that was made of the upload, and may have the same format.
        """
        read = json.dumps([self.source_format, self.converted_file], sort_keys=True)
        return f"{crc32(read.encode()):08x}"

    @property
    def choices(self) -> Choices:
        """What a person chose about how the upload is read."""
        return Choices.from_dict(self.source_choices)

    @property
    def is_text(self) -> bool:
        """Whether the rows are read from a text that somebody wrote, perhaps packed."""
        return bool(self.converted.get("kind", "text") == "text")

    @property
    def sheets(self) -> list[dict[str, Any]]:
        """The sheets of a workbook (see `converted.Sheet`), each with its first rows."""
        sheets: list[dict[str, Any]] = self.converted.get("sheets", [])
        return sheets

    @property
    def sheet(self) -> dict[str, Any] | None:
        """The sheet that is read; None if the upload has none."""
        return self.sheets[self.converted["chosen"]] if self.sheets else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file, in file order."""
        return self.format.columns

    @property
    def first_rows(self) -> list[Any]:
        """The cells of the first rows: for the page and for the preview of the prompts."""
        return [decode_row(text.encode()) for text in self.sample]

    @property
    def rows_above(self) -> list[tuple[int, Any]]:
        """The cells of the last rows above the first one, with their numbers."""
        rows = [decode_row(text.encode()) for text in self.above]
        return list(enumerate(rows, self.format.first_row - len(rows)))

    @property
    def askable_rows(self) -> int:
        """The number of rows that can be asked."""
        return self.rows - self.bad_rows

    @property
    def has_pictures_inside(self) -> bool:
        """Whether the upload is an archive of pictures, with its rows or without."""
        return self.pictures_file != "" and self.pictures_file == self.source_file

    @property
    def source_stem(self) -> str:
        """The name of the upload without its ending."""
        return PurePath(self.source_name).stem
