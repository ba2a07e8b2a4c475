# SPDX-License-Identifier: Apache-2.0
"""A data set by name wherever a file goes, and in the next run of a conversation; how far a collect is."""
import math
import os
import pty
import select

import harness
import http_bed
import materials_world as world
import pytest
from mcp_lines import Lines

SETTINGS = "[environment]\ndefault = science\n[materials]\nindex = {index}\n"
CORRELATION = "import pandas as pd\ndf = pd.read_parquet({path!r})\nprint(round(df['size'].corr(df['gap']), 6))\n"
# What is said for a file, and where the code finds it.
PLACES = {"@oxides": "oxides.parquet", "@oxides=mine.parquet": "mine.parquet", "@oxides=/tmp/mine.parquet": "/tmp/mine.parquet"}


@pytest.fixture(scope="session")
def rows(databases):
    """(formula, volume of an atom, gap) of the oxides of one of the databases."""
    found = [entry["attributes"] for entry in databases.find('elements HAS "O" AND nelements=2', "left")["left"]]
    return [
        (one["chemical_formula_reduced"], math.prod(one["lattice_vectors"][i][i] for i in range(3)) / one["nsites"], one["_left_band_gap"])
        for one in found
        if one.get("_left_band_gap") is not None
    ]


@pytest.fixture(scope="session")
def table(rows):
    """The same as CSV."""
    return "formula,size,gap\n" + "".join(f"{formula},{size!r},{gap!r}\n" for formula, size, gap in rows)


@pytest.fixture(scope="session")
def correlation(rows):
    pairs = [row[1:] for row in rows]
    means = [sum(column) / len(pairs) for column in zip(*pairs)]
    moved = [[x - mean for x, mean in zip(pair, means)] for pair in pairs]
    products = lambda i, j: sum(pair[i] * pair[j] for pair in moved)  # noqa: E731
    return products(0, 1) / (products(0, 0) * products(1, 1)) ** 0.5


@pytest.fixture(scope="module")
def made(installation, user, common_directory, table):
    """An Adder with the data set oxides."""
    directory = harness.new_directory(common_directory, f"use-{user.name}")
    adder = harness.Adder(installation, user, directory, SETTINGS.format(index=world.nobody()))
    if adder.call("env", "show", "science").returncode != 0:
        pytest.skip("no environment `science`: make it with `adder env new science`, or set ADDER_ENVIRONMENTS_DIR")
    adder.environment = "science"
    imported = adder.call("data", "import", adder.file("oxides.csv", table), "--name", "oxides", "--json")
    assert imported.returncode == 0, imported
    yield adder
    try:
        adder.stop()
    finally:
        adder.kill()


# ---- by name where a file goes ----


@pytest.mark.quick
@pytest.mark.parametrize("option, path", PLACES.items(), ids=PLACES)
def test_in_a_run(made, correlation, option, path):
    result = made.run(CORRELATION.format(path=path), "--file", option)
    assert float(result.stdout) == pytest.approx(correlation, abs=1e-6)
    assert result.files == []


def test_an_unknown_name_is_said(made):
    ended = made.call("run", "--file", "@oxide", "-c", "1")
    assert ended.returncode == 125 and "oxide" in ended.stderr and ended.stderr.count("\n") == 1, ended


def test_in_a_question(made, rows):
    code = made.file("code.py", 'result = df["size"].max()')
    ended = made.call("ask", "@oxides", "Which atoms have most room?", "--code", code, "--json")
    assert ended.returncode == 0 and ended.stderr == "", ended
    answer = harness.strict_json(ended.stdout)
    assert f"{max(row[1] for row in rows):g}"[:6] in answer["answer"], answer["answer"]
    (schema,) = answer["schema"]
    assert [column["name"] for column in schema["columns"]] == ["formula", "size", "gap"]


