# SPDX-License-Identifier: Apache-2.0
"""`adder data`: what searches find, kept as a table with what is known of it; and the tools that do the same."""
import csv
import datetime
import hashlib
import io
import json
import signal

import harness
import materials_world as world
import pytest

SETTINGS = "[materials]\nindex = {index}\n"
DATASET = {
    "name": str, "version": int, "created": str, "rows": int, "bytes": int, "complete": bool,
}  # fmt: skip
TITANIUM = 'elements HAS ALL "O","Ti"'


class Data:
    """`adder data` of one Adder that has the environment science and knows the databases of a test."""

    def __init__(self, adder):
        self.adder = adder

    def ask(self, *arguments, status=0, **options):
        """The object of a command with --json."""
        ended = self.adder.call("data", *arguments, "--json", **options)
        assert ended.returncode == status and ended.stderr == "", ended
        return harness.strict_json(ended.stdout)

    def say(self, *arguments):
        """What a command prints for people."""
        ended = self.adder.call("data", *arguments)
        assert ended.returncode == 0 and ended.stderr == "", ended
        return ended.stdout

    def refused(self, *arguments):
        ended = self.adder.call("data", *arguments)
        assert ended.returncode == 125 and ended.stdout == "", ended
        assert ended.stderr.startswith("adder: ") and ended.stderr.count("\n") == 1, ended.stderr
        return ended.stderr

    def collect(self, name, *options):
        made = self.ask("collect", "--name", name, *options)
        harness.check_fields({field: made[field] for field in DATASET}, DATASET, "data set")
        assert made["name"] == name
        return made

    def names(self):
        listed = self.ask("list")["datasets"]
        for one in listed:
            harness.check_fields({field: one[field] for field in DATASET}, DATASET, "data set")
        return [one["name"] for one in listed]

    def search(self, *options):
        ended = self.adder.call("search", *options, "--json")
        assert ended.returncode == 0, ended
        return harness.strict_json(ended.stdout)

    def export(self, name, kind):
        """A file with what `export` writes."""
        file = self.adder.folder(f"out-{harness.unique()}") / f"table.{kind}"
        self.say("export", name, "--format", kind, "--out", file)
        return file

    def parquet(self, name, *also):
        """Its rows, as pandas in a sandbox has them."""
        file = self.export(name, "parquet")
        # Through a file: a reply has less room.
        code = f"import pandas as pd\npd.read_parquet({file.name!r}).to_json('rows.json', orient='records', double_precision=15)"
        out = harness.new_directory(self.adder.scratch, "rows")
        self.adder.own(out)
        self.adder.run(code, "--file", file, "--out", out)
        return json.loads((out / "rows.json").read_text())


@pytest.fixture(scope="module")
def made(installation, user, common_directory, databases):
    directory = harness.new_directory(common_directory, f"data-{user.name}")
    adder = harness.Adder(installation, user, directory, SETTINGS.format(index=world.nobody()))
    if adder.call("env", "show", "science").returncode != 0:
        pytest.skip("no environment `science`: make it with `adder env new science`, or set ADDER_ENVIRONMENTS_DIR")
    adder.environment = "science"
    world.configure(adder, databases.urls)
    yield adder
    try:
        adder.stop()
    finally:
        adder.kill()


@pytest.fixture
def data(made):
    return Data(made)


@pytest.fixture
def make_data(make_adder, hostile, made):
    """Those of an Adder of its own that knows databases of the hostile server."""

    def make(*names):
        adder = make_adder("[environment]\ndefault = science\n" + SETTINGS.format(index=world.nobody()))
        adder.environment = "science"
        world.configure(adder, hostile.urls(*names))
        return Data(adder)

    return make


@pytest.fixture(scope="module")
def oxides(made):
    """A data set that tests leave as it is."""
    return Data(made).collect("oxides", "--elements", "Ti,O", "--limit", "1000", "--providers", "left,right")


ASKED = ("--elements", "Ti,O", "--limit", "1000", "--providers", "left,right")


