"""Pictures in the terminal."""

from pathlib import Path

from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from tests.batches.picturing import archive, naming
from tests.web.submitting import Ran, written


def test_the_terminal_takes_pictures_too(sandbox: RunningSandbox, db: None, tmp_path: Path) -> None:
    table, photos = written(tmp_path, naming("a.jpg", "b.jpg")), tmp_path / "photos.zip"
    photos.write_bytes(archive("a.jpg", "b.jpg"))
    ran = Ran(
        table,
        *("--prompt", "What is it?", "--picture-column", "photo", "--pictures", str(photos)),
        *("--output", str(tmp_path / "answers.csv")),
    )
    assert ran.status == 0, ran.err
    assert (tmp_path / "answers.csv").read_text().count("A picture of") == 2


def test_the_terminal_says_which_option_is_wrong(
    sandbox: RunningSandbox, db: None, tmp_path: Path
) -> None:
    table = written(tmp_path, naming("a.jpg"))
    wrong = ("--prompt", "What is it?", "--picture-column", "photo")
    ran = Ran(table, *wrong, "--pictures", str(table))
    assert ran.status == 2
    assert f"--pictures {table}: " in ran.err
    ran = Ran(table, *wrong)
    assert (ran.status, "--picture-column: “a.jpg” is no address" in ran.err) == (2, True)
    ran = Ran(table, "--prompt", "What is it?", "--pictures", str(table))
    assert (ran.status, "a row's, too: --picture-column." in ran.err) == (2, True)
    assert not Batch.objects.exists()
