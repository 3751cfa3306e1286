"""Turns a file into rows, and rows into items of the Batch API. No Django, nothing else of ours.

    conversion/  what is no text table -> lines that are read like text, by a child process
    reading/     bytes -> rows, streaming; how the file is written, and what is wrong with it
    ask          the question, as a list of fields
    template     "{{column}}" -> a prompt for each row
    items        a row -> one API item (ready_items: the file has them)
    repeats      rows that ask exactly the same
    cutting      rows -> parts small enough to send
    payload      a part -> the body of one request

A mistake that a person has to correct raises `problems.BadInput`. Its text is a sentence for the
page.
"""
