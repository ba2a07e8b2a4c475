# SPDX-License-Identifier: Apache-2.0
"""Hostile files that are given as tables: small ones that unpack to gigabytes, and those whose reading would not end. Each question ends
within the limits of its run, with one sentence that says why."""
import gzip
import io
import json
import sqlite3
import zipfile

import pytest

MIB = 1 << 20
SUM = "result = len(df)"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
BOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{BOOK}.sheet.main+xml"/><Override PartName="/xl/sharedStrings.xml" ContentType="{BOOK}.sharedStrings+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{BOOK}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
BEGIN, END = f'<worksheet xmlns="{SHEET}"><sheetData>'.encode(), b"</sheetData></worksheet>"
CELL = b'<row r="1"><c r="A1" t="inlineStr"><is><t>%s</t></is></c></row>'


def packed(*parts):
    """PARTS are (bytes, how often)."""
    file = io.BytesIO()
    with gzip.open(file, "wb", 9) as made:
        for data, times in parts:
            for _ in range(times):
                made.write(data)
    return file.getvalue()


def workbook(*sheet, shared=((f'<sst xmlns="{SHEET}"/>'.encode(), 1),)):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in PARTS.items():
            made.writestr(name, text)
        for name, parts in (("xl/worksheets/sheet1.xml", sheet), ("xl/sharedStrings.xml", shared)):
            with made.open(name, "w", force_zip64=True) as part:
                for data, times in parts:
                    for _ in range(times):
                        part.write(data)
    return file.getvalue()


def entities(before=b""):
    """The declarations of a text that is a million million times as long."""
    names = [f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 13)]
    return b'<?xml version="1.0"?>' + before + f'<!DOCTYPE x [<!ENTITY e0 "x">{"".join(names)}]>'.encode()


def database(script):
    made = sqlite3.connect(":memory:")
    made.executescript(script)
    made.commit()
    return made.serialize() if hasattr(made, "serialize") else None


ENDLESS = "CREATE VIEW v AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;"
SPENT = ("timeout", "cpu_limit", "memory_limit")

# (what it is, the name, a function that gives the bytes, options, how it may end, words of the sentence)
BOMBS = [
    ("gzip of rows", "a.csv.gz", lambda: packed((b"a,b\n", 1), (b"1,2\n" * (MIB // 4), 1500)), (), (), "limits workspace_bytes and file_bytes"),
    ("gzip of one line", "a.csv.gz", lambda: packed((b"a,b\n1,2\n", 1), (b"x" * MIB, 1500)), (), (), "limits workspace_bytes and file_bytes"),
    ("gzip of nothing", "a.csv.gz", lambda: packed((bytes(MIB), 1500)), (), (), "with binary data of an unknown kind in it"),
    ("gzip of JSON", "a.json.gz", lambda: packed((b'[{"a": "', 1), (b"x" * MIB, 1500)), (), (), "limits workspace_bytes and file_bytes"),
    ("a workbook that unpacks to gigabytes", "a.xlsx", lambda: workbook((BEGIN, 1), (b"<row/>" * (MIB // 6), 1100), (END, 1)), (), (), "unpacks to more than 1024 MiB"),
    ("a workbook of empty rows", "a.xlsx", lambda: workbook((BEGIN, 1), (b"<row/>" * (MIB // 6), 200), (END, 1)), (), SPENT, "more than 1048576 rows"),
    ("a workbook of shared strings", "a.xlsx", lambda: workbook((BEGIN, 1), (CELL % b"a", 1), (END, 1), shared=((f'<sst xmlns="{SHEET}">'.encode(), 1), (b"<si><t>x</t></si>" * 50000, 1000))), (), SPENT, "cannot be read"),
    ("rows of one far cell", "a.xlsx", lambda: workbook((BEGIN, 1), (b'<row><c r="XFD1"><v>1</v></c></row>' * 1000, 900), (END, 1)), (), SPENT, "cells"),
    ("a row too far", "a.xlsx", lambda: workbook((BEGIN, 1), (b'<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999"><c r="A99999999"><v>1</v></c></row>', 1), (END, 1)), (), SPENT, "more than 1048576 rows"),
    ("entities", "a.xlsx", lambda: workbook((entities() + BEGIN, 1), (CELL % b"&e12;", 1), (END, 1)), (), (), "has a document type"),
    ("entities behind a long comment", "a.xlsx", lambda: workbook((entities(b"<!--" + b"x" * 100000 + b"-->") + BEGIN, 1), (CELL % b"&e12;", 1), (END, 1)), (), SPENT, "a.xlsx is an Excel workbook that cannot be read"),
    ("rows in rows", "a.xlsx", lambda: workbook((BEGIN, 1), (b"<row>" * MIB, 2), (END, 1)), (), SPENT, "a.xlsx is an Excel workbook that cannot be read"),
    ("deep JSON", "a.json", lambda: b"[" * MIB + b"]" * MIB, (), (), "nested too deeply"),
    ("deep JSON within", "a.json", lambda: b'[{"a": ' + b"[" * MIB + b"]" * MIB + b"}]", (), (), "nested too deeply"),
    ("JSON of many names", "a.json", lambda: json.dumps([{f"k{at}": 1} for at in range(30000)]).encode(), (), SPENT, "more than 20000 different names"),
    ("a view without end", "a.db", lambda: database(ENDLESS), ("--table", "v"), SPENT, "(cpu_ms)"),
    ("a view of a length without end", "a.db", lambda: database("CREATE VIEW v AS SELECT hex(zeroblob(60000000)) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r);"), ("--table", "v"), SPENT, "too big"),
]


@pytest.mark.parametrize("name, make, options, outcomes, words", [row[1:] for row in BOMBS], ids=[row[0] for row in BOMBS])
def test_a_bomb_ends_within_its_limits(adder, name, make, options, outcomes, words):
    """As an error in WORDS, or by one of the limits OUTCOMES, which the sentence names."""
    if not adder.has_environment("science"):
        pytest.skip("no environment `science`")
    content = make()
    if content is None:
        pytest.skip("this Python cannot make a database in memory")
    ended = adder.call("ask", adder.file(name, content), "?", "--code", adder.file("code.py", SUM), "--env", "science", "--json", *options, timeout=120)
    answer = json.loads(ended.stdout)
    if answer["outcome"] not in outcomes:
        assert answer["outcome"] == "error" and words in answer["answer"] and "\n" not in answer["answer"], answer
    # Python's own MemoryError has no message.
    assert answer["outcome"] == "error" or (answer["error"]["message"] or "MemoryError") in answer["answer"], answer
    assert answer["usage"]["peak_memory_bytes"] <= 600 * MIB and answer["usage"]["cpu_ms"] <= 20000, answer["usage"]
