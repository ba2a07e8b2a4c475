# SPDX-License-Identifier: Apache-2.0
"""Analysis runs: how tables are read and given to code, what the report says of any answer, and that no answer breaks it."""
import json

import pytest

import harness

MIME = "application/vnd.adder.analysis+json"
SALES = """date,region,product,sales,units
2024-01-15,north,anvil,120.5,3
2024-01-20,south,bolt,80.0,10
2024-02-03,north,bolt,210.25,21
2024-02-18,east,anvil,99.9,
2024-04-02,south,anvil,310.0,8
2024-05-11,north,anvil,45.0,1
2024-05-11,north,anvil,45.0,1
"""
TABLES = [{"name": "sales", "file": "sales.csv"}]


class Analyst:
    """Runs analyses of one table, unless others are given."""

    def __init__(self, adder):
        self.adder = adder
        self.sales = adder.file("sales.csv", SALES)

    def run(self, code, *options, files=None, **form):
        asked = self.adder.file("analysis.json", json.dumps({"mode": "run", "tables": TABLES, **form}))
        given = [word for file in files or [self.sales] for word in ("--file", file)]
        profile = [] if "--profile" in options else ["--profile", "analysis"]
        return self.adder.run(code, *profile, *given, "--analysis", asked, *options)

    def report(self, code, *options, outcome="ok", **form):
        result = self.run(code, *options, **form)
        assert result.outcome == outcome, result.error
        assert set(result.displays[-1]) == {MIME, "text/plain"} and "\n" not in result.displays[-1]["text/plain"]
        return result.displays[-1][MIME]

    def answer(self, code, *options, **form):
        found = self.report(code, *options, **form)["result"]
        assert set(found) == {"kind", "shape", "columns", "hidden_columns", "rows", "hidden_rows", "markdown", "value", "text"}
        return found


@pytest.fixture
def analyst(science):
    return Analyst(science)


# ---- what a run tells ----


@pytest.mark.quick
def test_a_report_says_how_it_was_read_what_the_answer_is_and_whether_it_holds(analyst):
    code = "result = df.groupby(by_quarter(df, 'date'))['sales'].sum()"
    expect = [{"check": "dates", "column": "quarter", "every": "quarter"}, {"check": "rows", "least": 3}]
    result = analyst.run(code, expect=expect)
    report = result.displays[-1][MIME]
    assert (result.outcome, result.text) == ("ok", "2 rows x 2 columns")
    assert (report["mode"], [table["name"] for table in report["tables"]]) == ("run", ["sales"])
    table = report["tables"][0]
    assert (table["file"], table["rows"], table["delimiter"], table["partial"]) == ("sales.csv", 7, ",", False)
    assert [(column["name"], column["kind"], column["nulls"]) for column in table["columns"]] == [
        ("date", "date", 0),
        ("region", "text", 0),
        ("product", "text", 0),
        ("sales", "number", 0),
        ("units", "integer", 1),
    ]
    assert table["sample"][3] == ["2024-02-18", "east", "anvil", 99.9, None] and len(table["sample"]) == 7
    answer = report["result"]
    assert (answer["kind"], answer["shape"], answer["rows"]) == ("series", [2, 2], [["2024Q1", 510.65], ["2024Q2", 400.0]])
    assert answer["markdown"].splitlines()[:3] == ["| quarter | sales |", "| --- | --- |", "| 2024Q1 | 510.65 |"]
    assert [test["ok"] for test in report["tests"]] == [True, False]
    assert [test["check"] for test in report["tests"]] == expect
    assert report["tests"][1]["message"] == "there are 2 rows, not at least 3"
    assert result.displays[-1]["text/plain"] == "sales: 7 rows; the result is series: 2 rows x 2 columns; 1 of 2 tests hold"


def test_a_scan_runs_no_code(analyst):
    result = analyst.run("print('ran')", mode="scan", sample_rows=2)
    report = result.displays[-1][MIME]
    assert (result.outcome, result.stdout, report["result"], report["tests"]) == ("ok", "", None, [])
    assert len(report["tables"][0]["sample"]) == 2 and len(report["tables"][0]["columns"]) == 5


