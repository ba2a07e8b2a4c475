# SPDX-License-Identifier: Apache-2.0
"""Questions to Parquet files: as a person asks them, as a tool's, and in runs; the files are what pandas writes."""
import json

import pytest
from harness import Tools, strict_json, unique

MAKE = """
import pandas
rows = range({rows})
pandas.DataFrame({{"day": pandas.Timestamp("2026-01-01") + pandas.to_timedelta(rows, "D") if {rows} < 10000 else pandas.Timestamp("2026-01-01"),
                   "kind": ["Toys" if row % 2 else "Books" for row in rows], "revenue": [None if row == 2 else row for row in rows],
                   "parts": [["O", "Ti"]] * {rows}, "noise": [str(row * 7919 % 100003) * 3 for row in rows]}}).to_parquet("sales.parquet")
"""
SUM = 'result = df["revenue"].sum()'
KINDS = {"day": "date", "kind": "text", "revenue": "number", "parts": "text", "noise": "text"}


@pytest.fixture
def make(science):
    def make(rows):
        out = science.folder(unique())
        assert science.run(MAKE.format(rows=rows), "--out", str(out)).outcome == "ok"
        return out / "sales.parquet"

    return make


def ask(adder, *arguments, status=0):
    ended = adder.call("ask", *arguments, "--json")
    assert ended.returncode == status, ended
    return strict_json(ended.stdout)


@pytest.mark.quick
def test_a_question_is_answered(science, make):
    sales = make(6)
    answer = ask(science, sales, "How much?", "--code", science.file("code.py", SUM))
    assert answer["table"]["value"] == 13 and answer["answer"].startswith("The answer is 13.")
    [table] = answer["schema"]
    assert (table["name"], table["file"], table["format"], table["rows"], table["delimiter"]) == ("sales", "table-1.parquet", "parquet", 6, None)
    assert {column["name"]: column["kind"] for column in table["columns"]} == KINDS
    assert table["sample"][1] == ["2026-01-02", "Toys", 1, "O, Ti", "791979197919"]
    assert any("lists were read as texts" in sentence for sentence in answer["assumed"])


def test_a_large_one_is_scanned_by_what_it_says_itself(science, make):
    """It has no head that could be cut off; all of it is there, and no more is read than is needed."""
    sales = make(300000)
    assert sales.stat().st_size > 1 << 20
    ended = science.call("ask", sales, "How much?", "--code", science.file("code.py", SUM), "--explain", "--json")
    assert ended.returncode == 0, ended
    scan, *_, last = (json.loads(line) for line in ended.stdout.splitlines())
    [scanned] = scan["state"]["schema"] if "state" in scan else scan["schema"]
    assert (scanned["rows"], scanned["partial"], len(scanned["sample"])) == (300000, True, 20)
    assert {column["name"]: column["nulls"] for column in scanned["columns"]}["revenue"] == 1
    assert last["table"]["value"] == 300000 * 299999 // 2 - 2 and last["schema"][0]["partial"] is False


def test_tables_of_both_kinds_and_from_a_pipe(science, make):
    sales = make(6)
    kinds = science.file("kinds.csv", "kind;tax\nToys;2\nBooks;3\n")
    join = 'both = df.merge(dfs["kinds"], on="kind")\nresult = (both["revenue"] * both["tax"]).sum()'
    arguments = ["?", "--code", science.file("code.py", join), "--file", f"kinds={kinds}", "--delimiter", ";"]
    answer = ask(science, sales, *arguments)
    assert answer["table"]["value"] == 3 * 4 + 2 * 9
    assert any("did not count" in sentence for sentence in answer["assumed"])
    ended = science.call("ask", "-", "?", "--code", science.file("sum.py", SUM), stdin=sales.open("rb"))
    assert ended.returncode == 0 and ended.stdout.startswith("The answer is 13."), ended


def test_what_is_none_or_broken_is_said_in_a_sentence(science, make):
    code = science.file("code.py", SUM)
    named = science.file("page.parquet", "<html>Not found</html>")
    ended = science.call("ask", named, "?", "--code", code)
    assert ended.returncode == 1 and "page.parquet is an HTML page, not a table" in ended.stderr
    whole = make(6).read_bytes()
    broken = science.file("broken.parquet", whole[:-40])
    ended = science.call("ask", broken, "?", "--code", code)
    assert ended.returncode == 1 and "broken.parquet is a Parquet file that cannot be read" in ended.stderr, ended
    # What it is stands in it, whatever it is called.
    answer = ask(science, science.file("sales.txt", whole), "?", "--code", code)
    assert answer["table"]["value"] == 13


def test_tools_take_stored_ones(science, make):
    tools = Tools(science, "analyst")
    ended = science.call("file", "put", make(6), "--json")
    assert ended.returncode == 0, ended
    files = [{"file_id": strict_json(ended.stdout)["files"][0]["file_id"]}]
    [table] = tools.call("scan_csv", {"files": files})["schema"]
    assert (table["name"], table["format"], table["rows"]) == ("sales", "parquet", 6)
    assert tools.call("run_analysis", {"files": files, "code": SUM})["table"]["value"] == 13


def test_large_stored_ones_are_scanned_whole(science, make):
    tools = Tools(science, "analyst")
    ended = science.call("file", "put", make(300000), "--json")
    assert ended.returncode == 0, ended
    files = [{"file_id": strict_json(ended.stdout)["files"][0]["file_id"]}]
    [table] = tools.call("scan_csv", {"files": files})["schema"]
    assert (table["rows"], table["partial"]) == (300000, True)


def test_runs_under_rules_have_them_as_tables(science, make):
    result = science.run('result = df["revenue"].sum(), dfs["sales.parquet"].shape\nresult', "--profile", "analysis", "--file", make(6))
    assert result.outcome == "ok", result
    assert result.value["text/plain"].replace("np.float64(13.0)", "13.0") == "(13.0, (6, 5))"
