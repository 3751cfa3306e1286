"""Pictures with the question of a draft: which columns have some, and which models see them."""

import re
from collections.abc import Sequence
from typing import Any

from batchui.batches.catalogues import Catalogue
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import Model
from batchui.pictures.fetching import is_address
from batchui.prompts.jobs import CHAT, Job
from batchui.prompts.pictures import PICTURE_ENDINGS
from batchui.prompts.problems import listed, quoted
from batchui.prompts.reading.rows import as_list, shown_text
from batchui.web.forms.model_field import models_for

# Columns that are looked at, as in `asking/guessing.py`.
LOOKED_AT = 200
_ENDING = re.compile(rf"({'|'.join(map(re.escape, PICTURE_ENDINGS))})([?#]|$)", re.I)


def offers_pictures(job: Job, known: Catalogue) -> bool:
    """Whether some model can do the job with pictures."""
    return job.item_formats == CHAT and bool(models_for(job, known, sees=True))


def seeing(known: Catalogue, name: str) -> str:
    """The model with this name, if it sees; else the first that does, or itself if none does."""
    if known.find(name).sees:
        return name
    return next((model.name for model in known.models() if model.sees), name)


def picture_columns(batch: Batch) -> list[str]:
    """The columns whose first cells look like addresses or file names of pictures."""
    columns = batch.columns
    rows = [as_list(cells, columns)[:LOOKED_AT] for cells in batch.first_rows]
    return [name for at, name in enumerate(columns[:LOOKED_AT]) if _are_pictures(_filled(rows, at))]


def _are_pictures(cells: Sequence[str]) -> bool:
    """Whether most of these cells look so."""
    looks = [bool(_ENDING.search(cell)) and "\n" not in cell for cell in cells]
    return sum(looks) * 2 > len(looks)


def shows_pictures_first(batch: Batch) -> bool:
    """Whether the field stands beside the question, as the file looks as though it has pictures."""
    return batch.pictures_file != "" or bool(picture_columns(batch))


def first_choice(batch: Batch) -> str:
    """The column whose pictures a new draft shows: where an archive of them goes with its file."""
    columns = picture_columns(batch) if batch.pictures_file else []
    return columns[0] if columns else ""


def no_pictures(batch: Batch, column: str, model: Model, known: Catalogue) -> str:
    """Why the pictures of a column cannot be shown to a model; "" if, as far as is known, they can.

    known: the models of the connection.
    """
    if not model.sees:
        others = [one.label for one in known.models() if one.sees]
        return f"{model.label} cannot see pictures. Choose a model that can: {listed(others)}."
    return lacks_archive(batch, column)


def lacks_archive(batch: Batch, column: str) -> str:
    """That a column has names of files, and the batch no archive that has them; else ""."""
    columns = batch.columns
    rows = [as_list(cells, columns) for cells in batch.first_rows]
    named = next(iter(_filled(rows, columns.index(column))), "")
    if named and not is_address(named) and not batch.pictures_file:
        return (
            f"{quoted(named)} is no address that begins with https://. Add the ZIP archive that "
            "has the pictures, or choose another column."
        )
    return ""


def _filled(rows: Sequence[list[Any]], at: int) -> list[str]:
    """What these rows have in a column, without blanks."""
    cells = (shown_text(row[at]).strip() for row in rows if at < len(row))
    return [cell for cell in cells if cell]
