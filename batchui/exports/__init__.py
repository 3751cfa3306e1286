"""Writes rows with their answers as files: CSV, JSON, JSONL, the workbook that they came in.

No Django, nothing else of ours.

A format is a generator of bytes that needs about 64 KiB of memory. It yields the first chunk before
it reads the first row, except JSONL. A workbook is written to a file instead (`workbook.py`).
"""
