"""How a spreadsheet shows numbers, by their format codes."""

import json

import pytest

from batchui.prompts.conversion.number_formats import percent, show


def shown(code: str, number: str) -> object:
    how = show(code)
    cell = how(number) if how else None
    return None if cell is None else json.loads(bytes(cell))


@pytest.mark.parametrize(
    ("code", "number", "text"),
    [
        ("0%", "0.25", "25%"),
        ("0%", "0.255", "26%"),
        ("0%", "-0.255", "-26%"),
        ("0%", "0.285", "29%"),
        ("0.00%", "0.25", "25.00%"),
        ("0.0#%", "1", "100.00%"),
        ("0.00%;[Red]-0.00%", "1E-2", "1.00%"),
        ("#,##0%", "12.5", "1250%"),
        ("0 %", "0.5", "50%"),
        ('0.0"x.0"%', "0.5", "50.0%"),
        ("0%", "1E20", "10000000000000000000000%"),
    ],
)
def test_percentages_have_the_decimals_of_their_format(code: str, number: str, text: str) -> None:
    assert shown(code, number) == {"percent": text}


@pytest.mark.parametrize(
    ("code", "number", "text"),
    [
        ("00000", "123", "00123"),
        ("00", "7", "07"),
        ("000", "1234", "1234"),
        ("000", "0", "000"),
        ("000", "0012", "012"),
        ("00-00", "12345", "123-45"),
        ("000-00-0000", "1234567", "001-23-4567"),
        ("(000) 0000", "12345678", "(1234) 5678"),
        ('"no. "000', "7", "no. 007"),
        ("\\X000", "7", "X007"),
        ("000;-000", "7", "007"),
        ("[Blue]000_)", "7", "007"),
    ],
)
def test_whole_numbers_are_filled_up_with_zeros(code: str, number: str, text: str) -> None:
    assert shown(code, number) == {"shown": text, "number": int(number)}


@pytest.mark.parametrize(
    "code", ["", "General", "0", "0.00", "#,##0", "0.00E+00", "yyyy-mm-dd", "00:00", "@", '"%"0']
)
def test_other_formats_show_plain_numbers(code: str) -> None:
    assert show(code) is None


@pytest.mark.parametrize(
    ("code", "number"), [("000", "1.5"), ("000", "-7"), ("000", "x"), ("0%", "x"), ("0%", "")]
)
def test_numbers_that_a_format_does_not_fit_stay(code: str, number: str) -> None:
    assert shown(code, number) is None


def test_a_format_is_read_no_further_than_a_program_writes_it() -> None:
    assert shown("0" * 300, "7") == {"shown": "0" * 254 + "7", "number": 7}
    assert shown("0" * 255 + "%", "7") == {"shown": "0" * 254 + "7", "number": 7}


def test_a_percentage_that_is_too_large_to_write_is_none() -> None:
    assert percent("1E+400", 0) is None
    assert percent("0.125", 1) == "12.5%"