def test_tables_are_there_by_name_and_read_as_was_said(analyst, science):
    other = science.file("other.txt", "name;size\na;1,5\nb;2,5\n")
    tables = [{"name": "sizes", "file": "other.txt", "options": {"delimiter": ";", "decimal": ",", "header": None}}, *TABLES]
    code = "assert df is dfs['sizes'] and list(dfs) == ['sizes', 'sales']\n[float(df['size'].sum()), len(dfs['sales'])]"
    report = analyst.report(code, files=[analyst.sales, other], tables=tables)
    assert report["result"]["value"] == [4.0, 7] and [table["name"] for table in report["tables"]] == ["sizes", "sales"]


def test_checks_see_tables_as_they_were_read(analyst):
    code = "df['extra'] = 1\ndel df['units']\nresult = len(df.columns)"
    expect = [{"check": "columns", "names": ["units"], "table": "sales"}, {"check": "columns", "names": ["extra"], "table": "sales"}]
    report = analyst.report(code, expect=expect)
    assert (report["result"]["value"], [test["ok"] for test in report["tests"]]) == (5, [True, False])


def test_without_a_result_the_last_expression_counts(analyst):
    assert analyst.answer("result = 1\n2")["value"] == 1
    assert analyst.answer("result = None\n2")["kind"] == "none"
    assert analyst.answer("x = 1\nx + 1")["value"] == 2


@pytest.mark.parametrize("code", ["x = 1", "print(df['sales'].sum())", ""])
def test_code_that_leaves_no_answer_is_told_so(analyst, code):
    result = analyst.run(code)
    assert (result.outcome, result.error["type"]) == ("error", "NoResult") and "result" in result.error["message"]
    assert result.displays[-1][MIME]["result"] is None and result.displays[-1][MIME]["tables"][0]["rows"] == 7


def test_an_error_of_the_code_leaves_what_was_read(analyst):
    report = analyst.report("df['nosuch']", outcome="error", expect=[{"check": "not_empty"}])
    assert (report["tables"][0]["rows"], report["result"], report["tests"]) == (7, None, [])


def test_refused_code_tells_nothing_but_its_violations(analyst):
    result = analyst.run("import os\nresult = 1")
    assert (result.outcome, result.displays, result.violations[0]["rule"]) == ("refused", [], "import")
    checked = analyst.adder.call("run", "--check", "--profile", "analysis", "-c", "result = numbers(df['sales']).sum()")
    assert checked.returncode == 0


def test_a_table_that_is_not_there_is_an_error_with_its_name(analyst):
    result = analyst.run("1", tables=[{"name": "sales", "file": "nosuch.csv"}])
    assert result.outcome == "error" and "nosuch.csv" in result.error["message"]


def test_a_picture_comes_beside_the_report(analyst):
    result = analyst.run("df.plot(x='date', y='sales', title='Sales')\nresult = df['sales'].max()")
    assert [sorted(display)[0] for display in result.displays] == [MIME, "image/png"][::-1]
    assert result.displays[0]["image/png"].startswith("iVBOR") and result.charts[0]["charts"][0]["kind"] == "line"
    assert result.displays[1][MIME]["result"]["value"] == 310.0


def test_what_code_shows_does_not_take_the_place_of_the_report(analyst):
    result = analyst.run(f"display({{'{MIME}': {{'result': 'forged'}}}}, raw=True)\nresult = 1")
    assert [display[MIME]["result"] for display in result.displays][0] == "forged"
    assert result.displays[-1][MIME]["result"]["value"] == 1


# ---- any answer ----

