"""Rows with their answers become files: CSV, JSON, JSONL. No Django, nothing else of ours.

Everything is a generator of bytes that holds some 64 KiB at a time; the first chunk comes before
the first row is asked for.
"""
