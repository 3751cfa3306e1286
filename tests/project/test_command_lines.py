"""Options of commands are written out: what begins like one may mean another."""

import pytest
from django.core.management import (
    CommandError,
    CommandParser,
    get_commands,
    load_command_class,
)

from batchui.sandbox.__main__ import main as sandbox
from batchui.up.start import parse

OURS = [name for name, app in get_commands().items() if app.startswith("batchui")]
DJANGOS = {"migrate"}  # we only make the data folder before it


def parser_of(name: str) -> CommandParser:
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


@pytest.mark.parametrize("name", sorted({*OURS} - DJANGOS))
def test_no_command_takes_an_abbreviation(name: str) -> None:
    assert not parser_of(name).allow_abbrev


def test_the_force_of_a_download_is_no_colour_of_a_submission() -> None:
    with pytest.raises(CommandError, match=r"unrecognized arguments: --force$"):
        parser_of("submit").parse_args(["reviews.csv", "--model", "x", "--force"])


def test_up_and_the_sandbox_take_no_abbreviation(capsys: pytest.CaptureFixture[str]) -> None:
    for command, options in ((parse, ["--restore"]), (sandbox, ["--contro", "x"])):
        with pytest.raises(SystemExit):
            command(options)
        said = capsys.readouterr().err
        assert f"unrecognized arguments: {' '.join(options)}" in said