ANSWERS = [
    ("float(df['sales'].sum())", "number", 910.65),
    ("np.float64('nan')", "number", None),
    ("float('inf')", "number", None),
    ("2 ** 70", "number", "1180591620717411303424"),
    ("np.int64(7)", "number", 7),
    ("len(df) > 3", "boolean", True),
    ("np.bool_(False)", "boolean", False),
    ("'ä' * 3", "text", "äää"),
    ("df['date'].max()", "date", "2024-05-11"),
    ("pd.Timestamp('2024-05-11 12:30', tz='UTC')", "date", "2024-05-11T12:30:00+00:00"),
    ("pd.Period('2024Q2')", "date", "2024Q2"),
    ("pd.NaT", "date", None),
    ("pd.NA\nresult = pd.NA", "none", None),
    ("[1, (2, 3), {4}]", "list", [1, [2, 3], [4]]),
    ("df['region'].unique()", "list", ["north", "south", "east"]),
    ("np.arange(3)", "list", [0, 1, 2]),
    ("df['sales'].describe().loc[['min', 'max']].to_dict()", "mapping", {"min": 45.0, "max": 310.0}),
    ("{1: [None, float('nan')], ('a', 2): {'x': pd.Timestamp('2024-01-01')}}", "mapping", {"1": [None, None], "a / 2": {"x": "2024-01-01"}}),
    ("{'by': df.groupby('region')['sales'].sum(), 'all': df[['units']].head(1)}", "mapping", {"by": {"east": 99.9, "north": 420.75, "south": 390.0}, "all": [{"units": 3}]}),
    ("pd.Interval(0, 1)", "other", None),
    ("pd.Timedelta('1 days')", "other", None),
    ("np.array(5)", "number", 5),
    ("1 + 2j", "other", None),
    ("pd.DataFrame", "other", None),
]


@pytest.mark.parametrize("code, kind, value", ANSWERS, ids=[code[:40] for code, _, _ in ANSWERS])
def test_answers_of_each_kind(analyst, code, kind, value):
    answer = analyst.answer(code)
    assert (answer["kind"], answer["value"]) == (kind, value)
    assert answer["text"] and answer["shape"] is None


FRAMES = [
    ("df[['region', 'sales']].head(2)", ["region", "sales"], [["north", 120.5], ["south", 80.0]]),
    ("df.sort_values('sales').head(1)[['sales']]", ["sales"], [[45.0]]),
    ("df.groupby(['region', 'product'])['units'].sum().head(1)", ["region", "product", "units"], [["east", "anvil", 0]]),
    ("df.pivot_table(index='region', columns='product', values='sales', aggfunc='sum').head(1)", ["region", "anvil", "bolt"], [["east", 99.9, None]]),
    ("df.groupby('region').agg({'sales': ['min', 'max']}).tail(1)", ["region", "sales / min", "sales / max"], [["south", 80.0, 310.0]]),
    ("df['region'].value_counts().head(1)", ["region", "count"], [["north", 4]]),
    ("pd.Series({2020: 1, 2021: 2})", ["index", "value"], [[2020, 1], [2021, 2]]),
    ("pd.Series([1.5, None])", ["value"], [[1.5], [None]]),
    ("pd.DataFrame({'a': [1]}, index=['x'])", ["index", "a"], [["x", 1]]),
    ("pd.DataFrame([[1, 2]], columns=['a', 'a'])", ["a", "a"], [[1, 2]]),
    ("pd.DataFrame({'c': pd.cut(df['sales'], [0, 100, 400])}).head(1)", ["c"], [["(100, 400]"]]),
    ("pd.DataFrame({'l': [[1, 2], {'a': 1}]})", ["l"], [["[1, 2]"], ["{'a': 1}"]]),
    ("np.eye(2)", ["0", "1"], [[1, 0], [0, 1]]),
    ("pd.DataFrame({'a': []})", ["a"], []),
    ("pd.DataFrame()", [], []),
]


@pytest.mark.parametrize("code, names, rows", FRAMES, ids=[code[:40] for code, _, _ in FRAMES])
def test_tables_and_series(analyst, code, names, rows):
    answer = analyst.answer(code)
    assert ([column["name"] for column in answer["columns"]], answer["rows"]) == (names, rows)
    assert answer["shape"] == [len(rows), len(names)] and answer["kind"] in ("table", "series")


