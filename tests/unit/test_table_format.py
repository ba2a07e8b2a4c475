# SPDX-License-Identifier: Apache-2.0
"""How the runner finds out what a file is, and reads each format that is no CSV, with the interpreter of the environment `science`."""

import gzip
import io
import json
import random
import zipfile

import pytest

from test_csv import Reader, said


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    made = Reader(tmp_path_factory.mktemp("formats"))
    yield made
    made.end()


def archive(*names, first=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name in names:
            made.writestr(name, first)
    return file.getvalue()


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)

# (what the file holds, the words that say so)
OTHERS = [
    (b"%PDF-1.7\n", "a PDF document, not a table"),
    (b"\x89PNG\r\n\x1a\n" + bytes(20), "a PNG image, not a table"),
    (b"\xff\xd8\xff\xe0" + bytes(20), "a JPEG image, not a table"),
    (b"GIF89a" + bytes(20), "a GIF image, not a table"),
    (b"RIFF\x10\0\0\0WEBPVP8 ", "a WebP image, not a table"),
    (b"<!DOCTYPE html>\n<title>x</title>", "an HTML page, not a table"),
    (b"\xef\xbb\xbf\n<!-- a --> <html lang='en'>", "an HTML page, not a table"),
    ("<html><body>é</body></html>".encode("utf-16"), "an HTML page, not a table"),
    (b"<table><tr><td>1</td></tr></table>", "an HTML page, not a table"),
    (b'<?xml version="1.0"?><feed/>', "an XML document, not a table"),
    (b'<?xml version="1.0"?><svg xmlns="x"/>', "an SVG image, not a table"),
    (b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>', "an Excel 2003 workbook as XML: save it as .xlsx"),
    (archive("a.csv", "b.csv"), "a ZIP archive of 2 files: unpack it first"),
    (archive(), "an empty ZIP archive, not a table"),
    (archive("word/document.xml"), "a Word document, not a table"),
    (archive("xl/workbook.bin"), "a binary Excel workbook (.xlsb): save it as .xlsx"),
    (archive("mimetype", first=b"application/vnd.oasis.opendocument.spreadsheet"), "an OpenDocument spreadsheet (.ods): save it as .xlsx"),
    (archive("xl/workbook.xml")[:-30], "a damaged or incomplete ZIP archive or workbook, not a table"),
    (OLE + "Workbook\0".encode("utf-16-le"), "an Excel workbook of the old format (.xls): save it as .xlsx"),
    (OLE + "EncryptedPackage\0".encode("utf-16-le"), "an Excel workbook or another document with a password: save it without one"),
    (OLE + "WordDocument\0".encode("utf-16-le"), "a Word document, not a table"),
    (b"\x7fELF\x02\x01\x01" + bytes(40), "a Linux executable, not a table"),
    (b"MZ\x90\0" + bytes(40), "a Windows executable, not a table"),
    (b"#!/bin/sh\nexit 1\n", "a script, not a table"),
    (b"BZh91AY&SY" + bytes(10), "a bzip2 file, not a table"),
    (bytes(257) + b"ustar\x0000" + bytes(248), "a tar archive, not a table"),
    (b"\x93NUMPY\x01\0", "a NumPy array (.npy), not a table"),
    (b"{\\rtf1\\ansi}", "an RTF document, not a table"),
    (b"PAR1\x15\x04", "a Parquet file that cannot be read"),
    (b"ARROW1\0\0\xff\xff\xff\xff", "a Feather (Arrow) file that cannot be read"),
    (b"SQLite format 3\0" + bytes(84), "an SQLite database"),
    (b"", "is empty: there is no table in it"),
    (bytes(1000), "binary data of an unknown kind, not a table"),
    (random.Random(4).randbytes(3000), "binary data of an unknown kind, not a table"),
    (random.Random(5).randbytes(60), "binary data of an unknown kind, not a table"),
    (gzip.compress(b"%PDF-1.7\n", mtime=0), "a gzip file with a PDF document in it, not a table"),
    (gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0), "a gzip file with a gzip file in it: unpack it first"),
    (gzip.compress(b"a,b\n1,2\n" * 100, mtime=0)[:-20], "cannot be unpacked: Compressed file ended before"),
    (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-8] + bytes(8), "cannot be unpacked: CRC check failed"),
    (b"\x28\xb5\x2f\xfd" + bytes(20), "cannot be unpacked"),
]


