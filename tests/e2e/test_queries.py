# SPDX-License-Identifier: Apache-2.0
"""SQL over the tables of a run: what a query sees, what it gives, what it may not say, and what it says where it fails."""
import json

import harness
import pytest

SALES = """date,region,product,sales,units
2024-01-15,north,anvil,120.5,3
2024-01-20,south,bolt,80.0,10
2024-02-03,north,bolt,210.25,21
2024-02-18,,anvil,99.9,
"""
KINDS = "product,kind\nanvil,heavy\nbolt,light\n"


@pytest.fixture
def ask(science):
    """Runs code over two tables, and gives its result."""
    files = [word for name, text in (("sales.csv", SALES), ("kinds.csv", KINDS)) for word in ("--file", science.file(name, text))]
    return lambda code, *options: science.run(code, "--profile", "analysis", *files, *options)


def text_of(result):
    assert result.outcome == "ok", result.error
    return result.text


TOLD = "[*map(tuple, found.itertuples(index=False))], [*map(str, found.dtypes)]"


@pytest.mark.quick
def test_a_query_joins_and_groups_tables_by_their_names(ask):
    query = 'select kind, sum(units) as units, max("date") as last from "sales.csv" join "kinds.csv" using (product) group by kind order by kind'
    found = text_of(ask(f"found = sql({query!r}); {TOLD}"))
    assert found == "([('heavy', 3.0, Timestamp('2024-02-18 00:00:00')), ('light', 31.0, Timestamp('2024-02-03 00:00:00'))], ['string', 'float64', 'datetime64[ns]'])"


def test_df_is_what_it_is_at_that_moment(ask):
    code = "df = dfs['sales.csv']; df['year'] = df['date'].dt.year; before = len(sql('from df')); df = df[df['units'] > 5]\n"
    assert text_of(ask(code + "before, len(sql('from df where year = 2024')), len(sql('from \"sales.csv\"'))")) == "(4, 2, 4)"


def test_the_result_of_a_step_is_a_table_with_its_index(ask):
    code = "dfs['step'] = dfs['sales.csv'].groupby('region')[['units']].sum(); found = sql('select region, units from step order by 1'); "
    assert text_of(ask(code + TOLD)) == "([('north', 24.0), ('south', 10.0)], ['string', 'float64'])"


def test_types_are_those_of_tables(ask):
    query = "select sum(i) s, any_value(i is null) b, [1, 2] l, timestamp '2024-01-02' - timestamp '2024-01-01' t, sum(i * 10::hugeint ** 30) h, null n from range(3) r(i)"
    assert text_of(ask(f"found = sql({query!r}); [*map(str, found.dtypes)], [*map(str, found.iloc[0, :4])]")) == (
        "(['int64', 'bool', 'string', 'float64', 'float64', 'float64'], ['3', 'False', '1, 2', '86400.0'])"
    )