def same(value, other):
    """Whether a cell of a table is what a row of an answer has: lists are texts or lists, numbers nearly so."""
    if isinstance(other, (int, float)) and not isinstance(other, bool):
        return value == pytest.approx(other)
    if isinstance(other, list) and isinstance(value, str):
        return json.loads(value) == other if value.startswith("[") else value.replace(" ", "").split(",") == other
    return value == other


# ---- what is kept ----


@pytest.mark.quick
def test_the_records_of_a_data_set_are_those_that_the_client_of_the_servers_finds(data, oxides, databases):
    expected = {f"{name}:{entry['id']}" for name, entries in databases.find(TITANIUM).items() for entry in entries}
    rows = json.loads(data.export("oxides", "json").read_text())
    sources = [source for row in rows for source in row["sources"]]
    assert sorted(sources) == sorted(expected)
    assert oxides["rows"] == len(rows) < len(expected), "what two databases have is one row"
    assert oxides["complete"]
    found = data.search(*ASKED)["rows"]
    assert len(found) == len(rows)
    for row, other in zip(rows, found):
        assert all(same(row[name], other[name]) for name in other), (row, other)


def test_each_format_holds_the_same(data, oxides):
    rows = json.loads(data.export("oxides", "json").read_text())
    table = data.parquet("oxides")
    lines = list(csv.DictReader(io.StringIO(data.export("oxides", "csv").read_text())))
    assert len(rows) == len(table) == len(lines) == oxides["rows"]
    assert data.export("oxides", "parquet").read_bytes()[:4] == b"PAR1"
    for row, other, line in zip(rows, table, lines):
        assert set(other) == set(line) and set(row) <= set(other) | {"raw"}
        for name in ("formula", "nsites", "volume", "density", "space_group", "last_modified"):
            assert same(other[name], row[name]), name
            assert line[name] == "" if row[name] is None else same(type(row[name])(line[name]), row[name])
        assert same(other["sources"], row["sources"]) and same(line["sources"], row["sources"])
        for gap in ("left_band_gap", "right_band_gap"):
            assert same(other[gap], row.get(gap))


def test_what_is_known_of_a_data_set(data, oxides):
    facts = data.ask("show", "oxides")
    assert facts["name"] == "oxides" and facts["version"] == 1 and facts["rows"] == oxides["rows"]
    assert facts["query"]["filter"].replace(" ", "") == TITANIUM.replace(" ", "")
    assert {one["name"]: one["records"] for one in facts["providers"]} == {"left": 12, "right": 14}
    made_at = datetime.datetime.fromisoformat(facts["created"].replace("Z", "+00:00"))
    assert abs((datetime.datetime.now(datetime.timezone.utc) - made_at).total_seconds()) < 3600
    assert {"formula", "volume", "left_band_gap"} <= {column["name"] for column in facts["schema"]}
    content = data.export("oxides", "parquet").read_bytes()
    assert hashlib.sha256(content).hexdigest() == facts["sha256"] and len(content) == oxides["bytes"]
    shown = data.say("show", "oxides")
    assert "oxides" in shown and "left" in shown and "density" in shown
    assert "oxides" in data.names() and "oxides" in data.say("list")
    head = data.say("head", "oxides")
    assert "TiO2" in head.replace("O2Ti", "TiO2")
    assert len(data.ask("head", "oxides", "-n", "3")["rows"]) == 3


# ---- versions, and what goes ----


def test_an_earlier_version_is_kept_where_somebody_says_so(data):
    first = data.collect("again", "--formula", "TiO2", "--providers", "left")
    second = data.collect("again", "--formula", "TiO", "--providers", "right", "--keep-versions")
    assert (first["version"], second["version"]) == (1, 2)
    assert data.ask("show", "again:1")["rows"] == first["rows"] and data.ask("show", "again")["version"] == 2
    assert data.names().count("again") == 1
    data.say("rm", "again")
    assert "again" not in data.names()


