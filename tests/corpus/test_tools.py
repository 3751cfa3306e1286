"""What colleagues' tools export."""

import pytest

from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in, lines

pytestmark = pytest.mark.django_db

ENTRIES = [
    Entry(
        "pandas to_csv with NaN and None",
        "r.csv",
        lines(",name,score", "0,Ann,1.5", "1,Bob,", "2,,2.0"),
        Table(("Column 1", "name", "score"), 3, ["0", "Ann", "1.5"]),
    ),
    Entry(
        "pandas to_csv with two levels of names",
        "r.csv",
        lines(",score,score", ",mean,std", "Ann,1.5,0.1", "Bob,2.5,0.2"),
        Table(("Column 1", "score", "score (2)"), 3, ["", "mean", "std"]),
    ),
    Entry(
        "pandas to_json with lines",
        "r.json",
        lines('{"id":1,"text":"caf\\u00e9"}', '{"id":2,"text":null}'),
        Table(("id", "text"), 2, {"id": 1, "text": "café"}),
    ),
    Entry(
        "pandas to_json with orient=split",
        "r.json",
        b'{"columns":["id","text"],"index":[0,1],"data":[[1,"one"],[2,"two"]]}',
        Table(
            ("columns", "index", "data"),
            1,
            {"columns": ["id", "text"], "index": [0, 1], "data": [[1, "one"], [2, "two"]]},
        ),
    ),
    Entry(
        "pandas to_json as it is, by column",
        "r.json",
        b'{"id":{"0":1,"1":2},"text":{"0":"one","1":"two"}}',
        Table(
            ("id.0", "id.1", "text.0", "text.1"),
            1,
            {"id.0": 1, "id.1": 2, "text.0": "one", "text.1": "two"},
        ),
    ),
    Entry(
        "R write.table",
        "r.txt",
        lines('"id" "text"', '"1" 7 "one"', '"2" 8 "two"'),
        Table(("prompt",), 3, ['"id" "text"']),
    ),
    Entry(
        "R write.table with tabs",
        "r.tsv",
        lines('"id"\t"text"', '"1"\t7\t"one"', '"2"\t8\tNA'),
        Table(("Column 1", "id", "text"), 2, ["1", "7", "one"]),
    ),
    Entry(
        "R write.csv2",
        "r.csv",
        lines('"";"id";"price"', '"1";7;1,5', '"2";8;2,5'),
        Table(("Column 1", "id", "price"), 2, ["1", "7", "1,5"]),
    ),
    Entry(
        "Google Forms",
        "Feedback (Responses).csv",
        lines(
            '"Timestamp","Your name","What did you like? (Choose all)","Anything else?"',
            '"2026/05/01 9:12:33 AM GMT+2","Ann","Room;Breakfast","It was quiet,',
            '",',
        )[:-3]
        + b'and near."\r\n"2026/05/01 9:15:02 AM GMT+2","Bob","",""\r\n',
        Table(
            ("Timestamp", "Your name", "What did you like? (Choose all)", "Anything else?"),
            2,
            ["2026/05/01 9:12:33 AM GMT+2", "Ann", "Room;Breakfast", "It was quiet,\nand near."],
        ),
    ),
    # Of the rows with names one is taken; the others look like rows, and are read as such. The row
    # can be changed with a click.
    Entry(
        "SurveyMonkey, with a second row of names",
        "survey.csv",
        lines(
            "Respondent ID,Start Date,How was your stay?,What would you change?",
            ",,Response,Open-Ended Response",
            "118000001,05/01/2026 10:00:00 AM,Good,The breakfast",
            "118000002,05/01/2026 11:00:00 AM,Bad,Everything",
        ),
        Table(
            ("Respondent ID", "Start Date", "How was your stay?", "What would you change?"),
            3,
            ["", "", "Response", "Open-Ended Response"],
        ),
    ),
    Entry(
        "Qualtrics, with names, questions and ids in three rows",
        "survey.csv",
        lines(
            "StartDate,ResponseId,Q1",
            'Start Date,Response ID,"What do you think, overall?"',
            '"{""ImportId"":""startDate""}","{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"',
            "2026-05-01 10:00:00,R_1a2b,Fine",
            "2026-05-01 11:00:00,R_3c4d,Good",
        ),
        Table(
            ("StartDate", "ResponseId", "Q1"),
            4,
            ["Start Date", "Response ID", "What do you think, overall?"],
        ),
    ),
    Entry(
        "SAP, with lines of dashes and fixed widths",
        "list.txt",
        lines(
            "01.05.2026      Dynamic List Display      1",
            "-------------------------------------------",
            "|Material|Description         |     Price|",
            "-------------------------------------------",
            "|10000001|Screw, 5 mm         |      1,50|",
            "|10000002|Bolt                |      2,75|",
            "-------------------------------------------",
        ),
        Table(("prompt",), 7, ["01.05.2026      Dynamic List Display      1"]),
    ),
    Entry(
        "SAP, with tabs and a title",
        "list.xls",
        lines(
            "01.05.2026\tDynamic List Display",
            "",
            "\tMaterial\tDescription\tPrice",
            "",
            "\t10000001\tScrew, 5 mm\t1,50",
            "\t10000002\tBolt\t2,75",
            end="\r\n",
        ),
        Table(("Material", "Description", "Price"), 3, []),
    ),
    Entry(
        "MySQL --batch",
        "out.tsv",
        lines("id\tbody\tscore", "1\tfirst\\nsecond\t4.5", "2\tNULL\t3.0"),
        Table(("id", "body", "score"), 2, ["1", "first\\nsecond", "4.5"]),
    ),
    Entry(
        "MySQL with a frame",
        "out.txt",
        lines(
            "+----+------+",
            "| id | body |",
            "+----+------+",
            "|  1 | one  |",
            "|  2 | two  |",
            "+----+------+",
        ),
        Table(("prompt",), 6, ["+----+------+"]),
    ),
    Entry(
        "MySQL INTO OUTFILE, with backslashes and \\N",
        "out.csv",
        lines('1,"She said \\"hi\\"",\\N', '2,"two",7', '3,"three",8'),
        Table(("Column 1", "Column 2", "Column 3"), 3, ["1", 'She said "hi"', "\\N"]),
    ),
    Entry(
        "PostgreSQL COPY TO CSV",
        "out.csv",
        lines(
            "id,body,ok,made",
            '1,"one, or ""two""",t,2026-05-01 10:00:00.123+02',
            "2,,f,2026-05-02 11:00:00+02",
        ),
        Table(
            ("id", "body", "ok", "made"),
            2,
            ["1", 'one, or "two"', "t", "2026-05-01 10:00:00.123+02"],
        ),
    ),
    Entry(
        "PostgreSQL COPY as text",
        "out.tsv",
        lines("1\tfirst\\tsecond\t\\N", "2\tthird\t5", "3\tfourth\t6"),
        Table(("Column 1", "Column 2", "Column 3"), 3, ["1", "first\\tsecond", "\\N"]),
    ),
    Entry(
        "psql with aligned columns",
        "out.csv",
        lines(" id | body ", "----+------", "  1 | one  ", "  2 | two  ", "(2 rows)"),
        Table((" id ", " body "), 4, ["----+------"], bad=2),
    ),
    Entry(
        "Excel, Unicode Text",
        "r.txt",
        b"\xff\xfe" + 'id\ttext\r\n1\t"größer, ""ja"""\r\n2\t日本\r\n'.encode("utf-16-le"),
        Table(("id", "text"), 2, ["1", 'größer, "ja"'], "utf-16-le"),
    ),
    Entry(
        "Excel, CSV for the Mac",
        "r.csv",
        (
            "id;text\r1;Das Zimmer war größer und schöner als erwartet\r"
            "2;Das Frühstück hätte besser sein können\r"
        ).encode("mac-roman"),
        Table(
            ("id", "text"), 2, ["1", "Das Zimmer war größer und schöner als erwartet"], "mac-roman"
        ),
    ),
    Entry(
        "LibreOffice, all texts in quotation marks",
        "r.csv",
        lines('"id","text","price"', '1,"one, or two",1.5', '2,"three",2'),
        Table(("id", "text", "price"), 2, ["1", "one, or two", "1.5"]),
    ),
    Entry(
        "JIRA, with columns of one name",
        "jira.csv",
        lines(
            "Summary,Issue key,Labels,Labels,Comment,Comment,Comment",
            'Login fails,AB-1,web,urgent,"01/May/26 10:00;ann;It ""hangs"",\nagain and again.",,',
            "Slow page,AB-2,web,,,,",
        ),
        Table(
            ("Summary", "Issue key", "Labels", "Labels (2)", "Comment"),
            2,
            [
                "Login fails",
                "AB-1",
                "web",
                "urgent",
                '01/May/26 10:00;ann;It "hangs",\nagain and again.',
                "",
                "",
            ],
        ),
    ),
    Entry(
        "HubSpot",
        "contacts.csv",
        lines(
            '"Record ID","First Name","Last Name","Email","Create Date","Notes"',
            '"512","Ann","Lee","ann@example.com","2026-05-01 10:00","Called twice; wants ""more"""',
            '"513","Bob","","","2026-05-02 11:30",""',
        ),
        Table(
            ("Record ID", "First Name", "Last Name", "Email", "Create Date", "Notes"),
            2,
            [
                "512",
                "Ann",
                "Lee",
                "ann@example.com",
                "2026-05-01 10:00",
                'Called twice; wants "more"',
            ],
        ),
    ),
    Entry(
        "Shopify, with HTML of several lines",
        "products_export.csv",
        lines(
            "Handle,Title,Body (HTML),Vendor,Variant Price",
            'mug,Mug,"<p>A mug.</p>',
            "<ul>",
            '<li>Blue, or ""sky""</li></ul>",Acme,12.00',
            "mug,,,,13.00",
            "cup,Cup,,Acme,9.00",
        ),
        Table(
            ("Handle", "Title", "Body (HTML)", "Vendor", "Variant Price"),
            3,
            ["mug", "Mug", '<p>A mug.</p>\n<ul>\n<li>Blue, or "sky"</li></ul>', "Acme", "12.00"],
        ),
    ),
    # A footer has too few cells: its rows are listed, and can be skipped.
    Entry(
        "Salesforce, with a footer",
        "report.csv",
        lines(
            '"Case Number","Subject"',
            '"00001001","Broken"',
            '"00001002","Late"',
            "",
            "",
            '"Open cases"',
            '"Copyright 2000-2026 salesforce.com"',
        ),
        Table(("Case Number", "Subject"), 6, ["00001001", "Broken"], bad=2),
    ),
    Entry(
        "Google Analytics, with comments above",
        "ga.csv",
        lines(
            "# ----------------------------------------",
            "# All Web Site Data",
            "# 20260501-20260531",
            "# ----------------------------------------",
            "",
            "Page,Pageviews,Bounce Rate",
            '/home,"1,234",45.10%',
            *(f"/about/{page},56,12.00%" for page in range(9)),
        ),
        Table(("Page", "Pageviews", "Bounce Rate"), 10, ["/home", "1,234", "45.10%"]),
    ),
    Entry(
        "a bank, with lines about the account",
        "statement.csv",
        "\ufeff".encode()
        + lines(
            '"Account";"DE00 0000"',
            '"From";"01.05.2026"',
            "",
            '"Date";"Payee";"Purpose";"Amount"',
            '"02.05.2026";"Shop";"Tea";"-3,50 €"',
            '"03.05.2026";"Work";"Pay";"2.000,00 €"',
        ),
        Table(("Date", "Payee", "Purpose", "Amount"), 2, ["02.05.2026", "Shop", "Tea", "-3,50 €"]),
    ),
    Entry(
        "PowerShell, Export-Csv",
        "r.csv",
        lines(
            "#TYPE System.IO.FileInfo",
            '"Name","Length"',
            '"a.txt","17"',
            '"b.txt","23"',
            end="\r\n",
        ),
        Table(("Name", "Length"), 2, ["a.txt", "17"]),
    ),
    Entry(
        "a chat of WhatsApp",
        "chat.txt",
        lines(
            "[01.05.26, 10:00:01] Ann: Hi, there",
            "[01.05.26, 10:00:09] Bob: Hi",
            "[01.05.26, 10:01:00] Ann: So, what now?",
        ),
        Table(("prompt",), 3, ["[01.05.26, 10:00:01] Ann: Hi, there"]),
    ),
    Entry(
        "subtitles",
        "film.srt",
        lines(
            "1",
            "00:00:01,000 --> 00:00:03,000",
            "Hello, you.",
            "",
            "2",
            "00:00:04,000 --> 00:00:05,000",
            "Bye.",
        ),
        Table(("prompt",), 7, ["1"]),
    ),
]


@each(ENTRIES)
def test_an_export_is_read(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
