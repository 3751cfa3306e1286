"""Writes the workbook that rows came in again, with the answers beside its columns.

writer       `add_columns`: the whole of it
package      the zip: one member is written anew, the others are copied as they are
relations    which member is which (elements: start tags that a stranger wrote)
sheet_scan   what a sheet holds, and which columns are free
sheet_xml    the sheet as a stream of rows, byte for byte (tags, row_cells)
splicing     new cells into it (cell_xml: values as cells)
cannot_write the error for what cannot be done safely
"""
