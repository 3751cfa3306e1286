"""Turns a file into rows, and rows into items of the Batch API. No Django, nothing else of ours.

    sniffing   the first 256 KiB -> what kind of file this is (`Format`)
    guessing   bytes without a mark -> the code page they are in
    checking   the whole file -> how many rows, which are bad and why (`Report`)
    readers    bytes -> rows, streaming (`Row`)
    template   "{{column}}" -> a prompt for each row
    items      a row -> one API item
    cutting    rows -> parts small enough to send
    payload    a part -> the body of one request

What is no text table is converted first, by a child process, into lines that are read like text:

    converting       starts the child, listens to it, and makes a sentence of its end
    conversion       the child; limits: what it may take of the machine
    kinds, looking   what a file is -> the module that converts it
    workbooks        XLSX, XLSM, XLSB, XLS, ODS (ooxml, sheet_xml, ods_xml, number_formats, ole)
    json_documents   a list, an object with a list in it, values one after the other (json_text)
    columnar         Parquet, Arrow
    packed           .gz, .zip, .zst, .bz2, .xz
    pretenders       what looks like a workbook and is none -> a sentence
    cells, outputs   typed cells -> compressed files of lines
    converted        what a conversion says, and `open_lines` to read what it made

A mistake that a person has to correct raises `problems.BadInput`. Its text is a sentence for the
page.
"""