@pytest.mark.parametrize("content, words", OTHERS, ids=range(len(OTHERS)))
@pytest.mark.parametrize("mode", ["load", "scan"])
def test_what_is_no_table_is_named(reader, content, words, mode):
    told = reader.ask(content, mode, called="report.csv")["refused"]
    assert told.startswith("report.csv ") and words in told and "\n" not in told


# Texts that begin as something else could.
CSVS = [b"PAR1,b\n1,2\n", b"FEA1,b\n1,2\n", b"PK,b\n1,2\n", b"BM,b\n1,2\n", b"[a],[b]\n1,2\n", b"{a},b\n1,2\n", b"<5,>5\n1,2\n", b"ID,b\n1,2\n", b"#a,b\n1,2\n", b"a,b\n1\x07,2\n"]


@pytest.mark.parametrize("content", CSVS)
def test_texts_that_look_like_something_else(reader, content):
    answer = reader.ask(content)
    assert (answer["table"]["format"], answer["rows"], len(answer["columns"])) == ("csv", 1, 2)


def test_a_wrong_name_is_told(reader):
    answer = reader.ask('[{"a": 1}]', called="report.csv")
    assert said(answer, "report.csv is JSON", "whatever its name says") and answer["table"]["format"] == "json"
    assert said(reader.ask("a,b\n1,2\n", called="report.parquet"), "report.parquet is a CSV file")
    for called in ("report.csv", "report.txt", "report", "report.dat"):
        assert not said(reader.ask("a,b\n1,2\n", called=called), "whatever")


# ---- JSON ----

JSONS = [
    ("objects", '[{"a": 1, "b": "x"}, {"a": 2, "b": null}]', {"a": [1, 2], "b": ["x", None]}),
    ("other members in each", '[{"a": 1}, {"b": true}]', {"a": [1, None], "b": [None, True]}),
    ("integers and others", '[{"a": 1}, {"a": 2.5}]', {"a": [1, 2.5]}),
    ("ISO dates", '[{"a": "2026-01-31"}, {"a": "2026-02-01T12:30:00"}]', {"a": ["2026-01-31T00:00:00", "2026-02-01T12:30:00"]}),
    ("texts that look like numbers", '[{"a": "007"}, {"a": "12"}]', {"a": ["007", "12"]}),
    ("lists", '[{"a": ["O", "Ti"]}, {"a": []}]', {"a": ["O, Ti", ""]}),
    ("objects in objects", '[{"a": {"b": [1]}}]', {"a": ['{"b": [1]}']}),
    ("half a character", '[{"a": "\\ud800x"}]', {"a": ["?x"]}),
    ("large integers", '[{"a": 18446744073709551616}]', {"a": [2.0**64]}),
    ("an object of lists", '{"a": [1, 2], "b": ["x", "y"]}', {"a": [1, 2], "b": ["x", "y"]}),
    ("split", '{"columns": ["a", "b"], "index": [0, 1], "data": [[1, "x"], [2, "y"]]}', {"a": [1, 2], "b": ["x", "y"]}),
    ("table", '{"schema": {"fields": []}, "data": [{"index": 0, "a": 1}]}', {"index": [0], "a": [1]}),
    ("columns", '{"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}', {"a": [1, 2], "b": ["x", "y"]}),
    ("index", '{"0": {"a": 1}, "1": {"a": 2}}', {"a": [1, 2]}),
    ("lists with names", '[["a", "b"], [1, "x"], [2, "y"]]', {"a": [1, 2], "b": ["x", "y"]}),
    ("a byte order mark", '\ufeff\n [{"a": 1}]', {"a": [1]}),
    ("UTF-16", '[{"a": "é"}]'.encode("utf-16"), {"a": ["é"]}),
]


@pytest.mark.parametrize("text, columns", [row[1:] for row in JSONS], ids=[row[0] for row in JSONS])
def test_json_that_is_a_table(reader, text, columns):
    answer = reader.ask(text)
    assert dict(zip(answer["columns"], answer["data"])) == columns
    assert (answer["table"]["format"], answer["table"]["partial"]) == ("json", False)
    assert reader.ask(text, "scan")["table"]["columns"] == answer["table"]["columns"]