def test_a_preview_has_ten_rows_and_says_what_is_hidden(analyst):
    answer = analyst.answer("pd.DataFrame({'n': range(1000)})")
    assert ([row[0] for row in answer["rows"]], answer["hidden_rows"], answer["shape"]) == (list(range(10)), 990, [1000, 1])
    assert answer["markdown"].count("\n") == 13 and "the first 10 are shown" in answer["markdown"]
    assert len(analyst.answer("pd.DataFrame({'n': range(1000)})", preview_rows=3)["rows"]) == 3
    assert analyst.answer("df", preview_rows=0)["rows"] == []


# ---- answers that mean no good ----

HOSTILE = [
    "x = []\nx.append(x)\nresult = [x] * 1000",
    "x = {}\nx['x'] = x\nresult = x",
    "result = [list(range(1000))] * 1000",
    "result = {i: 'x' * 1000 for i in range(100000)}",
    "result = 'x' * 10000000",
    "result = 10 ** 100000",
    "result = pd.DataFrame({'c' * 1000000: [1], 'd': ['y' * 1000000]})",
    "result = pd.DataFrame(np.zeros((3, 60000)))",
    "result = pd.DataFrame({f'{i}' * 5000: ['z' * 5000] * 20 for i in range(2000)})",
    "result = pd.DataFrame({'n': np.arange(3000000)})",
    "result = pd.DataFrame([[object()]])",
    "result = pd.Series(['\\ud800', '\\x00', '\\x1b[2J'])",
    "class Odd(pd.DataFrame):\n    @property\n    def columns(self):\n        return 1 / 0\n    @property\n    def shape(self):\n        return 'wide'\nresult = Odd({'a': [1]})",
    "class Odd(dict):\n    def items(self):\n        return 1 / 0\n    def keys(self):\n        return []\nresult = Odd(a=1)",
    "class Odd:\n    dtype = ndim = shape = columns = 1\nresult = Odd()",
    "class Odd(list):\n    pass\nresult = Odd([Odd()])",
    "pd.DataFrame.shape = 1\nresult = df",
    "pd.Series.tolist = 1\nresult = df",
    "def gone(*x, **y):\n    assert False\npd.DataFrame.isna = pd.Series.isna = gone\nresult = df",
]


@pytest.mark.parametrize("code", HOSTILE, ids=[str(number) for number in range(len(HOSTILE))])
def test_no_answer_breaks_the_report(analyst, code):
    expect = [{"check": "not_empty"}, {"check": "no_missing"}, {"check": "value", "equals": 1}, {"check": "rows", "least": 1}]
    result = analyst.run(code, expect=expect)
    assert result.outcome == "ok", result.error
    report = result.displays[-1][MIME]
    assert len(report["tests"]) == 4 and report["result"]["kind"] and report["result"]["text"]
    assert len(json.dumps(report, ensure_ascii=False).encode()) < 1 << 20
    assert not result.files, "nothing went to a file in place of the report"


def test_a_very_wide_table_is_cut_in_a_known_way(analyst, science):
    width = 1500
    wide = science.file("wide.csv", ",".join(f"column_{i}" for i in range(width)) + "\n" + (",".join(["x" * 10] * width) + "\n") * 4)
    report = analyst.report("result = df", files=[wide], tables=[{"name": "wide", "file": "wide.csv"}])
    table, answer = report["tables"][0], report["result"]
    assert len(table["columns"]) + table["columns_hidden"] == width and table["columns_hidden"] > 0
    assert len(answer["columns"]) + answer["hidden_columns"] == width and answer["shape"] == [4, width]


