"""The encodings that a file can be read in, and what text in each code page is made of.

A code page gives a meaning to nearly every byte. Only the text itself can show which one a file is
in: `guessing` compares it with what is listed here. Encodings have Python's names for them.
"""

from dataclasses import dataclass

# The letters beyond ASCII of each language, the most frequent first. English has the signs that
# word processors put into a text of any language.
LETTERS = {
    "English": "’“”–•…£—€™°®‘é©½·èñ",
    "French": "éèàêçîùâôûœïëæ",
    "German": "üäöß",
    "Spanish": "óíáéñ¿ú¡üºª",
    "Portuguese": "ãçáéíóõêúâôàºª",
    "Italian": "àèùòìé",
    "Swedish": "äåöé",
    "Danish": "øæåé",
    "Icelandic": "áíðéóúöþæý",
    "Dutch": "ëéïèóöü",
    "Catalan": "óàéèçíòúïü",
    "Irish": "áíéóú",
    "Czech": "íáéěřýžčšůúóňťď",
    "Slovak": "áéíýčžšúľťôňóäďĺŕ",
    "Polish": "ąęłóżśćźń",
    "Hungarian": "áéóöőüíúű",
    "Romanian": "ăîţşâ",
    "Croatian": "čšžćđ",
    "Turkish": "ışüöçğâİ",
    "Azerbaijani": "ışüöçğİ",
    "Lithuanian": "ėųšžįūčęą",
    "Latvian": "āīēšūņžļģčķ",
    "Estonian": "äõüöšž",
    "Russian": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "Ukrainian": "оаинітерсвкдлумпязьбгчйхжцїюшєщґф",
    "Belarusian": "анаеіоырстлкдвупмцзябўгчьшхжйюфё",
    "Bulgarian": "аиоетнрсвлкдпмузягчъбшщцжхюйфь",
    "Serbian": "аиоенрстјукдвлмпзбгцшчњжћхљђфџ",
    "Greek": "αοιτεσνηυρπκμλςωίόάέθδγήφχβξύζώψϊ",
    "Hebrew": "יוהלאמרתבשנדעחקםצפטגכזסןךץף",
    "Arabic": "المينرتبوعدسفةحكقهشجصخطأضزىذغثءإئظآؤ،",
    "Persian": "اينرمدتهبوسشگخکزفعقجپلچحآطصذضغثظژ،؟\u200c",
    "Thai": "านรอกเงมยล่วดท้สตะปบคหแจขใัีิพุช็ไึืูำณผซโถ์ธศฟภษฎญฐฉฝฏฮๆ",
}
WESTERN = (
    *("English", "French", "German", "Spanish", "Portuguese", "Italian", "Swedish", "Danish"),
    *("Icelandic", "Dutch", "Catalan", "Irish"),
)
CENTRAL = ("Czech", "Slovak", "Polish", "Hungarian", "Romanian", "Croatian")
CYRILLIC = ("Russian", "Ukrainian", "Belarusian", "Bulgarian", "Serbian")


@dataclass(frozen=True)
class Letters:
    """A code page with one byte for each character, and the languages written in it.

    odds: how often it is met, compared with Windows-1252, as a natural logarithm.
    odds_each: the same for each character. It makes rare code pages need stronger evidence.
    """

    name: str
    languages: tuple[str, ...]
    odds: float = -2.5
    odds_each: float = 0.0


@dataclass(frozen=True)
class Share:
    """The characters whose first byte is from `first` to `last`.

    share: of all characters in a usual text. characters: how many different ones there are.
    These encodings list frequent characters before rare ones, which is why a range says enough.
    """

    first: int
    last: int
    share: float
    characters: int

    @property
    def probability(self) -> float:
        """How likely each of the characters is, on average."""
        return self.share / self.characters


@dataclass(frozen=True)
class Ideographs:
    """A code page with two bytes for most characters. second: the least second byte that is usual.

    odds: as in `Letters`.
    """

    name: str
    shares: tuple[Share, ...]
    second: int = 0x40
    odds: float = -2.5


CODE_PAGES: dict[str, Letters | Ideographs] = {
    "cp1252": Letters("Windows-1252 (Western European)", WESTERN, odds=0.0),
    "cp1250": Letters("Windows-1250 (Central European)", CENTRAL),
    "cp1251": Letters("Windows-1251 (Cyrillic)", CYRILLIC),
    "cp1253": Letters("Windows-1253 (Greek)", ("Greek",)),
    "cp1254": Letters("Windows-1254 (Turkish)", ("Turkish", "Azerbaijani")),
    "cp1255": Letters("Windows-1255 (Hebrew)", ("Hebrew",)),
    "cp1256": Letters("Windows-1256 (Arabic)", ("Arabic", "Persian")),
    "cp1257": Letters("Windows-1257 (Baltic)", ("Lithuanian", "Latvian", "Estonian")),
    "cp874": Letters("Windows-874 (Thai)", ("Thai",)),
    "iso8859_2": Letters("ISO-8859-2 (Central European)", CENTRAL, -4.5, -0.3),
    "iso8859_7": Letters("ISO-8859-7 (Greek)", ("Greek",), -6.0),
    "iso8859_15": Letters("ISO-8859-15 (Western European)", WESTERN, -4.5),
    "koi8_r": Letters("KOI8-R (Russian)", ("Russian", "Bulgarian"), -4.0),
    "koi8_u": Letters("KOI8-U (Ukrainian)", ("Ukrainian",), -5.0),
    "mac_roman": Letters("Mac Roman (Western European)", WESTERN, -3.0, -1.75),
    "cp932": Ideographs(
        "Shift-JIS (Japanese)",
        (
            Share(0x81, 0x81, 0.10, 150),  # punctuation
            Share(0x82, 0x83, 0.55, 170),  # kana
            Share(0x88, 0x97, 0.30, 2_965),
            Share(0x98, 0xEA, 0.01, 3_390),
            Share(0xA1, 0xDF, 0.002, 63),  # kana of half width, a single byte
        ),
    ),
    "euc_jp": Ideographs(
        "EUC-JP (Japanese)",
        (
            Share(0xA1, 0xA1, 0.10, 100),
            Share(0xA4, 0xA5, 0.55, 170),
            Share(0xB0, 0xCF, 0.30, 2_965),
            Share(0xD0, 0xF4, 0.01, 3_390),
        ),
        second=0xA1,
        odds=-5.0,
    ),
    "cp949": Ideographs(
        "EUC-KR (Korean)",
        (
            Share(0xA1, 0xAC, 0.10, 1_000),
            Share(0xB0, 0xC8, 0.87, 2_350),
            Share(0xCA, 0xFD, 0.01, 4_888),
        ),
        second=0xA1,
    ),
    "gb18030": Ideographs(
        "GB18030 (Chinese, simplified)",
        (
            Share(0xA1, 0xA3, 0.12, 300),
            Share(0xB0, 0xD7, 0.85, 3_755),
            Share(0xD8, 0xF7, 0.02, 3_008),
        ),
        second=0xA1,
    ),
    "cp950": Ideographs(
        "Big5 (Chinese, traditional)",
        (
            Share(0xA1, 0xA3, 0.12, 400),
            Share(0xA4, 0xC6, 0.85, 5_401),
            Share(0xC9, 0xF9, 0.02, 7_652),
        ),
    ),
}

# What people call each encoding.
NAMES = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32",
    **{encoding: page.name for encoding, page in CODE_PAGES.items()},
}
