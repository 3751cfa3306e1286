"""Writes rows with their answers as files: CSV, JSON, JSONL. No Django, nothing else of ours.

Every format is a generator of bytes that holds about 64 KiB in memory. It gives the first chunk
before it asks for the first row.
"""
