"""The XML around the rows of an OpenDocument spreadsheet."""

from collections.abc import Iterable, Sequence

MIMETYPE = "application/vnd.oasis.opendocument.spreadsheet"
_URN = "urn:oasis:names:tc:opendocument:xmlns:"
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
MANIFEST = (
    f'{_XML}<manifest:manifest xmlns:manifest="{_URN}manifest:1.0" manifest:version="1.3">'
    f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{MIMETYPE}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    "</manifest:manifest>"
)
# In centimetres: how wide a letter is.
_LETTER = 0.2
_namespaces = {
    **{name: f"{_URN}{name}:1.0" for name in ("office", "table", "text", "style")},
    "number": f"{_URN}datastyle:1.0",
    "fo": f"{_URN}xsl-fo-compatible:1.0",
    "loext": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
}
_date = '<number:{} number:style="long"/>'.format
_between = "<number:text>{}</number:text>".format
_day = _between("-").join(map(_date, ("year", "month", "day")))
_time = _between(":").join(map(_date, ("hours", "minutes", "seconds")))
# How each type of cell is shown; the styles of cells have the same names.
_shown = {
    "date": ("date", _day),
    "datetime": ("date", f"{_day}{_between(' ')}{_time}"),
    "time": ("time", _time),
    "percent": (
        "percentage",
        '<number:number number:min-integer-digits="1" number:decimal-places="15"'
        f' loext:min-decimal-places="0"/>{_between("%")}',
    ),
    "boolean": ("boolean", "<number:boolean/>"),
}
_looks = {
    "plain": "",
    "wrapped": ' fo:wrap-option="wrap"',
    "header": ' fo:border-bottom="0.5pt solid #000000"',
}


def start(widths: Iterable[int]) -> str:
    """What stands before the sheets, with a style for a column of each of these widths."""
    spaces = "".join(f' xmlns:{name}="{urn}"' for name, urn in _namespaces.items())
    styles = [*map(_column_style, sorted(set(widths))), *map(_value_style, _shown)]
    styles += [_cell_style(name, look) for name, look in _looks.items()]
    return (
        f'{_XML}<office:document-content{spaces} office:version="1.3"><office:automatic-styles>'
        f"{''.join(styles)}</office:automatic-styles><office:body><office:spreadsheet>"
    )


def columns(widths: Sequence[int], *, wrapped: range) -> str:
    """The columns of a sheet; the texts of those at the positions `wrapped` are wrapped."""
    return "".join(
        f'<table:table-column table:style-name="w{width}" table:default-cell-style-name='
        f'"{"wrapped" if at in wrapped else "plain"}"/>'
        for at, width in enumerate(widths)
    )


def end(ranges: Iterable[str]) -> str:
    """What stands behind the sheets. ranges: the cells of each that the filter is for."""
    filters = "".join(
        f'<table:database-range table:name="__Anonymous_Sheet_DB__{at}"'
        f' table:target-range-address="{cells}" table:display-filter-buttons="true"/>'
        for at, cells in enumerate(ranges)
    )
    return (
        f"<table:database-ranges>{filters}</table:database-ranges>"
        "</office:spreadsheet></office:body></office:document-content>"
    )


def _column_style(width: int) -> str:
    return (
        f'<style:style style:name="w{width}" style:family="table-column">'
        f'<style:table-column-properties style:column-width="{width * _LETTER:.1f}cm"/>'
        "</style:style>"
    )


def _value_style(name: str) -> str:
    kind, parts = _shown[name]
    truncate = ' number:truncate-on-overflow="false"' if kind == "time" else ""
    return (
        f'<number:{kind}-style style:name="shown-{name}"{truncate}>{parts}</number:{kind}-style>'
        f'<style:style style:name="{name}" style:family="table-cell"'
        f' style:data-style-name="shown-{name}">'
        '<style:table-cell-properties style:vertical-align="top"/></style:style>'
    )


def _cell_style(name: str, look: str) -> str:
    bold = '<style:text-properties fo:font-weight="bold"/>' if name == "header" else ""
    return (
        f'<style:style style:name="{name}" style:family="table-cell">'
        f'<style:table-cell-properties style:vertical-align="top"{look}/>{bold}</style:style>'
    )