@pytest.mark.parametrize(
    "query, sentence",
    [
        ("select nope from df", 'the query cannot be run: Referenced column "nope" not found'),
        ("selec 1", 'the query cannot be read: syntax error at or near "selec"'),
        ("from nowhere", "no table is called 'nowhere'; there are \"kinds.csv\", \"sales.csv\", df"),
        ("from sales.csv", "no table is called 'sales.csv'; there are \"kinds.csv\", \"sales.csv\", df (with the double quotes)"),
        ("drop table df", "sql only reads: this is no SELECT. Write one SELECT over the tables that are there."),
        ("select 1; select 2", "sql takes one statement, and here are 2. Write one SELECT"),
        ("(select " * 300 + "1" + ")" * 300, "the query cannot be read: it is nested too deeply"),
        ("select '1'::bit as b", "the column 'b' is of the type BIT, which tables do not have: cast it to text"),
        ("select date 'infinity' as d", "a moment of the result is before 1677, after 2262 or infinite: cast it to text"),
        ("select repeat('x', -1)::int", "the query cannot be run: Could not convert string"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_sentence(ask, query, sentence):
    error = ask(f"sql({query!r})").error
    assert error["type"] == "SQLError" and error["message"].startswith(sentence) and "\n" not in error["message"]


def test_memory_ends_by_the_limit_of_the_run(ask):
    result = ask("sql(\"select list(repeat('x', 1000) || i) from range(10000000) t(i)\")", "--limit", "cpu_ms=60s", "--timeout", "120")
    assert result.outcome == "memory_limit" and "memory_bytes" in (result.error["hint"] or "") + result.error["message"]


def test_time_ends_by_the_limit_of_the_run(ask):
    assert ask("sql('select sum(sqrt(i)) from range(10000000000000) t(i)')", "--limit", "cpu_ms=1s", "--timeout", "5min").outcome == "cpu_limit"


@pytest.fixture(scope="module")
def large(common_directory):
    """A table of 100 MB."""
    path = harness.new_directory(common_directory, "large") / "large.csv"
    lines = "".join(f"{i % 7},{'abc'[i % 3]},{i % 50}.5\n" for i in range(100000))
    path.write_text("id,name,value\n" + lines * 110)
    path.parent.chmod(0o755)
    yield path
    path.unlink()


LITTLE = ("--memory", "192M", "--limit", "cpu_ms=60s", "--timeout", "10min")


def test_a_table_too_large_for_memory_is_read_in_parts(science, large):
    query = "select name, count(*) as n, sum(value) as s from df group by name order by name"
    result = science.run(f"found = sql({query!r}); [*map(tuple, found.itertuples(index=False))]", "--profile", "analysis", "--file", large, *LITTLE)
    counts = {name: [0, 0.0] for name in "abc"}
    for i in range(100000):
        counts["abc"[i % 3]][0] += 110
        counts["abc"[i % 3]][1] += 110 * (i % 50 + 0.5)
    assert text_of(result) == repr([(name, *counts[name]) for name in "abc"])


@pytest.mark.parametrize("code", ["df['value'].sum()", "len(df)", "col(df, 'name')", "df + 1", "pd.concat([df])", "print(df)"])
def test_code_that_takes_it_for_a_frame_is_told_what_to_do(science, large, code):
    result = science.run(code, "--profile", "analysis", "--file", large, *LITTLE)
    assert (result.outcome, result.error["type"]) == ("error", "TableTooLarge"), result.error
    assert result.error["message"].startswith("the table of large.csv is too large for memory (it would take about ")
    assert 'sql("select ...")' in result.error["message"] and "192 MiB" in result.error["message"]


@pytest.mark.parametrize("setting", [(), ("--session",)], ids=["run", "session"])
def test_no_file_of_the_run_is_taken_for_a_module(science, setting):
    """What the runner loads late, it loads from where Python is."""
    files = [word for name in ("duckdb.py", "pyarrow.py", "openpyxl.py") for word in ("--file", science.file(name, "print('BREACH', flush=True)"))]
    if setting:
        session = science.call("session", "new", "--json", "--profile", "analysis", "--env", "science", *files)
        made = json.loads(session.stdout)["session_id"]
        said = science.call("run", "--session", made, "-c", "sql('select 40 + 2 as a').a[0]").stdout
        assert science.call("session", "rm", made).returncode == 0
    else:
        said = text_of(science.run("sql('select 40 + 2 as a').a[0]", "--profile", "analysis", *files))
    assert "42" in said and "BREACH" not in said


def test_nobody_else_pays_for_it(ask, science):
    """It is in no zygote."""
    assert text_of(science.run("import sys; 'duckdb' in sys.modules")) == "False"


def test_where_there_is_no_duckdb_it_says_what_to_install(tmp_path):
    """The runner by itself, in a Python that lacks the package."""
    import pathlib
    import subprocess

    runner = pathlib.Path(__file__).parents[2] / "src" / "runner" / "python"
    code = f"import sys, types; package = types.ModuleType('adder_runner'); package.__path__ = [{str(runner)!r}]; sys.modules['adder_runner'] = package\n"
    code += "from adder_runner import queries\ntry: queries.sql('select 1')\nexcept queries.SQLError as error: print(error)"
    told = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", code], capture_output=True, text=True).stdout
    assert told.startswith("sql needs the package duckdb, which this environment does not have:") and told.count("\n") == 1
