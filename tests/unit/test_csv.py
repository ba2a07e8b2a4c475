# SPDX-License-Identifier: Apache-2.0
"""How the runner reads CSVs, from real bytes, with the interpreter of the environment `science`."""

import base64
import csv
import io
import json
import os
import pathlib
import random
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "src" / "runner" / "python"
BUILD = pathlib.Path(os.environ.get("ADDER_BUILD", ROOT / "build"))


def interpreter(environment):
    shown = subprocess.run([BUILD / "adder", "env", "show", environment, "--json"], capture_output=True, text=True)
    return json.loads(shown.stdout)["python"] if shown.returncode == 0 else None


class Reader:
    def __init__(self, directory, without="", environment="science"):
        python = interpreter(environment)
        if python is None:
            pytest.skip(f"no environment `{environment}`")
        command = [python, "-I", "-B", str(pathlib.Path(__file__).parent / "csv_driver.py"), str(RUNNER), without, str(directory)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, data, mode="load", **more):
        data = data.encode() if isinstance(data, str) else data
        self.process.stdin.write(json.dumps({"bytes": base64.b64encode(data).decode(), "mode": mode, **more}) + "\n")
        self.process.stdin.flush()
        told = json.loads(self.process.stdout.readline())
        assert "failed" not in told, told["failed"]
        return told

    def seconds(self):
        """Of the processor, that the reader used so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    made = Reader(tmp_path_factory.mktemp("csv"))
    yield made
    made.end()


@pytest.fixture(scope="module")
def plain_reader(tmp_path_factory):
    """In an environment without pyarrow."""
    made = Reader(tmp_path_factory.mktemp("csv"), "pyarrow")
    yield made
    made.end()


def said(answer, *words):
    """Whether one sentence of what was assumed has all WORDS."""
    return any(all(word in sentence for word in words) for sentence in answer["table"]["assumed"])


# (what it is, the bytes, the names of the columns, their data, fields of TABLE, words of what was assumed)
FORMS = [
    ("commas", "a,b\n1,x\n2,y\n", ["a", "b"], [[1, 2], ["x", "y"]], {"delimiter": ",", "header": True, "rows": 2, "partial": False}, None),
    ("semicolons", "a;b\n1;x\n2;y\n", ["a", "b"], [[1, 2], ["x", "y"]], {"delimiter": ";"}, None),
    ("tabs", "a\tb\n1\tx y\n2\ty, z\n", ["a", "b"], [[1, 2], ["x y", "y, z"]], {"delimiter": "\t"}, None),
    ("bars", "a|b\n1|x\n2|y\n", ["a", "b"], [[1, 2], ["x", "y"]], {"delimiter": "|"}, None),
    ("colons", "a:b\n1:x\n2:y\n", ["a", "b"], [[1, 2], ["x", "y"]], {"delimiter": ":"}, None),
    ("spaces", "a b\n1 x\n2 y\n", ["a", "b"], [[1, 2], ["x", "y"]], {"delimiter": " "}, ("spaces",)),
    ("aligned", "name  size\nab       1\nabc     22\n", ["name", "size"], [["ab", "abc"], [1, 22]], {"delimiter": " "}, ("spaces",)),
    ("commas and spaces", 'a, b\n1, "x, y"\n2, "z"\n', ["a", "b"], [[1, 2], ["x, y", "z"]], {"delimiter": ","}, None),
    ("times have colons", "at,n\n10:30,1\n11:45,2\n", ["at", "n"], [["10:30", "11:45"], [1, 2]], {"delimiter": ","}, None),
    ("quotes", 'a,b\n"x, y",1\n"he said ""no""",2\n', ["a", "b"], [["x, y", 'he said "no"'], [1, 2]], {"quote": '"'}, None),
    ("single quotes", "a,b\n'x, y',1\n'z',2\n", ["a", "b"], [["x, y", "z"], [1, 2]], {"quote": "'"}, None),
    ("breaks in quotes", 'a,b\n"one\ntwo",1\n"three\r\nfour",2\n', ["a", "b"], [["one\ntwo", "three\r\nfour"], [1, 2]], {"rows": 2}, None),
    ("escaped quotes", 'a,b\n"x \\"y\\", z",1\n"w",2\n', ["a", "b"], [['x "y", z', "w"], [1, 2]], {}, ("backslash",)),
    ("quotes amid text", 'a,b\n5" pipe,1\nx,2\n', ["a", "b"], [['5" pipe', "x"], [1, 2]], {}, None),
    ("carriage returns", "a,b\r1,x\r2,y\r", ["a", "b"], [[1, 2], ["x", "y"]], {}, None),
    ("both line ends", "a,b\r\n1,x\r\n2,y\r\n", ["a", "b"], [[1, 2], ["x", "y"]], {}, None),
    ("no line end at the end", "a,b\n1,x\n2,y", ["a", "b"], [[1, 2], ["x", "y"]], {"rows": 2}, None),
    ("empty lines", "a,b\n\n1,x\n\n\n2,y\n\n", ["a", "b"], [[1, 2], ["x", "y"]], {"rows": 2}, None),
    ("no header", "1,2.5\n3,4.5\n", ["column_1", "column_2"], [[1, 3], [2.5, 4.5]], {"header": False}, ("named column_1",)),
    ("years for names", "place,2020,2021\nx,1,2\ny,3,4\n", ["place", "2020", "2021"], [["x", "y"], [1, 3], [2, 4]], {"header": True}, None),
    ("repeated names", "x,x,x_2,x\n1,2,3,4\n5,6,7,8\n", ["x", "x_3", "x_2", "x_4"], [[1, 5], [2, 6], [3, 7], [4, 8]], {}, ("repeats",)),
    ("names twice", "x,x\n1,2\n3,4\n", ["x", "x_2"], [[1, 3], [2, 4]], {}, ("x_2",)),
    ("no name", "a,,c\n1,2,3\n4,5,6\n", ["a", "column_2", "c"], [[1, 4], [2, 5], [3, 6]], {}, ("without a name", "column_2")),
    ("index of pandas", ",a\n0,x\n1,y\n", ["column_1", "a"], [[0, 1], ["x", "y"]], {}, ("column_1",)),
    ("shorter header", "a,b\n1,2,3\n4,5,6\n7,8,9\n", ["a", "b", "column_3"], [[1, 4, 7], [2, 5, 8], [3, 6, 9]], {}, ("3 fields", "only 2", "column_3")),
    ("longer header", "a,b,c\n1,2\n3,4\n5,6\n", ["a", "b", "c"], [[1, 3, 5], [2, 4, 6], [None, None, None]], {}, ("fewer fields",)),
    ("rows that end early", "a,b,c\n1,2,3\n4\n5,6\n7,8,9\n", ["a", "b", "c"], [[1, 4, 5, 7], [2, None, 6, 8], [3, None, None, 9]], {}, ("fewer fields",)),
    ("delimiters at the end", "a,b,\n1,2,\n3,4,\n", ["a", "b"], [[1, 3], [2, 4]], {}, ("end in a delimiter",)),
    ("delimiters at the rows' end", "a,b\n1,2,\n3,4,\n5,6,\n", ["a", "b"], [[1, 3, 5], [2, 4, 6]], {}, ("end in a delimiter",)),
    ("comments", "# made by x\n# on y\na,b\n1,2\n3,4\n", ["a", "b"], [[1, 3], [2, 4]], {}, ("2 lines above",)),
    ("a commented header", "#year,temp\n2001,1.5\n2002,2.5\n", ["year", "temp"], [[2001, 2002], [1.5, 2.5]], {}, None),
    ("a title", "Sales of the year\n\na,b\n1,2\n3,4\n", ["a", "b"], [[1, 3], [2, 4]], {}, ("above the table", "Sales of the year")),
    ("a total", "a,b\nx,2\ny,4\nTotal,6\n", ["a", "b"], [["x", "y"], [2, 4]], {"rows": 2}, ("total", "Total,6")),
    ("totals among others", "a,b\nx,2\nTotal,4\ny,6\n", ["a", "b"], [["x", "Total", "y"], [2, 4, 6]], {"rows": 3}, None),
    ("line ends alone", "\n\n\n", [], [], {"rows": 0}, ("no table",)),
    ("a header alone", "a,b\n", ["a", "b"], [[], []], {"rows": 0, "header": True}, None),
    ("one column", "a\n1\n2\n3\n", ["a"], [[1, 2, 3]], {"rows": 3}, None),
    ("one row", "a,b\n1,x\n", ["a", "b"], [[1], ["x"]], {"rows": 1}, None),
    ("one value", "7\n", ["column_1"], [[7]], {"rows": 1, "header": False}, None),
    ("NUL bytes", b"a,b\n1,x\0y\n2,\0z\n", ["a", "b"], [[1, 2], ["xy", "z"]], {}, ("2 NUL bytes",)),
]


