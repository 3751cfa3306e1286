"""Converts what is no text table into lines that are read like text, in a process of its own.

    converting       starts the child, listens to it, and makes a sentence of its end
    child            the child; limits: what it may take of the machine
    kinds, looking   what a file is -> the module that converts it
    workbooks        XLSX, XLSM, XLSB, XLS, ODS (ooxml, sheet_xml, ods_xml, number_formats, ole)
    json_documents   a list, an object with a list in it, values one after the other (json_text)
    columnar         Parquet, Arrow
    packed           .gz, .zip, .zst, .bz2, .xz
    pretenders       what looks like a workbook and is none -> a sentence
    cells, outputs   typed cells -> compressed files of lines
    converted        what a conversion says, and `open_lines` to read what it made

The next format is a module that is a `kinds.Family`, and its name in `kinds.FAMILIES`.
"""