def test_two_of_them_in_a_question(made, rows):
    code = made.file("code.py", "result = sum(len(frame) for frame in dfs.values())")
    more = made.file("more.csv", "a\n1\n2\n")
    ended = made.call("ask", "@oxides", "--file", f"more={more}", "How many rows?", "--code", code, "--json")
    assert ended.returncode == 0, ended
    assert str(len(rows) + 2) in harness.strict_json(ended.stdout)["answer"]


@pytest.fixture(scope="module")
def served(made, table):
    """The same Adder over HTTP; whoever comes has data sets of their own."""
    made.stop()
    bed = http_bed.Served(made)
    file = bed.upload("theirs.csv", table)
    reply = tool(bed, "import_dataset", name="theirs", file_id=file)
    assert not reply["is_error"], reply
    yield bed
    bed.stop()


def tool(served, name, /, **arguments):
    reply = served.post(f"/v1/tools/{name}", {"toolset": "workbench", "arguments": arguments})
    assert reply.status == 200, reply
    return reply.json()


def test_over_http(served, correlation):
    assert [one["name"] for one in tool(served, "list_datasets")["reply"]["datasets"]] == ["theirs"], "nobody else's"
    told = served.run(CORRELATION.format(path="theirs.parquet"), files=[{"file_id": "@theirs"}])
    assert float(told["stdout"]) == pytest.approx(correlation, abs=1e-6)


# ---- in a conversation ----


def test_the_next_run_of_a_conversation_has_it(made, correlation):
    tools = harness.Tools(made, "workbench")
    loaded = tools.call("load_dataset", {"dataset": "oxides"}, "--conversation", "c1")
    path = loaded["local_path"]
    assert path == "/tmp/oxides.parquet"
    reply = tools.call("execute_python", {"code": CORRELATION.format(path=path)}, "--dangerously-accept-all", "--conversation", "c1")
    assert correlation == pytest.approx(float(reply["stdout"] if "stdout" in reply else reply["output"]), abs=1e-6)
    assert "oxide" in tools.refused("load_dataset", {"dataset": "oxide"})


def test_a_plot_of_it(made):
    code = (
        "import pandas as pd\nimport matplotlib.pyplot as plt\ndf = pd.read_parquet('oxides.parquet')\n"
        "df.plot.scatter(x='size', y='gap')\nplt.savefig('plot.png')\n"
    )
    result = made.run(code, "--file", "@oxides")
    assert result.outcome == "ok" and "plot.png" in [file["name"] for file in result.files], result


# ---- how far it is ----


def test_people_see_how_far_a_collect_is(make_adder, hostile, made):
    adder = make_adder(SETTINGS.format(index=world.nobody()))
    world.configure(adder, hostile.urls("good", "held"))
    ours, theirs = pty.openpty()
    process = adder.popen("data", "collect", "--name", "seen", "--elements", "O", "--providers", "good,held", stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        harness.wait_until(hostile.reached.is_set, "the second page to be asked for")
        seen = read_until(ours, "9 rows")
        assert "provider" in seen and "page" in seen
        hostile.go_on.set()
        assert process.wait(harness.DEADLINE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal, text):
    seen = ""
    while text not in seen:
        assert select.select([terminal], [], [], harness.DEADLINE)[0], seen
        seen += os.read(terminal, 1 << 16).decode()
    return seen


def test_a_client_of_mcp_is_told_how_far_it_is(make_adder, hostile, made):
    adder = make_adder(SETTINGS.format(index=world.nobody()))
    world.configure(adder, hostile.urls("good", "held"))
    with Lines(adder, "--toolset", "workbench") as lines:
        arguments = {"name": "told", "elements": ["O"], "providers": ["good", "held"]}
        call = lines.start("tools/call", {"name": "collect_dataset", "arguments": arguments}, meta={"progressToken": "p"})
        harness.wait_until(hostile.reached.is_set, "the second page to be asked for")
        hostile.go_on.set()
        assert not lines.answer(call)["result"].get("isError")
        told = lines.notices("notifications/progress")
        assert told and all(one["progressToken"] == "p" for one in told)
        assert "rows" in told[-1]["message"]
