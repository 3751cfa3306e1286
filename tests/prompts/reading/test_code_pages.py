"""Files that carry no mark of their encoding: read as they were written, in many languages."""

import io
import json
import re
from typing import BinaryIO, cast

import pytest

from batchui.prompts.problems import BadInput
from batchui.prompts.reading.checking import FirstProblems, check
from batchui.prompts.reading.code_pages import CODE_PAGES, NAMES, encoding_called
from batchui.prompts.reading.format import ONE_COLUMN, Choices, Format
from batchui.prompts.reading.guessing import CHUNKS_SEARCHED, EVIDENCE_BYTES, Evidence
from batchui.prompts.reading.readers import read
from batchui.prompts.reading.sniffing import in_encoding, sniff
from tests.prompts.files import Dribble, cells_of, format_of, place_of, report_of, rows_of

RUSSIAN = ["Комната была чистая и тихая.", "Персонал вежливый, приедем ещё раз!"]
CZECH = ["Pokoj byl čistý a tichý.", "Snídaně končila příliš brzy, určitě přijedeme znovu."]
FRENCH = ["La chambre était propre, même très calme.", "Où est passé le garçon ? À l’été !"]
GERMAN = ["Das Frühstück endete früh.", "Übergroße Betten – „schön wie zu Hause“."]
JAPANESE = ["部屋は清潔で静かでした。", "朝食の時間が早すぎました。ペンキの匂い。"]
CHINESE = ["房间干净又安静，可是早餐太早了。", "服务员非常客气，我们一定会再来。"]
SENTENCES = {
    ("Russian", "cp1251"): RUSSIAN,
    ("Russian", "koi8-r"): RUSSIAN,
    ("Ukrainian", "cp1251"): ["Кімната була чиста, а їжа смачна.", "Ми ще приїдемо сюди влітку."],
    ("Ukrainian", "koi8-u"): ["Кімната була чиста, а їжа смачна.", "Ґречний персонал, дякуємо їм."],
    ("Bulgarian", "cp1251"): ["Стаята беше чиста и тиха.", "Персоналът е любезен, ще дойдем."],
    ("Czech", "cp1250"): CZECH,
    ("Polish", "cp1250"): ["Pokój był czysty, łóżko wygodne.", "Ręczniki świeże, wszędzie blisko."],
    ("Polish", "iso8859-2"): [
        "Pokój był czysty, łóżko wąskie.",
        "Ręczniki świeże, na pewno wrócę.",
    ],
    ("Hungarian", "cp1250"): ["A szoba csendes volt, szűk a lift.", "A fürdőszoba tágas, jövünk."],
    ("Romanian", "cp1250"): ["Camera era curată şi liniştită.", "Ne vom întoarce cu siguranţă."],
    ("Greek", "cp1253"): ["Το δωμάτιο ήταν καθαρό και ήσυχο.", "Σίγουρα θα ξανάρθουμε, ευχαριστώ."],
    ("Greek", "iso8859-7"): ["Άνετο δωμάτιο, ήσυχο.", "Άριστο προσωπικό, θα ξανάρθουμε."],
    ("Turkish", "cp1254"): ["Oda temizdi, banyo genişti.", "Kahvaltı çok erken bitiyordu, şehir."],
    ("Hebrew", "cp1255"): ["החדר היה נקי ושקט, אבל קטן.", "הצוות היה אדיב מאוד, נחזור שוב."],
    ("Arabic", "cp1256"): ["كانت الغرفة نظيفة وهادئة.", "كان الموظفون لطفاء، سنعود مرة أخرى."],
    ("Lithuanian", "cp1257"): [
        "Kambarys švarus, pusryčiai ėjo į pabaigą.",
        "Ačiū už viską, grįšime.",
    ],
    ("Latvian", "cp1257"): [
        "Istaba bija tīra, brokastis pārāk agri.",
        "Noteikti atgriezīsimies vēl.",
    ],
    ("Thai", "cp874"): ["ห้องสะอาดและเงียบ", "พนักงานสุภาพมาก เราจะกลับมาอีกแน่นอน"],
    ("Japanese", "cp932"): JAPANESE,
    ("Japanese", "euc_jis_2004"): JAPANESE,
    ("Korean", "cp949"): [
        "방은 깨끗하고 조용했지만 작았습니다.",
        "직원들이 매우 친절해서 다시 오고 싶습니다.",
    ],
    ("Chinese", "gb18030"): CHINESE,
    ("Chinese", "big5hkscs"): [
        "房間乾淨又安靜，早餐太早了。",
        "服務人員非常客氣，我們一定會再來。",
    ],
    ("French", "cp1252"): FRENCH,
    ("French", "iso8859-15"): [
        "Œuf au cœur fondu, 35 €, très bon.",
        "Un été à l'hôtel, 20 € la nuit.",
    ],
    ("French", "mac-roman"): FRENCH,
    ("German", "cp1252"): GERMAN,
    ("German", "mac-roman"): GERMAN,
    ("Spanish", "cp1252"): ["¿Dónde está el niño?", "La habitación estaba limpia, ¡volveré!"],
    ("Portuguese", "cp1252"): ["Não há elevador à noite.", "O café da manhã acabava cedo, então."],
    ("Italian", "cp1252"): ["La città è così bella.", "Però la colazione finiva troppo presto."],
    ("Swedish", "cp1252"): [
        "På söndagen slutade frukosten tidigt.",
        "Vi återkommer gärna nästa år.",
    ],
    ("Danish", "cp1252"): ["Værelset var rent på søndag.", "Smørrebrød på gården, gå ikke glip."],
    ("Finnish", "cp1252"): ["Henkilökunta oli ystävällistä.", "Aamiainen päättyi liian aikaisin."],
    ("Icelandic", "cp1252"): [
        "Herbergið var hljóðlátt.",
        "Starfsfólkið var vingjarnlegt, það er gott.",
    ],
}
BY_LANGUAGE = pytest.mark.parametrize(
    ("encoding", "sentences"),
    [(encoding, sentences) for (_, encoding), sentences in SENTENCES.items()],
    ids=[f"{language} {encoding}" for language, encoding in SENTENCES],
)
OF_TWO_BYTES = pytest.mark.parametrize(
    "encoding", ["cp932", "euc_jis_2004", "cp949", "gb18030", "big5hkscs"]
)