NO_JSON_TABLES = [
    ("[1, 2, 3]", "a list with a number in it"),
    ('[{"a": 1}, "x"]', "a list with a text in it"),
    ("[]", "an empty list"),
    ("{}", "an empty object"),
    ('{"a": 1, "b": "x"}', "an object (a, b)"),
    ('{"meta": {"n": 1}, "rows": [{"a": 1}]}', "a list of objects is its member 'rows'"),
    ('{"a": [1, 2], "b": [1]}', "an object (a, b)"),
    ('{"a": {"x": 1}, "b": {"x": 2}}', "rows or columns"),
    ("[[1, 2], [3, 4]]", "a list of lists without names"),
    ('[["a", "b"], ["c", "d"]]', "a list of lists without names"),
    ('{"columns": ["a"], "data": [[1, 2]]}', "rows of another length"),
    ('[{"a": 1}, {"a": 2', "line 1, column 19"),
    ('[{"a": 1}]\n]', "line 2, column 1: Extra data"),
    ('[{"a": 1,}]', "line 1, column"),
    ("[" * 100000 + "]" * 100000, "nested too deeply"),
    ('{"a":' * 100000, "nested too deeply"),
]


@pytest.mark.parametrize("text, words", NO_JSON_TABLES, ids=range(len(NO_JSON_TABLES)))
def test_other_json_is_refused(reader, text, words):
    told = reader.ask(text, called="a.json")["refused"]
    assert told.startswith("a.json is JSON ") and words in told and "\n" not in told


def test_lines_that_are_no_objects_are_counted(reader):
    lines = ['{"a": 1}', "oops", "", '{"a": 2', '{"a": 3, "b": "x"}', "[4]", '{"a": 5}', '{"a": 6}', '{"a": 7}']
    answer = reader.ask("\n".join(lines))
    assert dict(zip(answer["columns"], answer["data"])) == {"a": [1, 3, 5, 6, 7], "b": [None, "x", None, None, None]}
    assert answer["table"]["bad_lines"] == {"count": 3, "lines": [2, 4, 6], "examples": ["oops", '{"a": 2', "[4]"]}
    assert answer["table"]["format"] == "jsonl"
    assert reader.ask('{"a": 1}\n', called="a.jsonl")["data"] == [[1]]
    assert reader.ask('x\n{"a": 1}\n{"a": 2}\n')["table"]["bad_lines"]["lines"] == [1]


def test_long_json_is_scanned_by_its_beginning(reader):
    for text, format in (("\n".join(['{"a": 1}'] * 5000), "jsonl"), ("[" + ", ".join(['{"a": 1}'] * 5000) + "]", "json")):
        table = reader.ask(text, "scan", head=4000)["table"]
        assert (table["format"], table["rows"], table["partial"], len(table["sample"])) == (format, None, True, 20)
        assert reader.ask(text, head=4000)["rows"] == 5000


# ---- packed ----


def test_packed_texts(reader):
    for text, format in (("a;b\n1;2\n3;4\n", "csv"), ('[{"a": 1, "b": 2}, {"a": 3, "b": 4}]', "json"), ('{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', "jsonl")):
        zstd = f"import pyarrow; open(path, 'wb').write(pyarrow.compress({text.encode()!r}, codec='zstd', asbytes=True))"
        for answer in (reader.ask(gzip.compress(text.encode()), called="a.gz"), reader.ask("", program=zstd, called="a.zst")):
            assert (answer["table"]["format"], answer["columns"], answer["data"]) == (format, ["a", "b"], [[1, 3], [2, 4]])


def test_of_a_packed_text_a_scan_sees_the_beginning(reader):
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 5000)
    table = reader.ask(packed, "scan", head=4000)["table"]
    assert (table["rows"], table["partial"], table["bytes"]) == (None, True, len(packed))
    assert reader.ask(packed, head=4000)["rows"] == 5000
    for text in ("[" + ", ".join(['{"a": 1}'] * 5000) + "]", json.dumps({"a": [1] * 5000}), json.dumps([{"a": "x" * 9000}] * 2000)):
        table = reader.ask(gzip.compress(text.encode()), "scan", head=4000)["table"]
        assert [column["name"] for column in table["columns"]] == ["a"] and table["format"] == "json"


# ---- Feather ----


