"""Turns a file into rows, and rows into items of the Batch API. No Django, nothing else of ours.

    sniffing   the first 256 KiB -> what kind of file this is (`Format`)
    guessing   bytes without a mark -> the code page they are in
    checking   the whole file -> how many rows, which are bad and why (`Report`)
    readers    bytes -> rows, streaming (`Row`)
    template   "{{column}}" -> a prompt for each row
    items      a row -> one API item
    cutting    rows -> parts small enough to send
    payload    a part -> the body of one request

A mistake that a person has to correct raises `problems.BadInput`. Its text is a sentence for the
page.
"""
