"""The encodings that a file can be read in, by their names in Python.

A code page gives a meaning to nearly every byte. Only the text can show which one a file is in:
`guessing` asks a library.
"""

import codecs

# Used if nothing shows which one it is.
USUAL = "cp1252"

LATIN = {
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp1258": "Windows-1258 (Vietnamese)",
    "iso8859-2": "ISO-8859-2 (Central European)",
    "iso8859-15": "ISO-8859-15 (Western European)",
    "mac-roman": "Mac Roman (Western European)",
    "cp437": "DOS-437 (Western European)",
    "cp850": "DOS-850 (Western European)",
    "cp852": "DOS-852 (Central European)",
}
NOT_LATIN = {
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp874": "Windows-874 (Thai)",
    "iso8859-5": "ISO-8859-5 (Cyrillic)",
    "iso8859-7": "ISO-8859-7 (Greek)",
    "koi8-r": "KOI8-R (Russian)",
    "koi8-u": "KOI8-U (Ukrainian)",
    "mac-cyrillic": "Mac Cyrillic",
    "cp866": "DOS-866 (Cyrillic)",
}
DOS = frozenset({"cp437", "cp850", "cp852", "cp866"})
# Two bytes for most characters; the second one may be that of a plain letter.
EAST_ASIAN = {
    "cp932": "Shift-JIS (Japanese)",
    "euc_jis_2004": "EUC-JP (Japanese)",
    "cp949": "EUC-KR (Korean)",
    "gb18030": "GB18030 (Chinese, simplified)",
    "big5hkscs": "Big5 (Chinese, traditional)",
}
CODE_PAGES = {**LATIN, **NOT_LATIN, **EAST_ASIAN}

# What people call each encoding.
NAMES = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16, big-endian",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32, big-endian",
    **CODE_PAGES,
}

# Python's names of encodings that are read in a wider one: it has the same characters, and more. So
# do browsers (encoding.spec.whatwg.org). UTF-16 and 32 of an unknown order are as Windows has them.
WIDER = {
    "ascii": "utf-8",
    "utf-8-sig": "utf-8",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_jp": "euc_jis_2004",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
}


def encoding_called(name: str) -> str | None:
    """The key of NAMES for what a person calls an encoding: “latin1”, “Shift-JIS”, “UTF-16”.

    It may be a name in NAMES without its languages, or any of Python's. None: it is not known.
    """
    wanted = name.strip().casefold()
    for key, shown in NAMES.items():
        if wanted == shown.partition(" (")[0].casefold():
            return key
    try:
        found = codecs.lookup(wanted).name
    except (LookupError, ValueError):
        return None
    found = WIDER.get(found, found)
    return found if found in NAMES else None
