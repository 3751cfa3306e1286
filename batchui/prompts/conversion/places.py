"""The names of cells, such as C17, and where they are."""


def place(row: int, column: int) -> str:
    """The name of a cell, from its row and column, from 0: C17."""
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row + 1}"


def position(letters: bytes, row: bytes) -> tuple[int, int]:
    """The row and column of C17, from 0."""
    column = 0
    for letter in letters:
        column = column * 26 + letter - 64
    return int(row) - 1, column - 1
