"""All entries of the corpus, from the modules that test them."""

from tests.corpus import (
    test_books,
    test_columnar,
    test_dialects,
    test_documents,
    test_encodings,
    test_headers,
    test_hostile,
    test_packed,
    test_pretenders,
    test_tools,
)

MODULES = (
    test_encodings,
    test_dialects,
    test_headers,
    test_tools,
    test_documents,
    test_books,
    test_columnar,
    test_pretenders,
    test_packed,
    test_hostile,
)
ALL = [entry for module in MODULES for entry in module.ENTRIES]
