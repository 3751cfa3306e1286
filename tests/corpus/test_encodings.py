"""Encodings: what is sure is read so; a code page is guessed from the text."""

import codecs

import pytest

from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in, lines

pytestmark = pytest.mark.django_db

GERMAN = (
    "Das Zimmer war schön und größer als erwartet",
    "Das Frühstück könnte besser sein, aber für den Preis völlig in Ordnung",
    "Wir würden jederzeit zurückkommen, äußerst freundliche Leute",
)
DANISH = (
    "Værelset var større, end vi havde håbet på, og værten var sød",
    "Morgenmaden kunne være bedre, men prisen taget i betragtning går det",
    "Vi kommer gerne igen næste år, også til påske; bøfferne var gode, øllet køligt",
)
FRENCH = (
    "L’hôtel était très agréable, près de la forêt",
    "Le petit déjeuner n’était pas à la hauteur de nos espérances",
    "Un accueil chaleureux : nous reviendrons l’été prochain, c’est sûr",
)
POLISH = (
    "Pokój był bardzo ładny i większy niż się spodziewaliśmy",
    "Śniadanie mogłoby być lepsze, ale za tę cenę w porządku",
    "Chętnie wrócimy, obsługa była życzliwa i pomocna",
)
TURKISH = (
    "Oda çok güzeldi ve beklediğimizden daha büyüktü",
    "Kahvaltı daha iyi olabilirdi ama fiyatına göre yeterliydi",
    "Yine geleceğiz, çalışanlar çok nazik ve yardımseverdi, teşekkürler",
)
BALTIC = (
    "Kambarys buvo labai gražus ir didesnis nei tikėjomės",
    "Pusryčiai galėtų būti geresni, bet už tokią kainą viskas gerai",
    "Būtinai sugrįšime, darbuotojai labai draugiški ir paslaugūs",
)
RUSSIAN = (
    "Номер был очень красивым и больше, чем мы ожидали",
    "Завтрак мог бы быть лучше, но за эти деньги всё хорошо",
    "Обязательно вернёмся, персонал вежливый и внимательный",
)
UKRAINIAN = (
    "Номер був дуже гарний і більший, ніж ми очікували",
    "Сніданок міг би бути кращим, але за ці гроші все добре",
    "Обов'язково повернемося, персонал ввічливий і уважний, є їдальня",
)
GREEK = (
    "Το δωμάτιο ήταν πολύ όμορφο και μεγαλύτερο από όσο περιμέναμε",
    "Το πρωινό θα μπορούσε να είναι καλύτερο, αλλά για την τιμή είναι εντάξει",
    "Θα ξαναέρθουμε σίγουρα, το προσωπικό ήταν ευγενικό",
)
HEBREW = (
    "החדר היה יפה מאוד וגדול יותר ממה שציפינו",
    "ארוחת הבוקר יכלה להיות טובה יותר אבל במחיר הזה זה בסדר",
    "נחזור בהחלט, הצוות היה אדיב ועוזר",
)
ARABIC = (
    "كانت الغرفة جميلة جدا وأكبر مما توقعنا",
    "كان يمكن أن يكون الإفطار أفضل ولكن السعر مناسب",
    "سنعود بالتأكيد وكان الموظفون لطفاء ومتعاونين",
)
THAI = (
    "ห้องสวยมากและใหญ่กว่าที่เราคาดไว้",
    "อาหารเช้าน่าจะดีกว่านี้แต่ราคานี้ก็ถือว่าโอเค",
    "เราจะกลับมาอีกแน่นอน พนักงานสุภาพและช่วยเหลือดี",
)
JAPANESE = (
    "部屋はとてもきれいで、思ったより広かったです。",
    "朝食はもう少し良くてもいいですが、この値段なら十分です。",
    "スタッフも親切でした。また必ず来ます。",
)
KOREAN = (
    "방이 아주 예쁘고 생각보다 넓었어요.",
    "아침 식사는 조금 아쉬웠지만 가격을 생각하면 괜찮습니다.",
    "직원들이 친절했습니다. 꼭 다시 오겠습니다.",
)
CHINESE = (
    "房间非常漂亮，比我们想象的还要大。",
    "早餐可以更好一些，但是这个价格已经很不错了。",
    "服务员很热情，我们一定会再来的。",
)
TAIWANESE = (
    "房間非常漂亮，比我們想像的還要大。",
    "早餐可以更好一些，但是這個價格已經很不錯了。",
    "服務員很熱情，我們一定會再來的。",
)


