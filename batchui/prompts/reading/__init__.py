"""Reads text tables: bytes -> rows, one chunk at a time.

sniffing    the first 256 KiB -> what kind of file this is (format: `Format`, `Choices`)
decoding    bytes -> text (code_pages; guessing: bytes without a mark -> their code page)
dialects    how a CSV is written: delimiter, quotation marks
headers     the row with the names of the columns (mendings: what was done to them, in words)
readers     one parser for each kind of file, behind `read` (`Row`):
            csv_rows (quotes), line_rows (TXT, JSONL), table_rows (converted sheets)
blocks      what all parsers share
rows        a row as it is stored: a line of JSON
checking    the whole file -> how many rows, which are bad and why (`Report`; blanks)
"""
