# SPDX-License-Identifier: Apache-2.0
"""Tables that code shows come back whole, as files: `--tables FORMAT`."""
import csv
import io
import json

import pytest

FRAME = "import pandas as pd\ndf = pd.DataFrame({'n': range(30), 'word': ['a,b', None, 'ü'] * 10})\n"


def out(adder, result_of):
    """Runs and returns the result and what was written to the folder, by name."""
    folder = adder.folder(f"out-{len(list(adder.scratch.iterdir()))}")
    result = result_of("--out", folder)
    written = {path.name: path.read_bytes() for path in sorted(folder.glob("tmp/output/*"))}
    return result, written


def shown(adder, code, *options):
    return out(adder, lambda *more: adder.run(code, *options, *more))


def rows(content):
    return list(csv.reader(io.StringIO(content.decode())))


@pytest.mark.quick
def test_a_table_that_is_shown_is_a_file(science):
    result, written = shown(science, FRAME + "display(df.head(2))\ndf", "--tables", "csv")
    assert (result.outcome, result.warnings) == ("ok", [])
    assert list(written) == ["table-1.csv", "table-2.csv"] and result.names == ["tmp/output/table-1.csv", "tmp/output/table-2.csv"]
    assert rows(written["table-1.csv"]) == [["n", "word"], ["0", "a,b"], ["1", ""]]
    assert len(rows(written["table-2.csv"])) == 31, "all rows, where the reply shows twenty"
    assert [file["mime"] for file in result.files] == ["text/csv"] * 2


def test_without_asking_there_are_none(science):
    assert science.run(FRAME + "df").files == []
    assert science.run(FRAME + "df", "--profile", "workbench", "--tables", "none", "--dangerously-accept-all").files == []


def test_the_profile_says_it(science):
    result = science.run(FRAME + "df", "--profile", "workbench", "--dangerously-accept-all")
    assert result.names == ["tmp/output/table-1.csv"]


def test_an_index_that_means_something_is_kept(science):
    code = FRAME + "df.groupby('word')['n'].sum()"
    _, written = shown(science, code, "--tables", "csv")
    assert rows(written["table-1.csv"]) == [["word", "n"], ["a,b", "135"], ["ü", "155"]]


def test_json(science):
    code = FRAME + "df['when'] = pd.Timestamp('2026-01-02')\ndisplay(df.head(1))\ndisplay(pd.Series([1.5], index=['x'], name='y'))\ndisplay(df[:0])\npd.DataFrame({'a': range(25_000)})"
    result, written = shown(science, code, "--tables", "json")
    assert result.warnings == []
    assert json.loads(written["table-1.json"]) == [{"n": 0, "word": "a,b", "when": "2026-01-02T00:00:00.000"}]
    assert json.loads(written["table-2.json"]) == [{"index": "x", "y": 1.5}]
    assert json.loads(written["table-3.json"]) == []
    assert [row["a"] for row in json.loads(written["table-4.json"])] == list(range(25_000))


def test_parquet_is_read_again(science):
    code = FRAME + "df['when'] = pd.Timestamp('2026-01-02')\ndf.set_index('n')"
    _, written = shown(science, code, "--tables", "parquet")
    path = science.file("table.parquet", written["table-1.parquet"])
    result = science.run(
        "import pandas as pd\ndf = pd.read_parquet('table.parquet')\nprint(df.index.name, len(df), df['when'].dtype.kind, list(df['word'][:3]))",
        "--file", path,
    )  # fmt: skip
    assert result.stdout == "n 30 M ['a,b', None, 'ü']\n"


def test_what_parquet_cannot_hold_is_csv(science):
    result, written = shown(science, "import pandas as pd\npd.DataFrame({'x': [1, 'a', [2]]})", "--tables", "parquet")
    assert rows(written["table-1.csv"]) == [["x"], ["1"], ["a"], ["[2]"]] and list(written) == ["table-1.csv"]
    assert "table 1 is written as CSV, since parquet cannot hold it" in result.warnings[0]


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_a_table_that_is_too_long_is_left_out_whole(science, kind):
    code = "import pandas as pd, numpy as np\ndisplay(pd.DataFrame({'x': np.random.default_rng(1).random(50_000)}))\npd.DataFrame({'y': [1]})"
    result, written = shown(science, code, "--tables", kind, "--limit", "table_bytes=100K")
    assert list(written) == [f"table-2.{kind}"], "and the next is there"
    assert result.warnings == ["table 1 is not written to a file: it is longer than 102400 bytes (table_bytes)"]
    assert result.outcome == "ok" and "50000 rows" in result.displays[0]["text/markdown"]


def test_no_more_than_the_limit(science):
    result, written = shown(science, "import pandas as pd\nfor i in range(5): display(pd.DataFrame({'i': [i]}))", "--tables", "csv", "--limit", "tables=3")
    assert len(written) == 3 and result.warnings == ["only 3 tables are written to files (tables)"]


def test_files_of_the_code_are_not_written_over(science):
    code = FRAME + "open('/tmp/output/table-1.csv', 'w').write('mine')\ndf.head(1)"
    _, written = shown(science, code, "--tables", "csv")
    assert written["table-1.csv"] == b"mine" and rows(written["table-1-2.csv"])[0] == ["n", "word"]


def test_a_full_workspace_is_a_warning(science):
    code = "import pandas as pd, numpy as np\npd.DataFrame({'x': np.random.default_rng(1).random(500_000)})"
    result, written = shown(science, code, "--tables", "csv", "--limit", "workspace_bytes=2M")
    assert written == {} and result.outcome == "ok"
    assert any(text.startswith("table 1 is not written to a file: OSError: ") for text in result.warnings)


def test_code_that_breaks_it_breaks_its_own_tables_alone(science):
    code = FRAME + "def no(*a, **k): raise RuntimeError('no')\npd.DataFrame.to_csv = no\ndf"
    result = science.run(code, "--tables", "csv")
    assert result.outcome == "ok" and result.files == [] and result.value["text/markdown"]
    assert result.warnings == ["table 1 is not written to a file: RuntimeError: no"]


def test_another_word_is_refused(science):
    result = science.run("1", "--tables", "xml")
    assert result.outcome == "failed" and result.error["message"].endswith('tables must be csv, parquet, json or none, not "xml"')


def test_tables_of_cells(science, sessions):
    session = sessions.new("--tables", "csv", env="science")
    first, written = out(science, lambda *more: sessions.cell(session, FRAME + "display(df.head(1))\ndf", *more))
    assert list(written) == ["table-1.csv", "table-2.csv"] and first.warnings == []
    second = sessions.cell(session, "df.tail(1)")
    assert second.names == ["tmp/output/table-1.csv"], "each cell counts for itself"
    third, written = out(science, lambda *more: sessions.cell(session, "print(len(df))\ndf.head(3)", "--tables", "json", *more))
    assert third.names == ["tmp/output/table-1.json"] and len(json.loads(written["table-1.json"])) == 3
    assert sessions.cell(session, "df", "--tables", "none").files == []