def table(sentences: list[str], *, times: int = 1, before: str = "") -> str:
    rows = "".join(f'{at},"{sentence}"\r\n' for at, sentence in enumerate(sentences * times, 1))
    return f"id,text\r\n{before}{rows}"


def texts(rows: list[list[str]]) -> list[str]:
    return [cells[1] for cells in rows]


@BY_LANGUAGE
@pytest.mark.parametrize("times", [1, 500])
def test_a_file_without_a_mark_is_read_as_it_was_written(
    encoding: str, sentences: list[str], times: int
) -> None:
    data = table(sentences, times=times).encode(encoding)
    # Some pages have the letters of a language at the same places: then either reads it right.
    assert data.decode(format_of(data).encoding) == data.decode(encoding)
    assert texts(cells_of(data)) == sentences * times


@BY_LANGUAGE
def test_the_encoding_is_found_where_it_shows_only_at_row_ten_thousand(
    encoding: str, sentences: list[str]
) -> None:
    plain = "0,A plain line of a review of the room\r\n" * 10_000
    data = table(sentences, before=plain).encode(encoding)
    assert format_of(data).encoding == "utf-8"
    report = report_of(data, max_rows=20_000)
    assert data.decode(report.format.encoding) == data.decode(encoding)
    assert report.rows == 10_002
    last = list(read(io.BytesIO(data), report.format))[-2:]
    assert [row.cells[1] for row in last] == sentences  # type: ignore[index]


@pytest.mark.parametrize(("last", "encoding"), [("süße", "cp437"), ("süsse", "mac-roman")])
def test_a_page_of_dos_is_guessed_from_fourteen_letters_on(last: str, encoding: str) -> None:
    sentences = [
        "Das Frühstück könnte besser sein; für den Preis völlig in Ordnung.",
        "Das Zimmer war schön und größer als erwartet.",
        f"Wir würden zurückkommen für das schöne {last} Essen.",
    ]
    assert format_of(table(sentences).encode("cp850")).encoding == encoding


