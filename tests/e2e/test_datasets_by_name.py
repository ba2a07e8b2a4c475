# SPDX-License-Identifier: Apache-2.0
"""@NAME wherever a file goes, of data sets that somebody has; the example of docs/data.md, as it stands there."""
import json
import os
import pathlib
import re
import subprocess

import pytest
from harness import DEADLINE, Tools, strict_json

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
    assert science.call("data", "rm", "tio2").returncode == 0


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
    assert analyst.call("load_file", {"file_id": "@tio2"}, "--conversation", "named")["filename"] == "tio2.parquet"
    assert analyst.call("scan_csv", {}, "--conversation", "named")["schema"][0]["rows"] == 3


def example():
    """The code of the page."""
    section = PAGE.read_text().partition("## Example: correlations")[2]
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
    assert workbench.call("load_dataset", {"dataset": "tio2"}, "--conversation", "plot")["local_path"] == "/tmp/tio2.parquet"
    code = example().replace('"tio2.parquet"', '"/tmp/tio2.parquet"')
    reply = workbench.call("execute_python", {"code": code}, "--conversation", "plot", "--dangerously-accept-all", cwd=folder)
    assert reply["success"] and "3 materials" in reply["stdout"], reply
    assert (folder / "correlation.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_names_each_tool(science):
    assert not [name for name in Tools(science, "workbench").table if f"`{name}`" not in PAGE.read_text()]


@pytest.fixture
def shell(science):
    """What commands of the page print, each block of them by a shell of its own in one folder that is empty at first."""
    folder = science.folder("commands")
    program = pathlib.Path(science.installation.program).parent
    environment = science.process_environment() | {"PATH": f"{program}:{os.environ['PATH']}"}

    def call(commands):
        ended = subprocess.run(
            [*science.user.prefix, "sh", "-eu", "-c", commands], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE * 2
        )
        assert ended.returncode == 0, ended
        return folder, ended.stdout

    yield call
    science.call("data", "rm", "oxides")


def test_the_commands_of_the_page(science, shell):
    section = PAGE.read_text().partition("## Running code")[2].partition("\n## ")[0]
    approved, reviewed, loaded, exported = re.findall(r"```sh\n(.*?)```", section, re.S)
    _, out = shell(approved)
    assert "print(6 * 7)" in out and strict_json(out.splitlines()[-1])["stdout"] == "42\n"
    folder, out = shell(reviewed)
    assert "notes.txt" in out and (folder / "notes.txt").read_text() == "tidy"
    _, out = shell(loaded)
    assert strict_json(out.splitlines()[-1])["stdout"] == "5.8\n"
    folder, out = shell(exported)
    assert [line["text"] for line in strict_json(out.splitlines()[0])["lines"]] == ["777 603729"]
    assert (folder / "n.csv").read_text().split() == ["n", *map(str, range(100))]