def test_describing_counts_to_the_run(analyst):
    code = "class Slow(list):\n    def copy(self):\n        return self\n    def tolist(self):\n        return self\nresult = pd.Series(range(3))\ndef forever(*x, **y):\n    for i in range(10000000):\n        for j in range(10000000):\n            pass\npd.Series.tolist = forever"
    result = analyst.run(code, "--limit", "cpu_ms=500ms")
    assert (result.outcome, result.displays) == ("cpu_limit", [])


def test_what_code_left_behind_is_under_the_rules_while_it_is_described(analyst):
    """Code's own methods are called when the answer is described: the guard's events hold there too."""
    code = "def look(self, *x, **y):\n    return np.lib.npyio.DataSource().open('/etc/passwd')\npd.Series.tolist = look\nresult = df['sales']"
    result = analyst.run(code)
    assert result.outcome in ("refused", "ok") and "root:" not in json.dumps(result.fields)


# ---- limits ----

LIMITS = [
    ("[bytearray(10 ** 7) for i in range(1000)]", (), "memory_limit", ["512 MiB", "memory_bytes"], ["memory_bytes", "16 GiB"]),
    # On a busy host a second of processor time takes longer than one.
    ("for i in range(10 ** 7):\n    for j in range(10 ** 7):\n        pass", ("--timeout", "5min"), "cpu_limit", ["5 s", "cpu_ms"], ["cpu_ms", "10 min"]),
    ("for i in range(10 ** 7):\n    for j in range(10 ** 7):\n        pass", ("--timeout", "300ms"), "timeout", ["300 ms", "wall_ms"], ["wall_ms", "10 min"]),
]


@pytest.mark.parametrize("code, options, outcome, says, raises", LIMITS, ids=["memory", "cpu", "wall"])
def test_a_limit_is_named_with_its_number_and_what_to_raise(analyst, code, options, outcome, says, raises):
    result = analyst.run(code, *options)
    assert result.outcome == outcome
    assert all(word in result.error["message"] + (result.error["hint"] if result.error["type"] == "MemoryError" else "") for word in says), result.error
    assert all(word in result.error["hint"] for word in raises), result.error
    # A MemoryError is the code's own end, and the report of what was read still comes.
    assert [display[MIME]["result"] for display in result.displays] in ([], [None])


def test_more_can_be_asked_for(analyst):
    code = "x = np.ones(100_000_000)\nresult = float(x.sum())"
    result = analyst.run(code, "--memory", "4G", "--limit", "cpu_ms=60s", "--timeout", "60")
    assert result.displays[-1][MIME]["result"]["value"] == 1e8
    result = analyst.run(code, "--memory", "17G")
    assert result.outcome == "failed" and "maximum in the profile, 16 GiB" in result.error["message"]


# ---- what is asked for ----


def test_all_that_is_wrong_is_told_at_once(analyst):
    wrong = {
        "mode": "look",
        "rows": 3,
        "preview_rows": 101,
        "tables": [{"name": "a", "file": "../x"}, {"name": "a", "options": {"delimiter": ";;", "decimals": "."}}],
        "expect": [{"check": "columns"}, {"check": "colour"}, {"check": "order", "by": 1, "direction": "up"}, {"check": "rows", "table": "b", "least": -1}, {"check": "range", "column": "a"}, 3],
    }
    asked = analyst.adder.file("wrong.json", json.dumps(wrong))
    ended = analyst.adder.call("run", "--profile", "analysis", "--analysis", asked, "-c", "1")
    assert ended.returncode != 0
    for words in (
        "mode must be one of: scan, run",
        "rows is unknown (there are: mode, tables, sample_rows, preview_rows, expect)",
        "preview_rows must be a whole number from 0 to 100",
        "tables[0].file must be the name of a file that is put in",
        "tables[1] lacks file",
        "tables[1] has the name of another table",
        "tables[1].options.delimiter must be one character",
        "tables[1].options.decimals is unknown (there are: delimiter, quote, encoding, header, decimal, thousands, day_first, table)",
        "expect[0] lacks names",
        "expect[1] must be an object whose check is one of: columns, shape, rows,",
        "expect[2].by must be a text or a list of texts",
        "expect[2].direction must be one of: asc, desc",
        "expect[3].table names a table that is not given: b",
        "expect[3].least must be a whole number from 0",
        "expect[4] (range) needs one of: least, most",
        "expect[5] must be an object whose check",
    ):
        assert words in ended.stderr, words