def test_feather(reader):
    program = "import pyarrow, pyarrow.feather; pyarrow.feather.write_feather(pyarrow.table({'a': list(range(1000)), 'b': ['x', None] * 500}), path, chunksize=300)"
    answer = reader.ask("", program=program)
    assert (answer["table"]["format"], answer["rows"], answer["data"][1][:2]) == ("feather", 1000, ["x", None])
    table = reader.ask("", "scan", program=program)["table"]
    assert (table["rows"], table["partial"], len(table["sample"])) == (1000, True, 20)


# ---- SQLite ----


def database(script):
    return f"import sqlite3; d = sqlite3.connect(path); d.executescript({script!r}); d.commit(); d.close()"


SHOP = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, day DATE, paid BOOLEAN, price REAL, note TEXT);
INSERT INTO orders VALUES (1, '2026-01-02', 1, 9.5, 'x'), (2, NULL, 0, 3, NULL);
CREATE TABLE "two words" (a); INSERT INTO "two words" VALUES (1), ('x');
CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r;
CREATE VIEW cheap AS SELECT id FROM orders WHERE price < 5;
CREATE VIRTUAL TABLE words USING fts5(word);
CREATE TABLE words_of_mine (a); INSERT INTO words_of_mine VALUES (1);
CREATE TRIGGER gone AFTER INSERT ON orders BEGIN DELETE FROM orders; END;
"""


def test_a_database_is_its_tables(reader):
    answer = reader.ask("", program=database(SHOP))
    assert list(answer["tables"]) == ["orders", "two words", "words_of_mine"]
    orders = answer["tables"]["orders"]
    assert orders["data"] == [[1, 2], ["2026-01-02T00:00:00", None], [True, False], [9.5, 3.0], ["x", None]]
    assert said(answer, "Views were not read", "endless, cheap") and said(answer, "Virtual tables were not read", "words")
    assert said(answer["tables"]["two words"], "values of different types")
    assert reader.ask("", "scan", program=database(SHOP))["tables"]["orders"]["columns"] == orders["table"]["columns"]


def test_one_table_or_view_is_asked_for(reader):
    for table, data in (("cheap", [[2]]), ("words_of_mine", [[1]])):
        answer = reader.ask("", program=database(SHOP), options={"table": table})
        assert (answer["data"], answer["tables"]) == (data, {}) and not said(answer, "not read")
    told = reader.ask("", program=database(SHOP), options={"table": "words"}, called="shop.db")["refused"]
    assert told.startswith("shop.db has no table 'words'; it has orders, two words")
    assert "without a table" in reader.ask("", program=database("CREATE VIEW v AS SELECT 1;"))["refused"]


HOSTILE = [
    "CREATE VIEW v AS SELECT load_extension('/tmp/x.so');",
    "CREATE VIEW v AS SELECT * FROM pragma_database_list;",
    "CREATE VIEW v AS SELECT writefile('/tmp/x', 'x');",
]


@pytest.mark.parametrize("script", HOSTILE)
def test_a_view_reaches_nothing(reader, script):
    assert "refused" in reader.ask("", program=database(script), options={"table": "v"})


def test_a_broken_database(reader):
    program = database("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    cut = program + "; data = open(path, 'rb').read(); open(path, 'wb').write(data[:5000])"
    torn = program + "; data = open(path, 'rb').read(); open(path, 'wb').write(data[:4096] + bytes(range(256)) * 16)"
    for each in (cut, torn):
        assert "an SQLite database that cannot be read" in reader.ask("", program=each, called="a.db")["refused"]


# ---- Excel ----


def workbook(*lines):
    return "\n".join(["import datetime, openpyxl", "book = openpyxl.Workbook()", "sheet = book.active", "sheet.title = 'One'", *lines, "book.save(path)"])


def rows(*values):
    return f"for row in {list(values)!r}: sheet.append(row)"


def test_values_and_their_types(reader):
    lines = [
        "sheet.append(['day', 'moment', 'n', 'price', 'ok', 'code', 'time', 'gap', 'long'])",
        "for at in range(3): sheet.append([datetime.date(2026, 1, 1 + at), datetime.datetime(2026, 1, 1, at), at, at / 4, at == 1, f'00{at}', datetime.time(1, at), None if at else 'n/a', 'x'])",
        "sheet['H4'] = 7",
    ]
    answer = reader.ask("", program=workbook(*lines))
    kinds = {column["name"]: column["kind"] for column in answer["table"]["columns"]}
    assert kinds == {"day": "date", "moment": "date", "n": "integer", "price": "number", "ok": "boolean", "code": "text", "time": "text", "gap": "integer", "long": "text"}
    assert answer["data"][0][0] == "2026-01-01T00:00:00" and answer["data"][1][1] == "2026-01-01T01:00:00"
    assert answer["data"][5] == ["000", "001", "002"] and answer["data"][7] == [None, None, 7]
    assert said(answer, "'gap'", "'n/a'", "no value") and answer["table"]["format"] == "excel"


def test_each_sheet_with_data_is_a_table(reader):
    lines = [rows(["a", "b"], [1, 2]), "book.create_sheet('Empty')", "sheet = book.create_sheet('Two: x')", rows([1, 2], [3, 4])]
    answer = reader.ask("", program=workbook(*lines[:2], "sheet = book.create_sheet('Two')", lines[3]))
    assert {name: each["columns"] for name, each in answer["tables"].items()} == {"One": ["a", "b"], "Two": ["column_1", "column_2"]}
    answer = reader.ask("", program=workbook(*lines[:2]))
    assert answer["tables"] == {} and said(answer, "the sheet 'One', one of 2")
    program = workbook(lines[0], "sheet = book.create_sheet('Two')", rows(["c"], [5]))
    assert reader.ask("", program=program, options={"table": "Two"})["columns"] == ["c"]
    assert "no table 'Three'; it has One, Two" in reader.ask("", program=program, options={"table": "Three"})["refused"]
    assert "without data" in reader.ask("", program=workbook())["refused"]


# (rows of the sheet, names, rows, words of what was assumed)
FORMS = [
    ([["Sales 2026"], [], ["day", "n", "x"], ["a", 1, 2], ["b", 3, 4]], ["day", "n", "x"], 2, ("above the table", "Sales 2026")),
    ([["Sales 2026", None, None], [None, None, None], ["day", "n", "x"], ["a", 1, 2], ["b", 3, 4]], ["day", "n", "x"], 2, ("above the table",)),
    ([["Note", "by us"], ["day", "n", "x", "y", "z"], ["a", 1, 2, 3, 4], ["b", 3, 4, 5, 6]], ["day", "n", "x", "y", "z"], 2, ("above the table",)),
    ([["day", "n"], ["a", 1], ["b", 3], ["Total", 4]], ["day", "n"], 2, ("total",)),
    ([["day", 2024, 2025], ["a", 1, 2], ["b", 3, 4]], ["day", "2024", "2025"], 2, None),
    ([["day", "n"], ["a", 1, 9], ["b", 3]], ["day", "n", "column_3"], 2, ("Columns without a name",)),
    ([["day", "n", None], ["a", 1, None], ["b", 3, None]], ["day", "n"], 2, None),
    ([[None, "day", "n"], [None, "a", 1], [None, "b", 3]], ["day", "n"], 2, None),
    ([["n", "n"], [1, 2]], ["n", "n_2"], 1, ("number",)),
    ([[1, "a"], [2, "b"]], ["column_1", "column_2"], 2, ("looks like values",)),
]


@pytest.mark.parametrize("cells, names, count, words", FORMS, ids=range(len(FORMS)))
def test_where_a_sheet_has_its_table(reader, cells, names, count, words):
    answer = reader.ask("", program=workbook(rows(*cells)), called="book.xlsx")
    assert (answer["columns"], answer["rows"]) == (names, count), answer["table"]["assumed"]
    assert said(answer, *words) if words else answer["table"]["assumed"] == []


def test_a_long_sheet_is_scanned_by_its_beginning(reader):
    program = workbook(rows(["a", "b"], *([at, "x"] for at in range(2000))))
    table = reader.ask("", "scan", program=program)["table"]
    assert (table["rows"], table["partial"]) == (None, True)
    assert reader.ask("", program=program)["rows"] == 2000


def test_options_that_do_not_count_are_told(reader):
    program = workbook(rows([1, 2], [3, 4]))
    assert said(reader.ask("", program=program, options={"delimiter": ";"}), "delimiter did not count")
    assert said(reader.ask("a,b\n1,2\n", options={"table": "x"}), "table did not count")
    assert said(reader.ask(json.dumps([{"a": 1}]), options={"table": "x"}), "table did not count")
    assert reader.ask("", program=program, options={"header": True})["columns"] == ["1", "2"]
