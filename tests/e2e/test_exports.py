# SPDX-License-Identifier: Apache-2.0
"""Tables of earlier runs as files: `adder history table`, and the tool export_results_csv."""
import csv
import io

import pytest

from harness import Tools, strict_json

FRAME = "import pandas as pd\ndf = pd.DataFrame({'n': range(30), 'code': ['007', 'a,b', 'ü'] * 10})\n"
ROWS = [["n", "code"], *([str(n), ("007", "a,b", "ü")[n % 3]] for n in range(30))]


@pytest.fixture
def shown(science):
    """Runs code whose tables are kept as FORMAT; the run's id."""

    def run(code, kind, *options):
        result = science.run(code, "--tables", kind, *options)
        assert (result.outcome, result.warnings) == ("ok", [])
        assert all(file["file_id"] for file in result.files)
        return result.run_id

    return run


def export(adder, *arguments, status=0):
    ended = adder.call("history", "table", *arguments)
    assert ended.returncode == status, ended
    return ended.stdout if status == 0 else ended.stderr


def rows(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.quick
def test_a_table_as_it_was_kept(science, shown):
    run_id = shown(FRAME + "display(df.head(1))\ndf", "csv")
    assert rows(export(science, run_id)) == ROWS[:2]
    assert rows(export(science, run_id, "--table", "2")) == ROWS
    file = science.scratch / "table.csv"
    assert export(science, run_id, "--table", "2", "--out", file) == ""
    assert rows(file.read_text()) == ROWS


READ = {"csv": "pd.read_csv('table.csv', dtype=str)", "parquet": "pd.read_parquet('table.parquet')", "json": "pd.read_json('table.json', dtype=False)"}


@pytest.mark.parametrize("kept", ["csv", "parquet", "json"])
@pytest.mark.parametrize("wanted", ["csv", "parquet", "json"])
def test_each_format_from_each(science, shown, kept, wanted):
    run_id = shown(FRAME + "df", kept)
    file = science.scratch / f"table.{wanted}"
    export(science, run_id, "--format", wanted, "--out", file)
    result = science.run(f"import pandas as pd\nprint({READ[wanted]}.astype(str).to_csv(index=False), end='')", "--file", file)
    if kept == "csv" and wanted != "csv":
        assert [row[0] for row in rows(result.stdout)] == [row[0] for row in ROWS], "CSV knows no types"
    else:
        assert rows(result.stdout) == ROWS


def test_a_conversion_is_told_apart_on_record(science, shown):
    run_id = shown(FRAME + "df", "csv")
    export(science, run_id, "--format", "json")
    listed = strict_json(science.call("history", "list", "--front-end", "adder", "--limit", "1", "--json").stdout)["records"]
    assert listed and listed[0]["run_id"] > run_id and "pd.read_parquet" in listed[0]["code_start"]
    (kept,) = [record for record in strict_json(science.call("history", "list", "--json").stdout)["records"] if record["run_id"] == run_id]
    assert kept["front_end"] == "cli"


def test_what_there_is_not(science, shown):
    run_id = shown(FRAME + "display(df)\ndf", "csv")
    assert f"no table 3 of the run {run_id} is kept: there is 1, 2" in export(science, run_id, "--table", "3", status=125)
    none = science.run("1").run_id
    assert "where `tables` names a format" in export(science, none, status=125)
    assert "where `tables` names a format" in export(science, "0123", status=125)
    assert "run must be an id" in export(science, "no-such-run", status=125)
    assert "xml" in export(science, run_id, "--format", "xml", status=125)
    export(science, run_id, "--table", "0", status=125)


def test_what_cannot_be_converted_is_said(science, shown):
    run_id = shown("import pandas as pd\npd.DataFrame({'x': [1, 'a', [2]]})", "json")
    said = export(science, run_id, "--format", "parquet", status=125)
    assert "cannot convert the table to parquet: " in said and "parquet cannot hold it" in said


def test_of_a_cell(science, sessions):
    session = sessions.new("--tables", "parquet", env="science")
    first = sessions.cell(session, FRAME + "df.head(1)").run_id
    sessions.cell(session, "df.tail(1)")
    assert rows(export(science, first)) == ROWS[:2], "what the next cell showed is another table"


def test_nothing_is_left_half(science, shown):
    run_id = shown(FRAME + "df", "csv")
    said = export(science, run_id, "--out", science.scratch / "no" / "such" / "folder.csv", status=125)
    assert "folder.csv" in said and list(science.scratch.glob("*")) == []


# ---- the tool ----


@pytest.fixture
def workbench(science):
    return Tools(science, "workbench")


def content(adder, file_id):
    path = adder.scratch / f"{file_id}.got"
    ended = adder.call("file", "get", file_id, "--out", path)
    assert ended.returncode == 0, ended
    return path.read_text()


@pytest.mark.quick
def test_export_results_csv(science, workbench):
    ran = workbench.call("execute_python", {"code": FRAME + "df"}, "--dangerously-accept-all")
    reply = workbench.call("export_results_csv", {"run_id": ran["run_id"]})
    assert reply["filename"] == "table-1.csv" and reply["url"] and rows(content(science, reply["file_id"])) == ROWS
    named = workbench.call("export_results_csv", {"run_id": ran["run_id"], "table": 1, "name": "prices"})
    assert named["filename"] == "prices.csv" and named["bytes"] == reply["bytes"]


def test_export_of_a_table_that_was_kept_as_something_else(science):
    tools = Tools(science, "adder")
    ran = tools.call("run_python", {"code": FRAME + "df", "tables": "parquet", "environment": "science"})
    assert [file["name"] for file in ran["files"]] == ["tmp/output/table-1.parquet"]
    reply = tools.call("export_results_csv", {"run_id": ran["run_id"], "name": "of parquet.csv"})
    assert reply["filename"] == "of parquet.csv" and rows(content(science, reply["file_id"])) == ROWS


def test_names_are_cleaned(science, workbench):
    ran = workbench.call("execute_python", {"code": FRAME + "df"}, "--dangerously-accept-all")
    reply = workbench.call("export_results_csv", {"run_id": ran["run_id"], "name": "../../etc/-x\n.csv"})
    assert "/" not in reply["filename"] and reply["filename"].isprintable() and reply["filename"].endswith(".csv")


def test_the_tool_says_what_there_is_not(workbench):
    ran = workbench.call("execute_python", {"code": "print(1)"}, "--dangerously-accept-all")
    assert "no table of the run" in workbench.refused("export_results_csv", {"run_id": ran["run_id"]})
    assert "no table of the run x" in workbench.refused("export_results_csv", {"run_id": "x"})
