"""The options of `manage.py submit` and `download` for what goes out, and as what kind of file."""

import csv
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from batchui.batches.exporting import Choice
from batchui.batches.models import Batch
from batchui.batches.whole_files import KINDS, kinds_for
from batchui.exports.workbook.writer import ENDINGS as OF_WORKBOOKS
from batchui.prompts.problems import BadInput
from batchui.web.forms.download import ROWS, WHOLE, DownloadForm

USUAL = "csv"
# The kind for the ending of a file's name.
ENDINGS = {f".{kind.ending}": word for word, kind in KINDS.items() if word != "workbook"}
# The options, by the fields of the page's form.
OPTIONS = {
    "kind": "format",
    "only": "only",
    "columns": "columns",
    "answer": "answer_column",
    "whole": "whole_answer",
}


def add_download_options(parser: ArgumentParser) -> None:
    """An option for each field of the page's form, and `--output`."""
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where to write the answers; the ending counts"
    )
    parser.add_argument(
        "--format",
        choices=list(KINDS),
        help="the kind of file, instead of what the ending of --output says (csv). workbook: the "
        "uploaded workbook, with the answers in it",
    )
    parser.add_argument("--only", choices=list(ROWS), help="which rows (all)")
    parser.add_argument(
        "--columns",
        action="append",
        metavar="A,B",
        help="the columns of the file that go out (all); may be given more than once",
    )
    parser.add_argument(
        "--answer-column", metavar="NAME", help="what the column of answers is called (answer)"
    )
    parser.add_argument(
        "--whole-answer",
        choices=list(WHOLE),
        help="whether a column has the answers as the model sent them, beside the answer columns "
        "(unfit: if one does not fit these)",
    )


def given(options: dict[str, Any]) -> list[str]:
    """The options that say what goes out, as they are written in the terminal."""
    return [f"--{name.replace('_', '-')}" for name in OPTIONS.values() if options[name] is not None]


def kind_and_choice(options: dict[str, Any], batch: Batch) -> tuple[str, Choice]:
    """What to write of a checked batch. Raises BadInput, which names the option."""
    kind = options["format"] or _kind_of(options["output"], batch)
    if kind not in kinds_for(batch):
        raise BadInput(f"--format {kind}: {_why_not(kind)}")
    if kind == "workbook" and options["columns"]:
        raise BadInput(
            "--columns: your workbook keeps all its columns. For a new one with some of them add "
            "--format xlsx."
        )
    form = DownloadForm(
        {
            "kind": kind,
            "only": options["only"] or "all",
            "columns": _columns(options["columns"] or [], batch),
            "answer": options["answer_column"] or "",
            "whole": options["whole_answer"] or "",
        },
        batch=batch,
    )
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        raise BadInput(f"--{OPTIONS[field].replace('_', '-')}: {errors[0]}")
    return kind, form.choice


def _kind_of(output: Path | None, batch: Batch) -> str:
    """The kind for the ending of a name. That of an uploaded workbook means this workbook.

    Raises BadInput for an ending of no kind: who opens the file would take no CSV for it.
    """
    if output is None or not output.suffix:
        return USUAL
    name = output.name.lower()
    for ending in OF_WORKBOOKS:
        if name.endswith(ending) and batch.source_name.lower().endswith(ending):
            return "workbook"
    fitting = [ending for ending in ENDINGS if name.endswith(ending)]
    if not fitting:
        raise BadInput(
            f"--output {output}: batchui writes no {output.suffix} file of this batch. Use the "
            f"ending {', '.join(sorted(ENDINGS))}, or name the kind: --format."
        )
    return ENDINGS[max(fitting, key=len)]


def _why_not(kind: str) -> str:
    if kind == "workbook":
        return (
            "this batch did not come from an XLSX or XLSM file. For a new workbook write "
            "--format xlsx."
        )
    return (
        "this needs pyarrow, which is not installed here. Ask the person who runs batchui, or "
        "choose another kind."
    )


def _columns(given: list[str], batch: Batch) -> list[str]:
    """The names of columns, which come with commas between them as in a CSV."""
    names: list[str] = []
    for text in given:
        names += [text] if text in batch.columns else next(csv.reader([text]), [])
    return names