def test_the_whole_result_is_a_file_where_that_is_asked_for(analyst):
    code = "display(df)\nresult = df['sales']"
    assert analyst.report(code)["file"] is None
    result = analyst.run(code, "--tables", "csv", "--limit", "files=64")
    assert result.displays[-1][MIME]["file"] == "tmp/output/table-1.csv" and [file["name"] for file in result.files] == ["tmp/output/table-1.csv"]
    exported = analyst.adder.call("history", "table", result.run_id).stdout.split()
    assert exported[0] == "sales" and len(exported) == 1 + result.displays[-1][MIME]["result"]["shape"][0]
    assert analyst.run("1 / 0", "--tables", "csv", "--limit", "files=64").files == []
    lost = analyst.run(code, "--tables", "csv", "--limit", "files=64", "--limit", "table_bytes=10")
    assert lost.outcome == "ok" and lost.displays[-1][MIME]["file"] is None and "(table_bytes)" in lost.warnings[0]


def test_only_profiles_with_tables_take_one(analyst):
    result = analyst.run("1", "--profile", "standard")
    assert result.outcome == "failed" and "takes no analysis" in result.error["message"]


def test_cells_take_none(analyst, sessions):
    session = sessions.new("--profile", "analysis")
    asked = analyst.adder.file("analysis.json", json.dumps({"mode": "run", "tables": TABLES}))
    result = analyst.adder.json("--session", session, "--analysis", asked, "-c", "1")
    assert result.outcome == "failed" and "omit the session" in result.error["message"]


def test_a_yes_is_for_the_analysis_as_well(make_adder):
    own = make_adder("[environment]\ndefault = science\n")
    if own.call("env", "show", "science").returncode != 0:
        pytest.skip("no environment `science`")
    own.environment = "science"
    folder = own.config / "profiles"
    folder.mkdir()
    (folder / "asks.conf").write_text("[profile]\ntitle = t\napproval = always\n[guard]\ntables = true\nmodules = pd=pandas\n")
    for path in (folder, folder / "asks.conf"):
        own.own(path)
    analyst = Analyst(own)
    asked = analyst.run("result = len(df)", "--profile", "asks")
    assert asked.outcome == "approval_required"
    shown = json.loads(own.call("approval", "show", asked.approval_id, "--json").stdout)
    assert shown["analysis"]["tables"] == TABLES
    assert '"file":"sales.csv"' in own.call("approval", "show", asked.approval_id).stdout.replace("\n", "").replace(" ", "")
    assert own.call("approval", "approve", asked.approval_id).returncode == 0
    other = analyst.run("result = len(df)", "--profile", "asks", "--approval", asked.approval_id, expect=[{"check": "not_empty"}])
    assert other.outcome == "approval_required" and other.approval_id != asked.approval_id
    same = analyst.run("result = len(df)", "--profile", "asks", "--approval", asked.approval_id)
    assert same.displays[-1][MIME]["result"]["value"] == 7


def test_the_record_says_what_was_asked(analyst):
    result = analyst.run("result = 1", expect=[{"check": "not_empty"}])
    shown = json.loads(analyst.adder.call("history", "show", result.run_id, "--json").stdout)
    assert shown["more"]["analysis"]["tables"] == TABLES and shown["more"]["analysis"]["expect"] == [{"check": "not_empty"}]


# ---- what code has for columns ----

