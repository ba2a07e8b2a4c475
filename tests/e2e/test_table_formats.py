# SPDX-License-Identifier: Apache-2.0
"""Tables of all formats, as a person and as tools ask about them: a file is what it holds, whatever it is called."""
import gzip
import json

import pytest
from harness import Tools, strict_json, unique

MAKE = """
import datetime, gzip, sqlite3
import openpyxl, pandas, pyarrow, pyarrow.feather
frame = pandas.DataFrame({"day": [datetime.datetime(2026, 1, day) for day in (1, 2, 3)], "kind": ["Toys", "Books", "Toys"], "revenue": [1, 2, 4]})
text = frame.to_csv(index=False)
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Sales"
for row in (["Sales of 2026"], [], list(frame), *frame.itertuples(index=False)):
    sheet.append(list(row))
book.save("one.xlsx")
sheet = book.create_sheet("Kinds")
for row in (["kind", "tax"], ["Toys", 2], ["Books", 3]):
    sheet.append(row)
book.save("two.xlsx")
frame.to_json("objects.json", orient="records", date_format="iso")
frame.to_json("lines.jsonl", orient="records", date_format="iso", lines=True)
frame.to_json("split.json", orient="split", date_format="iso")
frame.to_parquet("table.parquet")
pyarrow.feather.write_feather(frame, "table.feather")
open("packed.csv.gz", "wb").write(gzip.compress(text.encode()))
open("packed.csv.zst", "wb").write(pyarrow.compress(text.encode(), codec="zstd", asbytes=True))
with sqlite3.connect("shop.db") as database:
    database.execute("create table sales (day date, kind text, revenue integer)")
    database.executemany("insert into sales values (?, ?, ?)", [(str(day.date()), kind, revenue) for day, kind, revenue in frame.itertuples(index=False)])
    database.execute("create view dear as select * from sales where revenue > 1")
"""
FORMATS = {
    "one.xlsx": "excel", "objects.json": "json", "lines.jsonl": "jsonl", "split.json": "json", "table.parquet": "parquet", "table.feather": "feather",
    "packed.csv.gz": "csv", "packed.csv.zst": "csv", "shop.db": "sqlite",
}  # fmt: skip
SUM = 'result = df["revenue"].sum()'


@pytest.fixture
def made(science):
    out = science.folder(unique())
    result = science.run(MAKE, "--out", str(out))
    assert result.outcome == "ok", result
    return out


def ask(adder, *arguments, status=0):
    ended = adder.call("ask", *arguments, "--json")
    assert ended.returncode == status, ended
    return strict_json(ended.stdout)


@pytest.mark.quick
def test_each_format_is_the_same_table(science, made):
    code = science.file("code.py", SUM)
    for name, format in FORMATS.items():
        for called in (name, f"{name}.csv"):
            (made / name).rename(made / called)
            answer = ask(science, made / called, "How much?", "--code", code)
            (made / called).rename(made / name)
            assert answer["table"]["value"] == 7, (called, answer)
            [table] = answer["schema"]
            assert (table["format"], table["rows"], table["partial"]) == (format, 3, False), called
            assert {column["name"]: column["kind"] for column in table["columns"]} == {"day": "date", "kind": "text", "revenue": "integer"}, called
            is_told = any(f"{called} is " in sentence and "whatever its name says" in sentence for sentence in answer["assumed"])
            assert is_told == (called != name), answer["assumed"]


def test_sheets_are_tables_of_their_own(science, made):
    join = 'both = df.merge(dfs["two.Kinds"], on="kind")\nresult = (both["revenue"] * both["tax"]).sum()'
    answer = ask(science, made / "two.xlsx", "?", "--code", science.file("join.py", join))
    assert answer["table"]["value"] == 2 + 6 + 8 and [table["name"] for table in answer["schema"]] == ["two.Sales", "two.Kinds"]
    assert any("two.Sales: 1 row above the table was left out: Sales of 2026" in sentence for sentence in answer["assumed"]), answer["assumed"]
    answer = ask(science, made / "two.xlsx", "?", "--code", science.file("one.py", 'result = dfs["two"]["tax"].sum()'), "--table", "Kinds")
    assert answer["table"]["value"] == 5
    check = science.file("expect.json", json.dumps([{"check": "known", "column": "kind", "table": "two.Kinds"}, {"check": "rows", "least": 1, "table": "two.None"}]))
    answer = ask(science, made / "two.xlsx", "?", "--code", science.file("all.py", "result = df"), "--expect", check, status=1)
    assert [test["ok"] for test in answer["tests"]] == [True, False] and "there is no table 'two.None'" in answer["tests"][1]["message"]


def test_a_view_is_evaluated_when_it_is_asked_for(science, made):
    code = science.file("code.py", SUM)
    answer = ask(science, made / "shop.db", "?", "--code", code)
    assert any("Views were not read" in sentence and "dear" in sentence for sentence in answer["assumed"])
    assert ask(science, made / "shop.db", "?", "--code", code, "--table", "dear")["table"]["value"] == 6


