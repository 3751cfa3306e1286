"""Environment variables are read with their types; bad ones become problems in sentences."""

from pathlib import Path

import pytest

from batchui.environment import Environment


def reading(**variables: str) -> Environment:
    return Environment(variables)


def sentences(env: Environment) -> list[str]:
    return [problem.sentence for problem in env.problems]


@pytest.mark.parametrize("value", ["1", "true", "Yes", " on "])
def test_a_switch_is_on(value: str) -> None:
    env = reading(DEBUG=value)
    assert env.flag("DEBUG") is True
    assert not env.problems


@pytest.mark.parametrize("value", ["", "0", "no", "OFF", "false"])
def test_a_switch_is_off(value: str) -> None:
    env = reading(DEBUG=value)
    assert env.flag("DEBUG") is False
    assert not env.problems


def test_a_switch_that_is_neither_is_off_and_a_problem() -> None:
    env = reading(DEBUG="maybe")
    assert env.flag("DEBUG") is False
    assert sentences(env) == ["DEBUG is “maybe”, which is neither on nor off."]


def test_numbers_have_defaults_and_bounds() -> None:
    env = reading(CALLS="50", PAUSE="0.5")
    assert env.number("CALLS", 600, low=1, high=1000) == 50
    assert env.amount("PAUSE", 2, low=0.1, high=60) == 0.5
    assert env.number("ABSENT", 600, low=1, high=1000) == 600
    assert not env.problems


@pytest.mark.parametrize("value", ["0", "1001", "12.5", "many", "nan", "inf"])
def test_a_number_that_does_not_fit_falls_back_to_the_default(value: str) -> None:
    env = reading(CALLS=value)
    assert env.number("CALLS", 600, low=1, high=1000) == 600
    assert sentences(env) == [f"CALLS is “{value}”, which is not a whole number from 1 to 1,000."]


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "x"])
def test_an_amount_that_does_not_fit_falls_back_to_the_default(value: str) -> None:
    env = reading(PAUSE=value)
    assert env.amount("PAUSE", 2, low=0.1, high=60) == 2
    assert len(env.problems) == 1


def test_lists_are_separated_by_commas_or_blanks() -> None:
    env = reading(ALLOWED_HOSTS="a.example.com, b.example.com c.example.com,")
    assert env.words("ALLOWED_HOSTS") == ["a.example.com", "b.example.com", "c.example.com"]


def test_an_origin_without_its_scheme_is_left_out_with_the_right_spelling() -> None:
    env = reading(ORIGINS="https://a.example.com, b.example.com")
    assert env.origins("ORIGINS") == ["https://a.example.com"]
    assert env.problems[0].advice == "Write https://b.example.com"


@pytest.mark.parametrize(
    "value",
    [
        "api.example.com",
        "ftp://api.example.com",
        "https://",
        "https://[::1",
        "https://api.example.com:99999",
        "https://api.example.com:port",
        "https://api.example.com:0",
    ],
)
def test_an_address_that_is_none_falls_back(value: str) -> None:
    env = reading(API=value)
    assert env.address("API", "https://real.example.com/v4") == "https://real.example.com/v4"
    assert len(env.problems) == 1


def test_an_address_loses_the_slash_at_its_end() -> None:
    assert reading(API="https://api.example.com/v4/").address("API") == "https://api.example.com/v4"


def test_a_data_folder_is_only_named(tmp_path: Path) -> None:
    env = reading(BATCHUI_DATA=str(tmp_path / "a" / "b"))
    assert env.folder("BATCHUI_DATA", tmp_path) == tmp_path / "a" / "b"
    assert list(tmp_path.iterdir()) == []
    assert not env.problems


def test_a_data_folder_that_is_a_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = reading(BATCHUI_DATA=str(tmp_path / "file"))
    env.folder("BATCHUI_DATA", tmp_path)
    assert f"cannot be written: {tmp_path / 'file'} is not a folder" in sentences(env)[0]


def test_without_a_database_address_it_is_sqlite_in_the_data_folder(tmp_path: Path) -> None:
    found = reading().database("DATABASE_URL", tmp_path / "it's 100% here?.sqlite3")
    assert found["ENGINE"] == "django.db.backends.sqlite3"
    assert found["NAME"] == tmp_path / "it's 100% here?.sqlite3"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_a_postgresql_address_is_understood(scheme: str, tmp_path: Path) -> None:
    env = reading(DATABASE_URL=f"{scheme}://ann:p%40ss@db.example.com:5433/batches?sslmode=require")
    found = env.database("DATABASE_URL", tmp_path)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["USER"], found["PASSWORD"], found["PORT"]) == ("ann", "p@ss", 5433)
    assert found["OPTIONS"] == {"sslmode": "require"}


@pytest.mark.parametrize(
    "value",
    [
        "mysql://ann:secret@db.example.com/batches",
        "db.example.com/batches",
        "postgres://ann:secret@db.example.com:port/batches",
        "postgres://ann:secret@db.example.com",
        "nonsense://ann:secret@x/y",
    ],
)
def test_another_database_is_refused_without_repeating_its_password(
    value: str, tmp_path: Path
) -> None:
    env = reading(DATABASE_URL=value)
    found = env.database("DATABASE_URL", tmp_path)
    assert found["ENGINE"] == "django.db.backends.dummy"
    assert [problem.id for problem in env.problems] == ["batchui.E005"]
    assert "secret" not in str(env.problems)
