# SPDX-License-Identifier: Apache-2.0
"""How the runner reads Parquet, written by pyarrow, with the interpreter of the environment `science`."""

import json

import pytest

from test_csv import Reader, said


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    made = Reader(tmp_path_factory.mktemp("parquet"))
    yield made
    made.end()


def ask(reader, table, mode="load", **more):
    """TABLE is an expression of an Arrow table, or the columns of one."""
    return reader.ask("", mode, parquet=table if isinstance(table, str) else f"pyarrow.table({json.dumps(table)})", **more)


# (what it is, an Arrow array, what pandas has, the kind, the data, words of what was assumed)
COLUMNS = [
    ("integers", "pyarrow.array([1, 2, 3])", "int64", "integer", [1, 2, 3], None),
    ("small ones", "pyarrow.array([1, 2], 'int8')", "int64", "integer", [1, 2], None),
    ("missing ones", "pyarrow.array([1, None])", "float64", "integer", [1, None], None),
    ("large and missing", "pyarrow.array([2**53 + 1, None])", "Int64", "integer", [2**53 + 1, None], None),
    ("beyond 63 bits", "pyarrow.array([1, 2**63 + 2048], 'uint64')", "float64", "number", [1, 2.0**63 + 2048], ("more than 63 bits",)),
    ("numbers", "pyarrow.array([1.5, None, float('nan')])", "float64", "number", [1.5, None, None], None),
    ("halves", "pyarrow.array([1.5], 'float32').cast('float16')", "float64", "number", [1.5], None),
    ("decimals", "pyarrow.array([decimal.Decimal('12.50'), None])", "float64", "number", [12.5, None], ("decimal numbers",)),
    ("booleans", "pyarrow.array([True, False])", "bool", "boolean", [True, False], None),
    ("missing booleans", "pyarrow.array([True, None])", "boolean", "boolean", [True, None], None),
    ("days", "pyarrow.array([date(2026, 2, 1), None])", "datetime64[ns]", "date", ["2026-02-01T00:00:00", None], None),
    ("moments", "pyarrow.array([datetime(2026, 2, 1, 12, 30)], pyarrow.timestamp('ms'))", "datetime64[ns]", "date", ["2026-02-01T12:30:00"], None),
    ("far moments", "pyarrow.array([datetime(1066, 10, 14)], pyarrow.timestamp('us'))", "datetime64[us]", "date", ["1066-10-14T00:00:00"], ("before 1678",)),
    ("zones", "pyarrow.array([datetime(2026, 2, 1, 12, tzinfo=timezone.utc)], pyarrow.timestamp('us', 'Europe/Berlin'))", "datetime64[ns]", "date", ["2026-02-01T12:00:00"], ("UTC",)),
    ("durations", "pyarrow.array([timedelta(seconds=90)])", "float64", "number", [90], ("seconds",)),
    ("texts", "pyarrow.array(['a', None, 'NA', ''])", "string", "text", ["a", None, "NA", ""], None),
    ("large texts", "pyarrow.array(['a'], 'large_string')", "string", "text", ["a"], None),
    ("dates as texts", "pyarrow.array(['2026-02-01T00:00:00Z'])", "string", "text", ["2026-02-01T00:00:00Z"], None),
    ("categories", "pyarrow.array(['a', 'b', 'a', None]).dictionary_encode()", "string", "text", ["a", "b", "a", None], None),
    ("lists", "pyarrow.array([['O', 'Ti'], [], None])", "string", "text", ["O, Ti", "", None], ("lists", "comma")),
    ("lists of lists", "pyarrow.array([[[1, 2], [3]]])", "string", "text", ["[[1, 2], [3]]"], ("JSON",)),
    ("nested", "pyarrow.array([{'a': 1, 'b': 'ü'}])", "string", "text", ['{"a": 1, "b": "ü"}'], ("JSON",)),
    ("bytes", "pyarrow.array([b'ab', b'\\xff'])", "string", "text", ["ab", "\ufffd"], None),
    ("times of day", "pyarrow.array([3600], pyarrow.time32('s'))", "string", "text", ["01:00:00"], None),
    ("nothing", "pyarrow.nulls(2)", "float64", "empty", [None, None], None),
    ("broken text", "pyarrow.Array.from_buffers(pyarrow.string(), 2, pyarrow.array([b'ok', b'\\xff'], 'binary').buffers())", "string", "text", ["ok", "\ufffd"], None),
]


