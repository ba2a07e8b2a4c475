# SPDX-License-Identifier: Apache-2.0
"""@NAME wherever a file goes, of data sets that somebody has; the example of docs/data.md, as it stands there."""
import json
import pathlib
import re

import pytest
from harness import Tools, strict_json

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "data.md"
OLD = [{"formula": "O2Ti", "elements": ["O", "Ti"], "density": 4.2, "nsites": 6}]
NEW = [
    *OLD,
    {"formula": "O2Zr", "elements": ["O", "Zr"], "density": 5.8, "nsites": 12},
    {"formula": "OZn", "elements": ["O", "Zn"], "density": 5.6, "nsites": 4},
]
COUNT = "result = len(df)"


@pytest.fixture
def named(science):
    """`tio2` of one row, and then of three."""
    for rows in (OLD, NEW):
        ended = science.call("data", "import", science.file("tio2.json", json.dumps(rows)), "--keep-versions")
        assert ended.returncode == 0, ended
    listed = strict_json(science.call("data", "list", "--json").stdout)["datasets"]
    newest = max(one["version"] for one in listed if one["name"] == "tio2")
    yield newest
    assert science.call("data", "remove", "tio2").returncode == 0


def ask(adder, *arguments):
    ended = adder.call("ask", *arguments, "--code", adder.file("code.py", COUNT), "--json")
    assert ended.returncode == 0, ended
    return strict_json(ended.stdout)


@pytest.mark.quick
def test_questions(science, named):
    answer = ask(science, "@tio2", "How many?")
    assert answer["table"]["value"] == 3
    [table] = answer["schema"]
    assert (table["name"], table["format"]) == ("tio2", "parquet")
    at = [column["name"] for column in table["columns"]].index("elements")
    assert [row[at] for row in table["sample"]] == ["O, Ti", "O, Zr", "O, Zn"]
    assert ask(science, f"@tio2:{named - 1}", "How many?")["table"]["value"] == 1
    assert ask(science, "@tio2", "How many?", "--no-daemon")["table"]["value"] == 3
    two = ask(science, f"@tio2:{named - 1}", "How many?", "--file", "new=@tio2")
    assert [table["name"] for table in two["schema"]] == ["tio2", "new"] and two["schema"][1]["rows"] == 3


def test_a_question_that_is_repeated_says_whether_the_data_is_another(science, named):
    out = science.scratch / f"kept-{named}"
    ask(science, "@tio2", "How many?", "--out", out)
    again = strict_json(science.call("ask", "--again", out, "--json").stdout)
    assert again["again"] == {"directory": str(out), "changed": [], "same_answer": True}
    assert science.call("data", "import", science.file("tio2.json", json.dumps(OLD)), "--keep-versions").returncode == 0
    again = strict_json(science.call("ask", "--again", out, "--json").stdout)
    assert again["again"]["changed"] == ["tio2"] and again["table"]["value"] == 1


def test_names_that_are_none(science, named):
    code = science.file("code.py", COUNT)
    for name, words in (("@zno", "no data set zno"), ("@tio2:99", "the versions of tio2 are"), ("@../x", "name")):
        ended = science.call("ask", name, "How many?", "--code", code)
        assert ended.returncode == 125 and words in ended.stderr, ended
        assert words in science.run("1", "--file", name).error["message"]


def test_tools(science, named):
    analyst = Tools(science, "analyst")
    files = [{"file_id": "@tio2"}, {"file_id": f"@tio2:{named - 1}", "name": "old"}]
    told = analyst.call("run_analysis", {"files": files, "code": 'result = len(df) * 10 + len(dfs["old"])'})
    assert told["table"]["value"] == 31
    assert analyst.call("load_file", {"file_id": "@tio2"}, "-c", "named")["filename"] == "tio2.parquet"
    assert analyst.call("scan_csv", {}, "-c", "named")["schema"][0]["rows"] == 3


def example():
    """The code of the page."""
    section = PAGE.read_text().partition("## An example")[2]
    [code] = re.findall(r"```python\n(.*?)```", section, re.S)
    return code


@pytest.mark.parametrize("environment", ["science", "materials"])
def test_the_example_of_the_page(science, named, environment):
    if environment not in science.call("env", "list").stdout:
        pytest.skip(f"no environment `{environment}`")
    out = science.folder(f"plot-{environment}-{named}")
    result = science.run(example(), "--file", "@tio2", "--out", str(out), env=environment)
    assert result.outcome == "ok" and result.stdout.startswith("3 materials, 2 columns of numbers\n"), result
    assert (out / "correlation.png").read_bytes().startswith(b"\x89PNG")


def test_the_example_in_the_workbench(science, named):
    workbench = Tools(science, "workbench")
    folder = science.folder(f"bench-{named}")
    assert workbench.call("load_dataset", {"dataset": "tio2"}, "-c", "plot")["local_path"] == "/tmp/tio2.parquet"
    code = example().replace('"tio2.parquet"', '"/tmp/tio2.parquet"')
    reply = workbench.call("execute_python", {"code": code}, "-c", "plot", "--dangerously-accept-all", cwd=folder)
    assert reply["success"] and "3 materials" in reply["stdout"], reply
    assert (folder / "correlation.png").read_bytes().startswith(b"\x89PNG")
