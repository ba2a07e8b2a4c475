# SPDX-License-Identifier: Apache-2.0
"""`adder data` and the tools for data sets, of tables that somebody has: no network is wanted."""
import csv
import io
import json

import pytest

from harness import Tools, strict_json

CSV = "formula,gap,note\nO2Ti,3.0,rutile\nO2Zr,5.8,\nOZn,3.3,\"a, b\"\n"
ROWS = [{"formula": "O2Ti", "gap": 3.0, "note": "rutile"}, {"formula": "O2Zr", "gap": 5.8, "note": None}, {"formula": "OZn", "gap": 3.3, "note": "a, b"}]


class Data:
    def __init__(self, adder):
        self.adder = adder

    def say(self, *arguments, status=0):
        ended = self.adder.call("data", *arguments)
        assert ended.returncode == status, ended
        return ended.stdout if status == 0 else ended.stderr

    def ask(self, *arguments):
        return strict_json(self.say(*arguments, "--json"))

    def take(self, name, content, *options):
        return self.ask("import", self.adder.file(name, content), *options)


@pytest.fixture
def data(science):
    made = Data(science)
    yield made
    names = [one["name"] for one in made.ask("list")["datasets"]]
    if names:
        made.say("rm", *names)


@pytest.mark.quick
def test_a_file_becomes_a_data_set_and_a_file_again(data):
    made = data.take("oxides.csv", CSV)
    assert (made["name"], made["version"], made["rows"], made["complete"]) == ("oxides", 1, 3, True)
    assert data.ask("head", "oxides", "-n", "2")["rows"] == ROWS[:2]
    facts = data.ask("show", "oxides")
    assert facts["schema"] == [{"name": "formula", "type": "string"}, {"name": "gap", "type": "double"}, {"name": "note", "type": "string"}]
    assert facts["imported"]["filename"] == "oxides.csv"
    assert json.loads(data.say("export", "oxides", "--format", "json", "-o", "-")) == ROWS
    assert list(csv.reader(io.StringIO(data.say("export", "oxides", "-o", "-")))) == list(csv.reader(io.StringIO(CSV)))
    assert "rutile" in data.say("head", "oxides") and "oxides" in data.say("list")
    assert "oxides" not in data.adder.call("file", "list", "--all").stdout, "what was on its way is gone"


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_what_is_exported_can_be_imported(data, kind):
    lines = '{"formula": "O2Ti", "elements": ["O", "Ti"], "gap": 3, "more": {"a": 1}}\n\n{"formula": "O2Zr", "elements": [], "gap": 5.5, "more": null}\n'
    data.take("first.jsonl", lines)
    file = data.adder.scratch / f"again.{kind}"
    assert data.say("export", "first", "--format", kind, "-o", file) == f"{file}\n"
    data.ask("import", file)
    first, again = data.ask("head", "first")["rows"], data.ask("head", "again")["rows"]
    assert first == [{"formula": "O2Ti", "elements": ["O", "Ti"], "gap": 3.0, "more": '{"a": 1}'}, {"formula": "O2Zr", "elements": [], "gap": 5.5, "more": None}]
    if kind == "csv":
        first = [{**row, "elements": json.dumps(row["elements"])} for row in first]
    assert again == first


def test_versions(data):
    for gap, options in ((1, ()), (2, ()), (3, ("--keep-versions",))):
        data.take("one.csv", f"gap\n{gap}\n", *options)
    assert [one["version"] for one in data.ask("list", "--versions")["datasets"]] == [3, 2]
    assert data.ask("head", "one:2")["rows"] == [{"gap": 2}] and data.ask("head", "one")["rows"] == [{"gap": 3}]
    assert "the versions of one are 3, 2" in data.say("show", "one:1", status=125)
    data.say("rm", "one:3")
    assert data.ask("head", "one")["rows"] == [{"gap": 2}]
    data.say("rm", "one")
    assert data.ask("list") == {"datasets": [], "total": 0, "run_id": None}
    assert "none yet" in data.say("show", "one", status=125)


@pytest.mark.parametrize("name, content", [("no.parquet", "PAR1\x15 but no table PAR1"), ("cut.json", '[{"a": 1},'), ("line.jsonl", "[1]\n"), ("program.bin", "\x7fELF\x02"), ("empty.csv", "")])
def test_what_is_no_table(data, name, content):
    told = data.say("import", data.adder.file(name, content), status=125)
    assert name in told and told.count("\n") == 1
    assert data.ask("list")["datasets"] == []


def test_tools(data):
    data.take("oxides.csv", CSV)
    tools = Tools(data.adder, "workbench")
    assert [one["name"] for one in tools.call("list_datasets")["datasets"]] == ["oxides"]
    shown = tools.call("show_dataset", {"dataset": "oxides", "head": 1})
    assert shown["head"] == ROWS[:1] and shown["rows"] == 3 and shown["facts"]["name"] == "oxides"
    assert tools.call("export_dataset", {"dataset": "oxides", "filename": "../mine"})["filename"] == "mine.csv"
    assert tools.call("export_results_csv", {"dataset": "oxides"})["filename"] == "oxides.csv"
    assert "run_id" in tools.refused("export_results_csv", {})
    assert "there is oxides" in tools.refused("show_dataset", {"dataset": "oxide"})
    file = tools.call("export_dataset", {"dataset": "oxides", "format": "parquet"})
    copied = tools.call("import_dataset", {"file_id": file["file_id"], "name": "copy"})
    assert (copied["name"], copied["rows"]) == ("copy", 3)
    assert tools.call("remove_dataset", {"dataset": "copy"})["removed"] == "copy"
    loaded = tools.call("load_dataset", {"dataset": "oxides"})
    assert loaded["local_path"] == "/tmp/oxides.parquet" and loaded["rows"] == 3


def test_a_data_set_in_the_code_of_a_conversation(data):
    data.take("oxides.csv", CSV)
    told = data.adder.call("tool", "call", "workbench.load_dataset", '{"dataset": "oxides"}', "--conversation", "c-1")
    path = strict_json(told.stdout)["local_path"]
    code = {"code": f"import pandas as pd\nprint(pd.read_parquet({path!r}).gap.sum().round(3))"}
    ran = strict_json(data.adder.call("tool", "call", "code_executor.run_python", json.dumps(code), "--conversation", "c-1").stdout)
    assert ran["stdout"] == "12.1\n", ran