@pytest.mark.parametrize("array, dtype, kind, data, words", [row[1:] for row in COLUMNS], ids=[row[0] for row in COLUMNS])
def test_columns_are_as_those_of_a_csv(reader, array, dtype, kind, data, words):
    answer = ask(reader, f"pyarrow.table({{'x': {array}}})")
    assert answer["columns"] == ["x"] and answer["data"] == [data]
    assert answer["dtypes"] == [dtype]
    table, column = answer["table"], answer["table"]["columns"][0]
    assert (table["format"], table["rows"], table["partial"]) == ("parquet", len(data), False)
    assert (column["kind"], column["nulls"]) == (kind, data.count(None))
    assert said(answer, *words) if words else not table["assumed"]
    scanned = ask(reader, f"pyarrow.table({{'x': {array}}})", "scan")
    assert scanned["table"] == {**table, "file": scanned["table"]["file"]}


def test_what_a_table_is_told_as(reader):
    table = ask(reader, {"a": [1], "b": ["x"]})["table"]
    assert {name: table[name] for name in ("encoding", "bom", "delimiter", "quote", "header", "decimal", "thousands", "bad_lines")} == {
        "encoding": "utf-8",
        "bom": False,
        "delimiter": None,
        "quote": None,
        "header": True,
        "decimal": ".",
        "thousands": None,
        "bad_lines": {"count": 0, "lines": [], "examples": []},
    }
    assert table["sample"] == [[1, "x"]]
    assert set(table) == set(reader.ask("a,b\n1,x\n")["table"])


def test_a_scan_reads_no_more_than_its_sample(reader):
    many = "pyarrow.table({'n': pyarrow.array([None if i == 70000 else i for i in range(100000)])})"
    scanned, loaded = ask(reader, many, "scan")["table"], ask(reader, many)["table"]
    assert (scanned["rows"], scanned["partial"], len(scanned["sample"])) == (100000, True, 20)
    assert scanned["columns"][0]["nulls"] == loaded["columns"][0]["nulls"] == 1  # the file itself counts them
    assert (loaded["rows"], loaded["partial"]) == (100000, False)


def test_a_kind_that_a_later_part_denies(reader):
    """Parts come by some 65,536 rows: what was read as integers until then is told otherwise."""
    answer = ask(reader, "pyarrow.table({'n': pyarrow.array([1] * 70000 + [2**63 + 2048], 'uint64')})")
    assert answer["dtypes"] == ["float64"] and answer["rows"] == 70001


def test_names(reader):
    answer = ask(reader, "pyarrow.Table.from_arrays([pyarrow.array([1])] * 4, ['a', 'a', '', 'b.c\\n'])")
    assert answer["columns"] == ["a", "a_2", "column_3", "b.c"] and answer["data"] == [[1]] * 4


def test_rows_are_no_columns_of_their_own(reader):
    """What pandas writes beside the columns is read as what it is: a name where the index has one."""
    numbered = ask(reader, "pyarrow.Table.from_pandas(pandas.DataFrame({'a': [1, 2]}))")
    assert numbered["columns"] == ["a"]
    named = ask(reader, "pyarrow.Table.from_pandas(pandas.DataFrame({'a': [1]}, index=pandas.Index(['x'], name='key')))")
    assert named["columns"] == ["a", "key"]


def test_nothing_in_it(reader):
    assert ask(reader, "pyarrow.table({'a': pyarrow.array([], 'int64')})")["rows"] == 0
    nothing = ask(reader, "pyarrow.table({})")
    assert nothing["columns"] == [] and said(nothing, "no table")


def test_options_are_of_no_account(reader):
    answer = ask(reader, {"a": [1]}, options={"delimiter": ";", "decimal": ","})
    assert answer["data"] == [[1]] and said(answer, "delimiter", "decimal", "did not count")
    assert "no option 'colour'" in ask(reader, {"a": [1]}, options={"colour": "red"})["refused"]


def test_broken_files_are_refused_in_a_sentence(reader):
    rows = {"a": list(range(1000))}
    for cut in (5, 20, 500, -1, -9):
        assert "is a Parquet file that cannot be read" in ask(reader, rows, cut=cut)["refused"]
    assert "is a Parquet file that cannot be read" in reader.ask(b"PAR1\x15" + b"\xff" * 4000 + b"\x40\0\0\0PAR1")["refused"]


def test_a_csv_may_begin_like_one(reader):
    assert reader.ask("PAR1,PAR2\n1,2\n")["data"] == [[1], [2]]
    assert reader.ask("PAR1\n7\n")["data"] == [[7]]


def test_an_environment_without_pyarrow_says_so(tmp_path):
    read = Reader(tmp_path, "pyarrow")
    assert "no pandas with pyarrow" in read.ask(b"PAR1\x15\x04")["refused"]
    read.end()
