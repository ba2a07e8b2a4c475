# SPDX-License-Identifier: Apache-2.0
"""A table that is too large for memory gives queries what it would give them as a DataFrame, whatever its later parts hold."""

import json
import pathlib
import subprocess

import pytest

from test_csv import RUNNER, interpreter

ROWS = 60000
HEADER = "id,name,value,day,note\n"

DRIVER = """
import json, os, sys, types
runner, path, queries_text = sys.argv[1:]
package = types.ModuleType("adder_runner")
package.__path__ = [runner]
sys.modules["adder_runner"] = package
import pandas
from adder_runner import large_tables, queries, table_read
told = []


def answer(query):
    try:
        return json.loads(queries.sql(query).to_json(orient="split", date_format="iso"))
    except queries.SQLError as error:
        return str(error)


for most in (1 << 20, None):
    queries.memory_bytes = most
    ((_, df, table),) = table_read.load(path)
    queries.memory_bytes = 1 << 30
    queries.variables = {"df": df, "dfs": {"t": df}}
    answers = [answer(query) for query in json.loads(queries_text)]
    said = None
    try:
        df["id"]
    except large_tables.TableTooLarge as error:
        said = str(error)
    told.append({
        "large": isinstance(df, large_tables.LargeTable), "said": said, "bad": table["bad_lines"]["count"],
        "answers": answers,
    })
print(json.dumps(told))
"""

QUERIES = (
    "select count(*) n, count(id) i, count(name) m, count(value) v, count(day) d, count(note) o from df",
    "select name, sum(value) s from df group by name order by all limit 10",
    "select value from df order by value desc limit 3",
    "select max(day) d, min(note) o from t",
    "select count(*) n from df a join t b on a.id = b.id and a.name = 'n7'",
    "select * from df order by id desc, name limit 5",
    "from df limit 2",
    "select sum(value) s from df t(value)",
    "select count(*) n from df pivot (sum(value) for name in ('n1' as a, 'n2' as b))",
    "select count(distinct main.df) n from df",
)


def lines(change=None, at=ROWS - 10, end="", header=HEADER):
    """A table whose line AT, far behind the first MiB, is CHANGE."""
    rows = [f"{i},n{i % 9},{i % 70},2024-01-{1 + i % 28:02},some words {i}\n" for i in range(ROWS)]
    if change is not None:
        rows[at] = change
    return (header + "".join(rows) + end).encode()


FILES = {
    "plain": lines(),
    "a_word_among_numbers": lines("7,n7,much,2024-01-01,x\n"),
    "numbers_after_integers": lines("7,n7,1.5,2024-01-01,x\n"),
    "no_value": lines("7,n7,NA,,\n"),
    "no_first_value": lines(",n7,7,2024-01-01,x\n"),
    "a_date_that_is_none": lines("7,n7,7,2024-13-45,x\n"),
    "a_line_that_is_too_long": lines("7,n7,7,2024-01-01,x,y\n"),
    "a_field_of_two_lines": lines('7,n7,7,2024-01-01,"x\ny"\n'),
    "a_quote_that_nobody_closes": lines('7,n7,7,2024-01-01,"x\n'),
    "the_header_again": lines(HEADER),
    "a_comment": lines("# a comment\n"),
    "an_empty_row": lines(",,,,\n"),
    "a_total": lines(end="Total,,2069945,,\n"),
    "delimiters_at_the_end": lines(None).replace(b"\n", b",\n"),
    "wide_characters": lines("7,ñ7,7,2024-01-01,x\n").decode().encode("utf-16"),
    "bytes_of_another_encoding": lines("7,n7,7,2024-01-01,xyz\n").replace(b"xyz", b"\xe9t\xe9"),
}


@pytest.mark.parametrize("name", FILES)
def test_queries_give_what_they_would_give_in_memory(tmp_path, name):
    python = interpreter("science")
    if python is None or subprocess.run([python, "-I", "-c", "import duckdb"], capture_output=True).returncode:
        pytest.skip("no environment `science` with duckdb")
    path = tmp_path / "table.csv"
    path.write_bytes(FILES[name])
    ended = subprocess.run([python, "-I", "-B", "-c", DRIVER, RUNNER, path, json.dumps(QUERIES)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    large, whole = json.loads(ended.stdout)
    assert (large["large"], whole["large"], whole["said"]) == (True, False, None)
    assert large["said"].startswith("the table of table.csv is too large for memory (it would take about ")
    assert large["answers"] == whole["answers"] and large["bad"] == whole["bad"]