def in_encoding(
    texts: tuple[str, ...], written: str, read: str = "", *, mark: bytes = b"", wrong: bool = False
) -> Entry:
    """A table of these texts, written in one encoding and read in that or one that has it all.

    wrong: it is read in one that has not.
    """
    table = "".join(f"{number}\t{text}\r\n" for number, text in enumerate(texts, 1))
    title = f"{written} of “{texts[0][:12]}”{' with a mark' if mark else ''}"
    data = mark + f"id\ttext\r\n{table}".encode(written)
    first = texts[0].encode(written).decode(read) if wrong else texts[0]
    return Entry(title, "r.tsv", data, Table(("id", "text"), 3, ["1", first], read or written))


ENTRIES = [
    in_encoding(GERMAN, "utf-8"),
    in_encoding(JAPANESE, "utf-8", mark=codecs.BOM_UTF8),
    in_encoding(GERMAN, "utf-16-le", mark=codecs.BOM_UTF16_LE),
    in_encoding(GERMAN, "utf-16-be", mark=codecs.BOM_UTF16_BE),
    in_encoding(JAPANESE, "utf-16-le", mark=codecs.BOM_UTF16_LE),
    in_encoding(GERMAN, "utf-16-le"),
    in_encoding(GERMAN, "utf-16-be"),
    in_encoding(RUSSIAN, "utf-16-le"),
    in_encoding(JAPANESE, "utf-16-be"),
    in_encoding(GERMAN, "utf-32-le", mark=codecs.BOM_UTF32_LE),
    in_encoding(RUSSIAN, "utf-32-be", mark=codecs.BOM_UTF32_BE),
    in_encoding(GERMAN, "utf-32-le"),
    in_encoding(JAPANESE, "utf-32-be"),
    in_encoding(GERMAN, "cp1252"),
    in_encoding(FRENCH, "cp1252"),
    in_encoding(GERMAN, "iso8859-1", "cp1252"),
    in_encoding(GERMAN, "mac-roman"),
    in_encoding(FRENCH, "mac-roman"),
    in_encoding(DANISH, "cp1252"),
    in_encoding(DANISH, "cp850"),
    # With so few letters, DOS would be guessed where it is not (see `guessing.LEAST_FOR_DOS`).
    in_encoding(GERMAN, "cp850", "mac-roman", wrong=True),
    in_encoding(POLISH, "cp852"),
    in_encoding(RUSSIAN, "cp866"),
    in_encoding(POLISH, "cp1250"),
    in_encoding(POLISH, "iso8859-2"),
    in_encoding(TURKISH, "cp1254"),
    in_encoding(BALTIC, "cp1257"),
    in_encoding(RUSSIAN, "cp1251"),
    in_encoding(RUSSIAN, "koi8-r"),
    in_encoding(RUSSIAN, "iso8859-5"),
    in_encoding(RUSSIAN, "mac-cyrillic"),
    in_encoding(UKRAINIAN, "cp1251"),
    in_encoding(UKRAINIAN, "koi8-u"),
    in_encoding(GREEK, "cp1253"),
    in_encoding(GREEK, "iso8859-7", "cp1253"),  # the same bytes
    in_encoding(HEBREW, "cp1255"),
    in_encoding(ARABIC, "cp1256"),
    in_encoding(THAI, "cp874"),
    in_encoding(JAPANESE, "cp932"),
    in_encoding(JAPANESE, "euc_jp", "euc_jis_2004"),
    in_encoding(KOREAN, "cp949"),
    in_encoding(KOREAN, "euc_kr", "cp949"),
    in_encoding(CHINESE, "gb18030"),
    in_encoding(CHINESE, "gbk", "gb18030"),
    in_encoding(TAIWANESE, "big5", "big5hkscs"),
    Entry(
        "the first accent after 300 KB of plain text",
        "r.csv",
        lambda: b"id,text\n" + b"1,plain\n" * 40_000 + "2,Größe, schön\n".encode("cp1252"),
        Table(("id", "text"), 40_001, ["1", "plain"], "cp1252", bad=1),
    ),
    Entry(
        "one letter of Windows-1252 in a text of UTF-8",
        "r.csv",
        "id,text\n1,schön\n2,Größe\n3,".encode() + b"f\xfcr\n",
        "Line 4: the byte 0xFC has no meaning in UTF-8, the encoding of the rest of the file. …",
    ),
    Entry(
        "UTF-8 that is cut within a letter",
        "r.csv",
        "id,text\n1,schön\n2,Größe\n3,fü".encode()[:-1],
        "Line 4: the byte 0xC3 has no meaning in UTF-8, the encoding of the rest of the file. …",
    ),
    Entry(
        "UTF-16 that is cut within a letter",
        "r.csv",
        codecs.BOM_UTF16_LE + "id,text\n1,schön\n".encode("utf-16-le")[:-1],
        "Line 2: the byte 0x0A has no meaning in UTF-16, the encoding of the rest of the file. …",
    ),
    Entry(
        "a letter written as UTF-8 twice",
        "r.csv",
        "id,text\n1,schÃ¶n\n".encode(),
        Table(("id", "text"), 1, ["1", "schÃ¶n"]),
    ),
    Entry(
        "a mark twice",
        "r.csv",
        codecs.BOM_UTF8 * 2 + b"id,text\n1,a\n",
        Table(("id", "text"), 1, ["1", "a"]),
    ),
    Entry(
        "a mark before quotation marks",
        "r.csv",
        codecs.BOM_UTF8 + b'"id","text"\n"1","a, b"\n',
        Table(("id", "text"), 1, ["1", "a, b"]),
    ),
    Entry("a mark alone", "r.csv", codecs.BOM_UTF8, "The file is empty. …"),
    Entry("a mark of UTF-16 alone", "r.csv", codecs.BOM_UTF16_LE, "The file is empty. …"),
    Entry(
        "a price in euros is all that shows the encoding",
        "r.csv",
        "id,price\n1,5 €\n2,7 €\n".encode("cp1252"),
        Table(("id", "price"), 2, ["1", "5 €"], "cp1252"),
    ),
    # One letter tells nothing, and Windows writes most files: a person says what it is.
    Entry(
        "a single accent of Mac Roman",
        "r.csv",
        "id,text\n1,Café\n".encode("mac-roman"),
        Table(("id", "text"), 1, ["1", "CafŽ"], "cp1252"),
    ),
    Entry("a NUL byte in a cell", "r.csv", b"id,text\n1,a\0b\n", "Line 2: there is a NUL byte, …"),
    Entry(
        "emoji, of which the largest takes eleven characters",
        "r.csv",
        lines("id,text", "1,👩🏽‍❤️‍💋‍👨🏿 and 👨‍👩‍👧‍👦"),
        Table(("id", "text"), 1, ["1", "👩🏽‍❤️‍💋‍👨🏿 and 👨‍👩‍👧‍👦"]),
    ),
    Entry(
        "texts from right to left, with marks that turn the direction",
        "r.csv",
        lines("id,text", "1,\u202eabc\u202c שלום"),
        Table(("id", "text"), 1, ["1", "\u202eabc\u202c שלום"]),
    ),
    Entry(
        "line breaks of Unicode within cells",
        "r.csv",
        lines("id,text", "1,a\u2028b\x85c\x0bd"),
        Table(("id", "text"), 1, ["1", "a\u2028b\x85c\x0bd"]),
    ),
]


@each(ENTRIES)
def test_a_text_is_read_in_its_encoding(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