def test_data_sets_outlive_the_daemon(data, oxides):
    before = data.export("oxides", "parquet").read_bytes()
    data.adder.stop()
    assert data.export("oxides", "parquet").read_bytes() == before


def test_a_file_becomes_a_data_set(data, oxides):
    file = data.export("oxides", "parquet")
    data.ask("import", file, "--name", "copy")
    assert data.parquet("copy") == data.parquet("oxides")
    table = data.adder.file("mine.csv", "formula,gap\nTiO2,3.0\nZrO2,5.8\n")
    data.ask("import", table, "--name", "mine")
    assert data.parquet("mine") == [{"formula": "TiO2", "gap": 3.0}, {"formula": "ZrO2", "gap": 5.8}]


@pytest.mark.parametrize("command", [("show",), ("head",), ("export", "--format", "csv"), ("rm",)])
def test_what_is_not_there_is_said(data, oxides, command):
    told = data.refused(command[0], "oxide", *command[1:])
    assert "oxide" in told and "oxides" in told, "which was meant"


def test_nothing_found_is_no_data_set(data):
    told = data.refused("collect", "--elements", "Pu", "--providers", "left", "--name", "empty")
    assert "left" in told or "no" in told
    assert "empty" not in data.names()


# ---- databases that do wrong ----


def test_what_came_is_kept_and_said_when_a_database_fails(make_data):
    data = make_data("good", "cut_later", "html")
    made = data.collect("some", "--elements", "O", "--providers", "good,cut_later,html")
    assert not made["complete"]
    facts = data.ask("show", "some")
    told = {one["name"]: one for one in facts["providers"]}
    assert [(told[name]["state"], told[name]["records"]) for name in ("good", "cut_later", "html")] == [
        ("ok", 6), ("partial", 3), ("failed", 0),
    ]  # fmt: skip
    rows = json.loads(data.export("some", "json").read_text())
    assert len([source for row in rows for source in row["sources"]]) == 9


def test_an_interrupted_collect_keeps_what_it_has(make_data, hostile):
    data = make_data("good", "held")
    process = data.adder.popen("data", "collect", "--name", "part", "--elements", "O", "--providers", "good,held", "--json")
    harness.wait_until(hostile.reached.is_set, "the second page to be asked for")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=harness.DEADLINE)
    assert not harness.strict_json(out.decode())["complete"], err
    facts = data.ask("show", "part")
    assert facts["interrupted"] and facts["complete"] is False
    sources = [source for row in data.parquet("part") for source in row["sources"]]
    of = {name: sum(source.startswith(f"{name}:") for source in sources) for name in ("good", "held")}
    assert of["held"] == 3 and of["good"] in (0, 3, 6), "the first page of the one, and what had come of the other"


def test_columns_of_wrong_and_odd_things_are_a_table(make_data):
    data = make_data("wrong_types", "odd_ids")
    data.collect("odd", "--elements", "O", "--providers", "wrong_types,odd_ids")
    assert len(data.parquet("odd")) == len(json.loads(data.export("odd", "json").read_text()))
    first = next(csv.reader(io.StringIO(data.export("odd", "csv").read_text())))
    assert "formula" in first
    assert all(line.isprintable() for line in data.say("head", "odd").splitlines())


def test_a_thousand_rows_in_pages(make_data, hostile):
    data = make_data("family")
    made = data.collect("thousand", "--elements", "O", "--providers", "family", "--limit", "1000")
    assert made["rows"] == 1000 and len(hostile.asked["family"]) == 20
    assert [row["sources"] for row in data.parquet("thousand")][999] == ["family:family-999"]


# ---- tools ----


def test_tools_do_the_same(data, oxides):
    tools = harness.Tools(data.adder, "workbench")
    made = tools.call("collect_dataset", {"name": "by_tool", "elements": ["Ti", "O"], "providers": ["left"], "limit": 1000})
    assert made["rows"] == 12
    assert {"oxides", "by_tool"} <= {one["name"] for one in tools.call("list_datasets")["datasets"]}
    data.say("rm", "by_tool")
    assert "by_tool" not in data.names()
