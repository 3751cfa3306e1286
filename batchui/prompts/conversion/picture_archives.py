"""ZIP archives of pictures, without a table: each picture is a row that has its name."""

import json
import re
import zipfile

from batchui.prompts.conversion.converted import Result, Sheet
from batchui.prompts.conversion.looking import File, name_of, without_clutter
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.pictures import is_picture_name

FORMATS: tuple[str, ...] = ()  # `kinds.CAN_BE_READ` has words for it
NAME, COLUMN = "pictures.zst", "picture"
_DIGITS = re.compile(r"(\d+)")


def is_of(file: File) -> bool:
    """Whether a ZIP archive has pictures, and nothing else."""
    names = without_clutter(file.holds)
    return bool(names) and len(pictures_in(file)) == len(names)


def pictures_in(file: File) -> list[str]:
    """The names of the pictures in a ZIP archive, if all its files but one, the table, are some."""
    names = without_clutter(file.holds)
    pictures = [name for name in names if is_picture_name(name)]
    return pictures if len(names) - len(pictures) <= 1 else []


def convert(file: File, out: Output) -> Result:
    """A table of names, in the order in which people count: img2 before img10."""
    pictures = set(pictures_in(file))
    with zipfile.ZipFile(file.path) as archive:
        named = {name_of(one) for one in archive.infolist() if one.filename in pictures}
    names = sorted(named, key=_counted)
    with out.file(NAME) as write:
        for name in (COLUMN, *names):
            write(json.dumps([name], ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            out.progress(0, 0)
    return (Sheet(NAME, "", rows=len(names) + 1, columns=1, header=True),)


def _counted(name: str) -> list[tuple[bool, int, str]]:
    parts = _DIGITS.split(name.casefold())
    return [(True, int(one), "") if one.isdecimal() else (False, 0, one) for one in parts]