def test_several_files_at_once(science, made):
    code = science.file("code.py", 'result = [len(dfs), df["revenue"].sum(), dfs["lines"]["revenue"].sum(), dfs["more"]["revenue"].sum()]')
    answer = ask(science, made / "one.xlsx", made / "lines.jsonl", made / "packed.csv.gz", "How much?", "--code", code, "--file", f"more={made / 'shop.db'}")
    assert answer["table"]["value"] == [4, 7, 7, 7] and [table["name"] for table in answer["csv"]] == ["one", "lines", "packed", "more"]
    ended = science.call("ask", made / "one.xlsx", made / "one.xlsx", "?", "--code", code)
    assert ended.returncode == 125 and "two tables have this name" in ended.stderr


# (the name, the bytes, what is said)
NO_TABLES = [
    ("report.csv", b"%PDF-1.7\n", "report.csv is a PDF document, not a table"),
    ("page.csv", b"<!DOCTYPE html><html></html>", "page.csv is an HTML page, not a table"),
    ("image.csv", b"\x89PNG\r\n\x1a\n" + bytes(30), "image.csv is a PNG image, not a table"),
    ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "Workbook\0".encode("utf-16-le"), "old.xls is an Excel workbook of the old format (.xls): save it as .xlsx"),
    ("nested.json", b'{"meta": {}, "rows": [{"a": 1}]}', "a list of objects is its member 'rows'"),
    ("noise.csv", bytes(range(256)) * 8, "noise.csv is binary data of an unknown kind, not a table"),
    ("page.csv.gz", gzip.compress(b"<html></html>", mtime=0), "page.csv.gz is a gzip file with an HTML page in it, not a table"),
]


@pytest.mark.parametrize("name, content, words", NO_TABLES, ids=[row[0] for row in NO_TABLES])
def test_what_is_no_table_is_refused_in_a_sentence(science, name, content, words):
    path = science.file(name, content)
    ended = science.call("ask", path, "?", "--code", science.file("code.py", SUM))
    assert ended.returncode == 1 and words in ended.stderr and ended.stderr.count("\n") == 1, ended
    ended = science.call("data", "import", path)
    assert ended.returncode == 125 and words in ended.stderr, ended


def test_tools_take_them(science, made):
    tools = Tools(science, "analyst")
    ended = science.call("file", "put", made / "two.xlsx", "--json")
    files = [{"file_id": strict_json(ended.stdout)["files"][0]["file_id"]}]
    assert [table["name"] for table in tools.call("scan_csv", {"files": files})["schema"]] == ["two.Sales", "two.Kinds"]
    asked = {"files": files, "options": {"table": "Sales"}, "code": SUM}
    assert tools.call("run_analysis", asked)["table"]["value"] == 7
    assert tools.call("run_analysis", {"csv": (made / "objects.json").read_text(), "code": SUM})["table"]["value"] == 7
    assert tools.refused("scan_csv", {"csv": "<html></html>"}, status=1) == "csv is an HTML page, not a table"


def test_data_sets_are_made_of_them(science, made):
    names = []
    for name in (*FORMATS, "two.xlsx"):
        more = ("--table", "Sales") if name == "two.xlsx" else ()
        ended = science.call("data", "import", made / name, "--name", "formats", "--json", *more)
        reply = strict_json(ended.stdout)
        assert ended.returncode == 0 and reply["rows"] == 3, ended
        shown = strict_json(science.call("data", "show", "formats", "--json").stdout)
        names.append([column["name"] for column in shown["schema"]])
        assert shown.get("assumed", []) == reply["assumed"]
    assert names == [["day", "kind", "revenue"]] * len(names)
    ended = science.call("data", "import", made / "two.xlsx")
    assert ended.returncode == 125 and "two.xlsx has 2 tables, and a data set is one: say which one (Sales, Kinds)" in ended.stderr
    lines = science.file("lines.csv", '{"a": 1}\noops\n{"a": 2}\n')
    ended = science.call("data", "import", lines, "--name", "formats")
    assert "lines.csv is JSON" in ended.stderr and "1 line does not fit and is left out (line 2)" in ended.stderr
    science.call("data", "rm", "formats")


def test_runs_under_rules_have_them(science, made):
    code = 'result = sorted(dfs), dfs["two.xlsx.Kinds"]["tax"].sum()\nresult'
    files = [word for name in ("two.xlsx", "lines.jsonl", "packed.csv.gz") for word in ("--file", made / name)]
    result = science.run(code, "--profile", "analysis", *files)
    assert result.outcome == "ok" and "'lines.jsonl', 'packed.csv.gz', 'two.xlsx.Kinds', 'two.xlsx.Sales'" in result.value["text/plain"], result
    page = science.file("page.csv", "<html></html>")
    result = science.run("df", "--profile", "analysis", "--file", page)
    assert (result.outcome, result.error["type"], result.error["message"]) == ("error", "CannotRead", "page.csv is an HTML page, not a table")
