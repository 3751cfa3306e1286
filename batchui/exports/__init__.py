"""Writes rows with their answers as files. No Django, nothing else of ours.

Every format takes the rows, a `Table` (what the file says of them) and a `Selection` (what of them
a person chose).

CSV, JSON and JSONL are generators of bytes that need about 64 KiB of memory. They yield the first
chunk before they read the first row, except JSONL. XLSX, ODS and Parquet are written to a file:
what kind a column is must be known first, so the rows are kept in a temporary file meanwhile
(`spool.py`, `parquet_spool.py`), never in memory. The workbook that rows came in is written again
with the answers beside its columns (`workbook/`).
"""