@pytest.mark.parametrize("data, names, columns, fields, words", [case[1:] for case in FORMS], ids=[case[0] for case in FORMS])
def test_form(reader, plain_reader, data, names, columns, fields, words):
    for read in (reader, plain_reader):
        answer = read.ask(data)
        assert (answer["columns"], answer["data"]) == (names, columns), answer["table"]
        assert {name: answer["table"][name] for name in fields} == fields
        assert words is None or said(answer, *words), answer["table"]["assumed"]
        assert answer["table"]["bad_lines"]["count"] == 0


TEXT = "name,n\nJosé,1\nZoë,2\nnaïve façade,3\n"
ENCODINGS = [
    ("UTF-8", TEXT.encode(), "utf-8", False, None),
    ("UTF-8 with a mark", TEXT.encode("utf-8-sig"), "utf-8", True, None),
    ("UTF-16 LE with a mark", b"\xff\xfe" + TEXT.encode("utf-16-le"), "utf-16-le", True, None),
    ("UTF-16 BE with a mark", b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16-be", True, None),
    ("UTF-16 LE", TEXT.encode("utf-16-le"), "utf-16-le", False, "look like utf-16-le"),
    ("UTF-16 BE", TEXT.encode("utf-16-be"), "utf-16-be", False, "look like utf-16-be"),
    ("UTF-32", TEXT.encode("utf-32"), "utf-32-le", True, None),
    ("Latin-1", TEXT.encode("latin-1"), "latin-1", False, "look like latin-1"),
]


@pytest.mark.parametrize("data, encoding, mark, words", [case[1:] for case in ENCODINGS], ids=[case[0] for case in ENCODINGS])
@pytest.mark.parametrize("head", [1 << 20, 40])
def test_encoding(reader, data, encoding, mark, words, head):
    """HEAD: as much is looked at, the rest is read as it was found to be."""
    answer = reader.ask(data, head=head)
    assert answer["columns"] == ["name", "n"] and answer["data"] == [["José", "Zoë", "naïve façade"], [1, 2, 3]], answer["table"]
    assert (answer["table"]["encoding"], answer["table"]["bom"]) == (encoding, mark)
    assert words is None or said(answer, words)


def test_windows_encoding(reader):
    answer = reader.ask("price,n\n5 € “x”,1\n".encode("cp1252"))
    assert answer["table"]["encoding"] == "cp1252" and answer["data"] == [["5 € “x”"], [1]]


def test_broken_bytes(reader):
    answer = reader.ask("name,n\nJosé,1\nZoë é ü,2\n".encode() + b"x\xff,3\n")
    assert answer["table"]["encoding"] == "utf-8" and said(answer, "1 character", "could not be decoded")
    assert answer["data"] == [["José", "Zoë é ü", "x\ufffd"], [1, 2, 3]]


def test_an_encoding_found_late(reader):
    answer = reader.ask(b"name,n\nabc,1\n" + "José,2\nZoë,3\n".encode("cp1252"), head=12)
    assert answer["table"]["encoding"] == "cp1252" and said(answer, "plain ASCII") and answer["data"][0] == ["abc", "José", "Zoë"]


# (what it is, the values, their kind, dtype, the data, words of what was assumed)
KINDS = [
    ("integers", ["1", "-2", "3"], "integer", "int64", [1, -2, 3], None),
    ("with a sign", ["+1", "2"], "integer", "int64", [1, 2], None),
    ("with spaces", [" 1", "2 "], "integer", "int64", [1, 2], None),
    ("integers and none", ["1", "", "3"], "integer", "float64", [1, None, 3], None),
    ("large", ["9007199254740993", "1"], "integer", "int64", [9007199254740993, 1], None),
    ("large and none", ["9007199254740993", ""], "integer", "Int64", [9007199254740993, None], None),
    ("too large", ["123456789012345678901", "1"], "text", "string", ["123456789012345678901", "1"], ("more than 18 digits",)),
    ("numbers", ["1.5", "-2", "1e3"], "number", "float64", [1.5, -2, 1000], None),
    ("fractions", [".5", "1."], "number", "float64", [0.5, 1], None),
    ("no number", ["1.5", "NA", "n/a", "-", "#N/A"], "number", "float64", [1.5, None, None, None, None], ("no value",)),
    ("leading zeros", ["01001", "90210"], "text", "string", ["01001", "90210"], ("leading zeros",)),
    ("zero", ["0", "10"], "integer", "int64", [0, 10], None),
    ("hexadecimal", ["0x10", "0x20"], "text", "string", ["0x10", "0x20"], None),
    ("thousands", ['"1,234.50"', '"12,345,678.00"'], "number", "float64", [1234.5, 12345678], ("commas separate thousands",)),
    ("thousands, whole", ['"1,234"', '"12,345,678"', "5"], "integer", "int64", [1234, 12345678, 5], ("commas separate thousands",)),
    ("thousands by guess", ['"1,234"', '"5,678"'], "integer", "int64", [1234, 5678], ("taken for separators",)),
    ("German", ['"1.234,50"', '"12,5"'], "number", "float64", [1234.5, 12.5], ("decimal sign is a comma",)),
    ("French", ['"1 234,5"', '"12 345 678"'], "number", "float64", [1234.5, 12345678], ("spaces separate",)),
    ("narrow spaces", ["1\u202f234", "12\u00a0345"], "integer", "int64", [1234, 12345], ("spaces separate",)),
    ("Swiss", ["1'234.5", "12'345"], "number", "float64", [1234.5, 12345], ("apostrophes",)),
    ("decimal commas", ['"0,5"', '"12,25"'], "number", "float64", [0.5, 12.25], ("decimal sign is a comma",)),
    ("dollars", ['"$1,234.50"', "$5", '"-$3.25"'], "number", "float64", [1234.5, 5, -3.25], ("amounts in $",)),
    ("euros", ["5 €", "7.5 €"], "number", "float64", [5, 7.5], ("amounts in €",)),
    ("two currencies", ["$5", "€7"], "text", "string", ["$5", "€7"], ("different currencies",)),
    ("parentheses", ['"$1,000"', "($250)"], "number", "float64", [1000, -250], ("parentheses",)),
    ("per cent", ["12.5%", "7 %"], "number", "float64", [12.5, 7], ("per cent",)),
    ("some per cent", ["12.5%", "7"], "text", "string", ["12.5%", "7"], ("some values are per cent",)),
    ("dates", ["2024-02-29", "2023-01-01"], "date", "datetime64[ns]", ["2024-02-29T00:00:00", "2023-01-01T00:00:00"], None),
    ("no such day", ["2023-02-29", "2023-01-01"], "text", "string", ["2023-02-29", "2023-01-01"], None),
    ("times", ["2024-01-02 03:04:05", "2024-01-02T03:04"], "date", "datetime64[ns]", ["2024-01-02T03:04:05", "2024-01-02T03:04:00"], None),
    ("parts of seconds", ["2024-01-02 03:04:05.25"], "date", "datetime64[ns]", ["2024-01-02T03:04:05.250000"], None),
    ("UTC", ["2024-01-02T03:04:05Z"], "date", "datetime64[ns]", ["2024-01-02T03:04:05"], ("without their zone (Z)",)),
    ("a zone", ["2024-01-02T03:04:05+02:00"], "date", "datetime64[ns]", ["2024-01-02T03:04:05"], ("+02:00",)),
    ("days first", ["13/02/2024", "01/03/2024"], "date", "datetime64[ns]", ["2024-02-13T00:00:00", "2024-03-01T00:00:00"], ("day first",)),
    ("months first", ["02/13/2024", "03/01/2024"], "date", "datetime64[ns]", ["2024-02-13T00:00:00", "2024-03-01T00:00:00"], ("month first",)),
    ("who knows", ["01/02/2024", "03/04/2024"], "date", "datetime64[ns]", ["2024-01-02T00:00:00", "2024-03-04T00:00:00"], ("nothing in the data shows", "day_first")),
    ("both", ["13/02/2024", "02/13/2024"], "text", "string", ["13/02/2024", "02/13/2024"], ("kept as text",)),
    ("German dates", ["01.02.2024", "03.04.2024"], "date", "datetime64[ns]", ["2024-02-01T00:00:00", "2024-04-03T00:00:00"], None),
    ("a clock of twelve", ["1/13/2024 12:05 AM", "1/14/2024 3:00 PM"], "date", "datetime64[ns]", ["2024-01-13T00:05:00", "2024-01-14T15:00:00"], None),
    ("years of two digits", ["02/13/24", "02/14/69"], "date", "datetime64[ns]", ["2024-02-13T00:00:00", "1969-02-14T00:00:00"], ("two digits",)),
    ("months", ["Jan 2006", "feb 2006"], "date", "datetime64[ns]", ["2006-01-01T00:00:00", "2006-02-01T00:00:00"], None),
    ("months as numbers", ["2006-01", "2006-12"], "date", "datetime64[ns]", ["2006-01-01T00:00:00", "2006-12-01T00:00:00"], None),
    ("long dates", ['"January 5, 2006"', '"March 12, 2006"'], "date", "datetime64[ns]", ["2006-01-05T00:00:00", "2006-03-12T00:00:00"], None),
    ("day, month, year", ["5 Jan 2006", "12 March 2006"], "date", "datetime64[ns]", ["2006-01-05T00:00:00", "2006-03-12T00:00:00"], None),
    ("dates and none", ["2024-01-01", ""], "date", "datetime64[ns]", ["2024-01-01T00:00:00", None], None),
    ("far away", ["9999-12-31", "2024-01-01"], "date", "datetime64[us]", ["9999-12-31T00:00:00", "2024-01-01T00:00:00"], ("microseconds",)),
    ("years", ["2001", "2002"], "integer", "int64", [2001, 2002], None),
    ("booleans", ["true", "FALSE"], "boolean", "bool", [True, False], None),
    ("booleans and none", ["True", "", "False"], "boolean", "boolean", [True, None, False], None),
    ("yes and no", ["yes", "no"], "boolean", "bool", [True, False], ("yes and no",)),
    ("yes alone", ["yes", "yes"], "text", "string", ["yes", "yes"], None),
    ("texts", ["x", "", "y"], "text", "string", ["x", None, "y"], None),
    ("texts and none", ["x", "N/A", "NaN"], "text", "string", ["x", None, None], ("no value",)),
    ("None is a text", ["None", "Minor", "Major"], "text", "string", ["None", "Minor", "Major"], None),
    ("Namibia", ["DE", "NA", "FR"], "text", "string", ["DE", "NA", "FR"], None),
    ("nothing", ["", ""], "empty", "float64", [None, None], None),
    ("versions", ["1.2.3", "1.2.4"], "text", "string", ["1.2.3", "1.2.4"], None),
]


@pytest.mark.parametrize("values, kind, dtype, data, words", [case[1:] for case in KINDS], ids=[case[0] for case in KINDS])
def test_kind(reader, plain_reader, values, kind, dtype, data, words):
    for read in (reader, plain_reader):
        answer = read.ask("name,value\n" + "".join(f"row{at},{value}\n" for at, value in enumerate(values)))
        found = answer["table"]["columns"][1]
        assert (answer["columns"][1], found["kind"], answer["dtypes"][1], answer["data"][1]) == ("value", kind, dtype, data), answer["table"]
        assert found["nulls"] == data.count(None)
        assert words is None or said(answer, *words), answer["table"]["assumed"]


# ---- what only the whole shows ----


def rows(*values):
    return "name,value\n" + "".join(f"row,{value}\n" for value in values)


LATER = [
    ("a text among integers", ["1", "2"] * 50 + ["none of it"], "text", ("line 102", "none of it")),
    ("numbers after integers", ["1", "2"] * 50 + ["1.5"], "number", None),
    ("leading zeros", ["11", "22"] * 50 + ["007"], "text", ("line 102", "007")),
    ("thousands", ["1", "2"] * 50 + ['"1,234"'], "integer", ("separat",)),
    ("days first after all", ["01/02/2024", "02/03/2024"] * 50 + ["13/02/2024"], "date", ("day first",)),
    ("something after nothing", ["", ""] * 50 + ["7"], "integer", None),
    ("text among dates", ["2024-01-01"] * 50 + ["soon"], "text", ("line 52", "soon")),
    ("text among booleans", ["true", "false"] * 50 + ["perhaps"], "text", ("line 102", "perhaps")),
]


@pytest.mark.parametrize("values, kind, words", [case[1:] for case in LATER], ids=[case[0] for case in LATER])
@pytest.mark.parametrize("head", [200, 1 << 20])
def test_what_only_the_whole_shows(reader, plain_reader, values, kind, words, head):
    for read in (reader, plain_reader):
        answer = read.ask(rows(*values), head=head, rows=200)
        assert answer["table"]["columns"][1]["kind"] == kind and answer["rows"] == len(values), answer["table"]
        if kind == "text" and head == 200:
            assert answer["data"][1] == values
        if head == 200 and words:
            assert said(answer, *words), answer["table"]["assumed"]


def test_a_line_number_counts_lines_and_not_rows(reader):
    answer = reader.ask('a,b\n"x\ny",1\n\n' + "z,2\n" * 50 + "w,many\n", head=100)
    assert said(answer, "line 55", "many"), answer["table"]["assumed"]


def test_a_total_of_a_large_file(reader):
    answer = reader.ask("a,b\n" + "x,1\n" * 100 + "Total,100\n", head=100)
    assert answer["rows"] == 100 and said(answer, "Total,100") and answer["dtypes"][1] == "int64"


def test_a_scan_tells_what_a_load_does(reader):
    data = "day,value\n" + "".join(f"2024-01-{1 + at % 28:02},{at}.5\n" for at in range(200))
    part, whole = reader.ask(data, "scan", head=1000)["table"], reader.ask(data, head=1000)["table"]
    assert part["partial"] and part["rows"] is None and not whole["partial"] and whole["rows"] == 200
    same = ("encoding", "bom", "delimiter", "quote", "header", "decimal", "thousands", "columns", "sample", "assumed")
    assert {name: part[name] for name in same} == {name: whole[name] for name in same}


# ---- bad lines ----


@pytest.mark.parametrize("head", [60, 1 << 20])
def test_bad_lines_are_counted_and_told(reader, plain_reader, head):
    data = "a,b\n" + "1,2\n" * 20 + "only\n" + "3,4\n" * 5 + "5,6,7,8\n" + "9,10\n" * 5
    for read in (reader, plain_reader):
        answer = read.ask(data, head=head)
        assert answer["rows"] == 30 and answer["dtypes"] == ["int64", "int64"]
        assert answer["table"]["bad_lines"] == {"count": 2, "lines": [22, 28], "examples": ["only", "5,6,7,8"]}


@pytest.mark.parametrize("head", [60, 1 << 20])
def test_lines_of_bad_ones_are_those_of_the_file(reader, head):
    answer = reader.ask('a,b\n"x\ny",2\n\n' + "1,2\n" * 20 + "only\n", head=head)
    assert answer["table"]["bad_lines"] == {"count": 1, "lines": [25], "examples": ["only"]}


@pytest.mark.parametrize("head", [60, 1 << 20])
def test_a_quote_that_nobody_closes_costs_its_line(reader, head):
    answer = reader.ask("a,b\n" + "1,2\n" * 30 + '3,"open\n' + "4,5\n" * 3000, head=head)
    assert answer["rows"] == 3030 and answer["table"]["bad_lines"]["count"] == 1, answer["table"]
    assert answer["table"]["bad_lines"]["lines"] == [32]


def test_many_bad_lines_are_cut(reader):
    answer = reader.ask("a,b\n" + "1,2\nonly this line that is no row " + "x" * 1000 + "\n1,2\n1,2\n1,2\n1,2\n1,2\n" * 500)
    bad = answer["table"]["bad_lines"]
    assert bad["count"] == 1 and len(bad["examples"][0]) <= 200 or bad["count"] > 100 and len(bad["lines"]) == 20 and len(bad["examples"]) == 3


# ---- hostile ones ----


def test_what_is_told_has_no_control_characters(reader):
    answer = reader.ask('a\x1b[31m,"b\u202e\nx"\n1\x07,2\n\x1b]0;x\x07,3\n')
    told = json.dumps(answer["table"], ensure_ascii=False)
    assert not any(character < " " or "\x7f" <= character <= "\x9f" or character in "\u202e\u2028" for character in told)
    assert all(name.isprintable() for name in answer["columns"])


def test_huge_names_are_cut(reader):
    answer = reader.ask("x" * 100000 + "," + "x" * 100000 + "\n1,2\n3,4\n")
    assert [len(name) for name in answer["columns"]] == [200, 202] and len(json.dumps(answer["table"])) < 5000


def test_very_wide_files(reader):
    width = 5000
    data = ",".join(f"c{at}" for at in range(width)) + "\n" + (",".join("7" for _ in range(width)) + "\n") * 120
    answer = reader.ask(data, rows=1)
    assert answer["rows"] == 120 and len(answer["columns"]) == width and set(answer["dtypes"]) == {"int64"}
    assert len(answer["table"]["columns"]) == 2000 and answer["table"]["columns_hidden"] == 3000 and said(answer, "5000 columns")
    assert len(json.dumps(answer["table"])) < 1 << 20


def test_wide_and_long_rows_of_a_large_file(reader):
    row = ",".join("x" * 100 for _ in range(1500)) + "\n"
    answer = reader.ask(",".join(f"c{at}" for at in range(1500)) + "\n" + row * 30, rows=1)
    assert answer["rows"] == 30 and answer["table"]["bad_lines"]["count"] == 0


def test_very_long_fields(reader):
    answer = reader.ask("a,b\n" + f'1,"{"x" * 20000000}"\n' + "2,y\n" * 10)
    assert answer["rows"] == 11 and len(answer["data"][1][0]) == 20000000 and len(json.dumps(answer["table"])) < 5000


def test_no_text_at_all(reader):
    made = random.Random(9)
    for _ in range(40):
        answer = reader.ask(bytes(made.randrange(256) for _ in range(made.randrange(1, 2000))))
        if "refused" in answer:
            assert answer["refused"].endswith("is binary data of an unknown kind, not a table")
            continue
        json.dumps(answer["table"], allow_nan=False)
        assert len(json.dumps(answer["table"])) < 200000


HOSTILE = [
    "a,b\n" + "1" * 5000 + ",2\n3,4\n",
    "a,b\n1" + " " * 500000 + "x,2\n3,4\n",
    "a,b\n" + "1," * 200000 + "\n",
    '"' * 500000,
    "a,b\n" + ('"' + "x\n") * 3000,
    "a,b\n" + "1.1" * 100000 + ",2\n",
    "," * 3000 + "\n" + "," * 3000 + "\n",
    "a" + "-" * 100000 + ",b\n" + "Jan " * 50000 + ",1\n",
    "a,b\n" + "1,2\n" * 10 + "\\" * 100001 + '",2\n',
]


@pytest.mark.parametrize("at", range(len(HOSTILE)))
def test_hostile_texts_take_no_time(reader, at):
    before = reader.seconds()
    answer = reader.ask(HOSTILE[at], rows=1)
    assert len(json.dumps(answer["table"])) < 1 << 21
    assert reader.seconds() - before < 4, "processor time"


# ---- options ----


def test_options_decide(reader):
    assert reader.ask("a;b,c\n1;2,3\n", options={"delimiter": ","})["columns"] == ["a;b", "c"]
    assert reader.ask("1,2\n3,4\n", options={"header": True})["columns"] == ["1", "2"]
    assert reader.ask("a,b\nx,y\n", options={"header": False})["data"] == [["a", "x"], ["b", "y"]]
    assert reader.ask("d,n\n01/02/2024,1\n", options={"day_first": True})["data"][0] == ["2024-02-01T00:00:00"]
    assert reader.ask("d;n\n1.234;1\n", options={"decimal": ","})["data"][0] == [1234]
    assert reader.ask("d;n\n1.234;1\n", options={"thousands": ".", "decimal": ","})["data"][0] == [1234]
    assert reader.ask("a,b\n\xe9,1\n".encode("cp1251", "replace"), options={"encoding": "cp1251"})["table"]["encoding"] == "cp1251"
    assert reader.ask("a,b\n'x,y',1\n", options={"quote": "'"})["data"] == [["x,y"], [1]]


@pytest.mark.parametrize(
    "options, words",
    [
        ({"colour": "red"}, "no option 'colour'"),
        ({"delimiter": ""}, "one character"),
        ({"delimiter": "ab"}, "one character"),
        ({"delimiter": "\n"}, "line end"),
        ({"encoding": "klingon"}, "no encoding 'klingon'"),
        ({"encoding": "base64"}, "no encoding 'base64'"),
        ({"header": "yes"}, "true or false"),
        ({"decimal": 5}, "a text"),
    ],
)
def test_options_that_do_not_fit_are_refused(reader, options, words):
    assert words in reader.ask("a,b\n1,2\n", options=options)["refused"]


def test_an_environment_without_pandas_says_so(tmp_path):
    read = Reader(tmp_path, "pandas")
    assert "no pandas" in read.ask("a,b\n1,2\n")["refused"]
    read.end()


# ---- as Python's csv module reads it ----

ALPHABET = ["a", "b", "7", " ", ",", ";", '"', "\n", "\r\n", "é", "日", "'", "\t", "|", "0", ".", "-", "x y"]


def random_table(made):
    width, length = made.randrange(2, 8), made.randrange(1, 60)
    return [["".join(made.choice(ALPHABET) for _ in range(made.randrange(8))) for _ in range(width)] for _ in range(length)]


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("way", ["small", "large", "plain"])
def test_as_the_csv_module_reads(reader, plain_reader, seed, way):
    """Whatever the fields hold: with the marks said and a column that is text for certain beside each, all come back."""
    made = random.Random(seed)
    table = random_table(made)
    delimiter, ending = made.choice(",;\t|"), made.choice(["\n", "\r\n"])
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, lineterminator=ending, quoting=made.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    names = [f"name{at}" for at in range(len(table[0]))]
    writer.writerow(names)
    writer.writerows([[f"t{cell}" for cell in row] for row in table])
    read = plain_reader if way == "plain" else reader
    answer = read.ask(written.getvalue(), options={"delimiter": delimiter, "header": True}, head=64 if way == "large" else 1 << 20, rows=100)
    expected = list(csv.reader(io.StringIO(written.getvalue(), newline=""), delimiter=delimiter))
    assert answer["columns"] == names
    assert answer["table"]["bad_lines"]["count"] == 0
    assert [list(row) for row in zip(*answer["data"])] == expected[1:]