COLUMNS = [
    ("col(df, 'Sales').sum()", 910.65),
    ("[col(df, ' UNITS ').name, col(pd.DataFrame({'Unit Price': [1], 'b': [2]}), 'unit_price').name]", ["units", "Unit Price"]),
    ("numbers(pd.Series(['1,234.50', '$5', '12%', '(3)', 'n/a', None, ' 7 ', '1.234,5', '1e3', '-$2', '1,2,3'])).tolist()", [1234.5, 5, 12, -3, None, None, 7, 1234.5, 1000, -2, None]),
    ("numbers([True, 2]).tolist()", [1, 2]),
    ("numbers(df['units']).dtype.name", "float64"),
    ("dates(pd.Series(['2024-01-05', '3/4/2024', 'x', None])).tolist()", ["2024-01-05", "2024-03-04", None, None]),
    ("dates(pd.Series(['3/4/2024']), day_first=True)[0]", "2024-04-03"),
    ("dates([2023, 2024]).tolist()", ["2023-01-01", "2024-01-01"]),
    ("dates(df['date']).equals(df['date'])", True),
    ("change(pd.Series([100, 110, 0, 5, 10])).round(3).tolist()", [None, 0.1, -1, None, 1]),
    ("change(pd.Series(['10', '15'])).tolist()", [None, 0.5]),
    ("change(pd.Series([1, 10, 2, 30]), by=['a', 'b', 'a', 'b']).tolist()", [None, None, 1, 2]),
    ("change(pd.Series([-10, -5])).tolist()", [None, -0.5]),
    ("df.groupby(by_month(df, 'Date'))['sales'].sum().round(2).to_dict()", {"2024-01": 200.5, "2024-02": 310.15, "2024-04": 310, "2024-05": 90}),
    ("df.groupby(['region', by_quarter(df, 'date')])['sales'].sum().to_dict()", {"east / 2024Q1": 99.9, "north / 2024Q1": 330.75, "north / 2024Q2": 90, "south / 2024Q1": 80, "south / 2024Q2": 310}),
    ("df.groupby(by_year(df, df['date']))['units'].sum().to_dict()", {"2024": 44}),
    ("by_month(pd.DataFrame({'d': ['2024-01-31', 'x']}), 'd').astype(str).tolist()", ["2024-01", "NaT"]),
    ("by_quarter(pd.DataFrame({'d': [pd.Period('2024-02')]}), 'd').astype(str).tolist()", ["2024Q1"]),
]


def test_columns_are_handled_safely(analyst):
    lines = "\n".join(f"result.append({code})" for code, _ in COLUMNS)
    assert analyst.answer(f"result = []\n{lines}")["value"] == [value for _, value in COLUMNS]


def test_a_column_that_is_not_there_is_told_with_those_that_are(analyst):
    result = analyst.run("result = col(df, 'revenue')")
    assert (result.outcome, result.error["type"], result.error["line"]) == ("error", "KeyError", 1)
    assert "'revenue'" in result.error["message"] and "'region', 'product', 'sales'" in result.error["message"]
    twice = analyst.run("result = col(pd.DataFrame({'A b': [1], 'a_b': [2]}), 'AB')")
    assert "several columns" in twice.error["message"]


WAYS_OUT = [
    "col.__globals__",
    "result = getattr(col, '__glo' + 'bals__')",
    "result = '{0.__globals__}'.format(col)",
    "result = df.query('@col.__globals__ == 1')",
    "result = col.__code__",
    "match col:\n    case object(__globals__=g):\n        result = g",
    "result = pd.Series([col]).map(lambda f: f.__globals__)",
    "result = col.func_globals",
    "import adder_runner.columns",
    "from adder_runner import guarded",
    "result = numbers.__defaults__",
    "result = by_month.__kwdefaults__",
    "col.__code__ = numbers.__code__",
]


@pytest.mark.parametrize("code", WAYS_OUT)
def test_functions_for_columns_are_no_way_around_the_guard(analyst, code):
    result = analyst.run(code)
    assert result.outcome == "refused" or (result.outcome, result.error["type"]) == ("error", "PermissionError"), result.error


def test_other_profiles_have_none_of_it(adder):
    assert adder.run("'col' in globals()").text == "False"
    assert adder.run("col", "--profile", "compute").outcome == "error"