def test_a_page_of_dos_can_be_chosen_by_its_names() -> None:
    for name in ("DOS-850", "cp850", "IBM850", "850"):
        assert encoding_called(name) == "cp850"
    data = table(["schön"]).encode("cp850")
    fmt = sniff(data, name="x.csv", whole=True, choices=Choices(encoding="cp850"))
    assert (fmt.encoding_name, fmt.encoding_guessed) == ("DOS-850 (Western European)", False)


# Signs that are letters in other code pages, alone in a file: much of what people upload.
SIGNS = [
    *("It wasn’t the staff’s fault", "clean – and quiet", "1998–2004", "a room—no, a cell"),
    *("“clean”", "‘quiet’", "wait…", "• item", "Acme™", "Acme® bed", "© Acme", "§ 81", "30 µm"),
    *("21°C", "21° outside", "£35", "35 €", "€3.50", "½ star", "9\xa0km", "20 m²", "±4", "3×4"),
    *("« oui »", "99¢", "3º piso", "bed · bath", "a café", "CAFÉ", "GRÖSSE", "ÉTÉ", "Zoë"),
    *("Núñez", "Müller", "Åsa", "Øyvind", "François"),
]


@pytest.mark.parametrize("text", SIGNS)
@pytest.mark.parametrize("times", [1, 100])
def test_a_sign_or_a_name_does_not_make_windows_1252_anything_else(text: str, times: int) -> None:
    data = table([text], times=times).encode("cp1252")
    assert texts(cells_of(data)) == [text] * times


def test_many_signs_are_no_letters_of_dos() -> None:
    signs = [text for text in SIGNS if not re.search("[À-ÿ]", text)]
    data = table(signs).encode("cp1252")
    assert texts(cells_of(data)) == signs


def test_a_file_whose_rest_is_in_another_encoding_than_its_head_is_read_again() -> None:
    plain = "0,A plain line of a review of the room\r\n" * 10_000
    data = table(CZECH, times=50, before='0,"Café"\r\n' + plain).encode("cp1250")
    assert format_of(data).encoding == "cp1252"
    report = report_of(data, max_rows=20_000)
    assert report.format.encoding == "cp1250"
    assert report.sample[0] == '["0","Café"]'


def test_the_names_of_columns_are_read_again_with_their_file() -> None:
    plain = "0,A plain line of a review of the room\r\n" * 10_000
    data = f"nr,Größe\r\n{plain}".encode("cp1252") + table(RUSSIAN).encode("cp1251")
    assert format_of(data).columns == ("nr", "Größe")
    report = report_of(data, max_rows=20_000)
    assert (report.format.encoding, report.format.columns) == ("cp1251", ("nr", "GrцЯe"))


@pytest.mark.parametrize(
    ("delimiter", "columns"),
    [(",", ("a;é", "b")), (";", ("a", "é,b")), (ONE_COLUMN, ("a;é,b",))],
)
def test_names_are_split_again_as_they_were(delimiter: str, columns: tuple[str, ...]) -> None:
    head = "a;é,b\n1;2,3\n".encode("cp1252")
    fmt = sniff(head, name="x.csv", whole=True, choices=Choices(delimiter=delimiter))
    assert (fmt.columns, in_encoding(fmt, "cp1250", head=head).columns) == (columns, columns)


def test_names_are_read_again_from_a_head_that_ends_within_a_character() -> None:
    fmt = Format("csv", "cp1252", ",", ("?", "??"), header_row=1, first_row=2)
    head = '"名","本文"\n1,日'.encode("cp932")[:-1]
    assert in_encoding(fmt, "cp932", head=head).columns == ("名", "本文")


def test_a_head_that_does_not_fit_the_other_encoding_is_refused_by_line() -> None:
    fmt = Format("csv", "cp1252", ",", ("nr", "Größe"))
    with pytest.raises(BadInput, match=r"^Line 2: the byte 0xFF has no meaning in UTF-8"):
        in_encoding(fmt, "utf-8", head=b"nr,Gr\n1,\xff\n")


def test_the_keys_of_objects_are_read_again_with_their_file() -> None:
    plain = '{"text": "A plain line of a review of the room"}\n' * 10_000
    rows = "".join(f'{{"text": "{sentence}"}}\n' for sentence in RUSSIAN)
    data = b'{"Gr\xf6\xdfe": 1}\n' + plain.encode() + rows.encode("cp1251")
    assert format_of(data, "x.jsonl").columns == ("Größe", "text")
    report = report_of(data, "x.jsonl", max_rows=20_000)
    assert (report.format.encoding, report.format.columns) == ("cp1251", ("GrцЯe", "text"))


