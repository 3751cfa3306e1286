"""A file becomes rows, rows become items of the Batch API. No Django, nothing else of ours.

    sniffing   the first 256 KiB -> what kind of file this is (`Format`)
    checking   the whole file -> how many rows, which are bad and why (`Report`)
    reading    bytes -> rows, streaming (`Row`)
    template   "{{column}}" -> a prompt for each row
    items      a row -> one API item
    cutting    rows -> parts small enough to send
    payload    a part -> the body of one request

What a person has to know about a file is raised as `problems.BadInput`, whose text is a sentence
for the page.
"""
