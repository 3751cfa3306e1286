"""Writes rows with their answers as files: CSV, JSON, JSONL. No Django, nothing else of ours.

Every format is a generator of bytes that needs about 64 KiB of memory. It yields the first chunk
before it reads the first row, except JSONL.
"""