def test_a_byte_that_the_first_guess_does_not_know_leads_to_another() -> None:
    plain = "0,A plain line of a review of the room\r\n" * 10_000
    data = f"id,text\r\n0,21°C\r\n{plain}".encode("cp1252") + table(JAPANESE).encode("cp932")
    assert format_of(data).encoding == "cp1252"
    assert report_of(data, max_rows=20_000).format.encoding == "cp932"


def test_chinese_that_looks_like_utf8_in_places_is_still_chinese() -> None:
    # The best known case: these two characters of GB18030 are also two of UTF-8.
    sentences = ["联通", *CHINESE]
    data = table(sentences).encode("gb18030")
    assert texts(cells_of(data)) == sentences


@OF_TWO_BYTES
@pytest.mark.parametrize("piece", [1, 2, 3, 5])
def test_a_character_of_two_bytes_may_fall_between_two_pieces(encoding: str, piece: int) -> None:
    sentences = next(found for (_, page), found in SENTENCES.items() if page == encoding)
    data = table(sentences, times=20).encode(encoding)
    assert [row.cells[1] for row in rows_of(data, piece=piece)] == sentences * 20  # type: ignore[index]


@OF_TWO_BYTES
@pytest.mark.parametrize(("piece", "rows"), [(1, 50), (7, 500), (1 << 16, 6_000)])
def test_a_damaged_byte_is_named_by_its_line_in_any_code_page(
    encoding: str, piece: int, rows: int
) -> None:
    sentences = next(found for (_, page), found in SENTENCES.items() if page == encoding)
    good = table(sentences, times=rows // 2).encode(encoding)
    data = good + b'1,"\x81"\r\n2,x\r\n'
    fmt = Format("csv", encoding, ",", ("id", "text"))
    with pytest.raises(BadInput, match=r"the byte 0x81 has no meaning in") as caught:
        list(read(cast(BinaryIO, Dribble(data, piece)), fmt))
    assert place_of(caught.value)[1] == rows + 2


def test_an_encoding_chosen_by_a_person_is_never_guessed_again() -> None:
    data = table(RUSSIAN, times=50).encode("cp1251")
    fmt = sniff(data, name="x.csv", whole=True, choices=Choices(encoding="cp1252"))
    assert (fmt.encoding, fmt.encoding_chosen, fmt.encoding_guessed) == ("cp1252", True, False)
    report = check(lambda: io.BytesIO(data), fmt, problems=FirstProblems, max_rows=1_000)
    assert report.format == fmt
    assert report.sample[0] == '["1","Êîìíàòà áûëà ÷èñòàÿ è òèõàÿ."]'


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.txt"])
def test_an_encoding_chosen_by_a_person_is_kept_for_every_kind_of_file(name: str) -> None:
    data = b'{"a": "caf\xe9"}\n{"a": "th\xe9"}\n' if name == "x.jsonl" else b"a,b\ncaf\xe9,2\n"
    assert sniff(data, name=name, whole=True, choices=Choices(encoding="cp1252")).encoding_chosen
    assert not sniff(data, name=name, whole=True).encoding_chosen


def test_a_chosen_encoding_that_does_not_fit_is_refused_by_line() -> None:
    data = table(RUSSIAN).encode("cp1251")
    with pytest.raises(BadInput, match=r"^Line 2: the byte 0x.. has no meaning in UTF-8"):
        sniff(data, name="x.csv", whole=True, choices=Choices(encoding="utf-8"))
    fmt = Format("csv", "utf-8", ",", ("id", "text"), encoding_chosen=True)
    with pytest.raises(BadInput, match=r"^Line 2: the byte 0x.. has no meaning in UTF-8"):
        check(lambda: io.BytesIO(data), fmt, problems=FirstProblems, max_rows=1_000)


def test_an_encoding_has_a_name_for_people_and_says_whether_it_was_guessed() -> None:
    found = format_of(table(RUSSIAN).encode("cp1251"))
    assert (found.encoding_name, found.encoding_guessed) == ("Windows-1251 (Cyrillic)", True)
    found = format_of(table(RUSSIAN).encode("utf-8-sig"))
    assert (found.encoding_name, found.encoding_guessed) == ("UTF-8", False)
    assert len({NAMES[encoding] for encoding in CODE_PAGES}) == len(CODE_PAGES)


def test_a_format_stored_before_encodings_could_be_chosen_is_still_read() -> None:
    stored = json.loads('{"kind": "txt", "encoding": "utf-8", "delimiter": null, "columns": ["a"]}')
    assert Format.from_dict(stored) == Format("txt", "utf-8", None, ("a",))


def test_cells_that_are_cut_between_two_chunks_are_no_evidence() -> None:
    sentence = f"x{CHINESE[0]}".encode("gb18030")
    data = (sentence + b"\n") * 40_000
    evidence = Evidence()
    for start in range(0, len(data), 65_521):  # a prime number: every cut is at another place
        evidence.add(data[start : start + 65_521])
    whole, *cut = evidence.data.split(b" ")
    assert whole == sentence
    assert len(cut) <= 1  # at the end of the first chunk


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_only_whole_lines_of_a_chunk_are_evidence(end: bytes) -> None:
    evidence = Evidence()
    evidence.add(b"plain" + end)
    evidence.add(end.join([b"\xe9t\xe9", b"plain", b"Caf\xe9", b"\xc9t"]))
    assert evidence.data == b"Caf\xe9"


def test_of_a_file_that_repeats_itself_only_some_chunks_are_searched() -> None:
    same = "Café\n".encode("cp1252") * 1_000
    czech = "\n".join(["", *CZECH, ""]).encode("cp1250")

    def guess(*, czech_at: int) -> str:
        evidence = Evidence()
        for number in range(1, 2 * CHUNKS_SEARCHED + 1):
            evidence.add(czech if number == czech_at else same)
        return evidence.guess()

    assert guess(czech_at=CHUNKS_SEARCHED) == "cp1250"
    assert guess(czech_at=CHUNKS_SEARCHED + 1) == "cp1252"
    assert guess(czech_at=2 * CHUNKS_SEARCHED) == "cp1250"


def test_no_more_evidence_is_kept_than_a_guess_takes() -> None:
    evidence = Evidence()
    for number in range(100):
        evidence.add(f"Übergröße {number}\n".encode("cp1252") * 50 + b"\xe9" * 10_000)
    assert len(evidence.data) <= EVIDENCE_BYTES
    assert evidence.guess() == "cp1252"


# -- what people call an encoding ----------------------------------------------------------------


@pytest.mark.parametrize("key", NAMES)
def test_an_encoding_is_known_by_its_key_and_by_the_name_on_the_page(key: str) -> None:
    assert encoding_called(key) == key
    assert encoding_called(NAMES[key].partition(" (")[0]) == key


CALLED = {
    "utf-8": "utf8 UTF_8 utf-8-sig U8 ascii us-ascii",
    "utf-16-le": "utf-16 UTF16 utf-16le",
    "utf-16-be": "utf-16be",
    "utf-32-le": "utf-32",
    "cp1252": "latin1 latin-1 ISO-8859-1 windows-1252 1252 cp1252",
    "cp1254": "latin5 iso-8859-9",
    "iso8859-15": "iso-8859-15 latin9",
    "mac-roman": "macroman macintosh",
    "cp874": "windows-874 tis-620 iso-8859-11",
    "cp932": "shift_jis SJIS shift-jis ms932",
    "euc_jis_2004": "euc-jp eucjp",
    "cp949": "euc-kr uhc",
    "gb18030": "gbk GB2312 cp936",
    "big5hkscs": "big5 cp950 big5-hkscs",
}


@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for key, names in CALLED.items() for name in names.split()]
)
def test_an_encoding_is_known_by_any_usual_name(name: str, key: str) -> None:
    assert encoding_called(f" {name} ") == key


@pytest.mark.parametrize("name", ["", "klingon", "utf-7", "hex", "cp037", "a\0b", "ü", "x" * 999])
def test_what_is_no_encoding_of_a_text_here_is_not_known(name: str) -> None:
    assert encoding_called(name) is None
