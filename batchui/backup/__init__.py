"""Backups: everything in one file, checked, made while batchui runs; and back again."""
