"""Bad and strange files, and what must come of each (`python -m tests.corpus FOLDER`)."""
