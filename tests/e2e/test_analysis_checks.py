# SPDX-License-Identifier: Apache-2.0
"""The checks that the answer of an analysis is held against: where each holds, where it does not, and what it says then."""
import json

import pytest

MIME = "application/vnd.adder.analysis+json"
GIVEN = "date,region,sales,units\n2024-01-15,north,120.5,3\n2024-04-20,south,80.0,10\n2024-07-03,north,210.25,\n"

TABLE = """result = pd.DataFrame({
    "quarter": pd.PeriodIndex(["2023Q4", "2024Q1", "2024Q2"], freq="Q"), "sales": [120.5, 80.0, 210.25],
    "region": ["north", "south", "north"], "n": [3, 2, 1], "gap": [1.0, None, 3.0], "text": ["1", "x", "2"],
    "month": ["2024-01", "2024-02", "2024-04"], "day": pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-02"]),
})"""

# (check, None where it holds or words of its message)
OF_TABLE = [
    ({"check": "columns", "names": ["quarter", "sales"]}, None),
    ({"check": "columns", "names": ["Sales", "total"]}, "'Sales', 'total' are not among the columns; there are: 'quarter', 'sales'"),
    ({"check": "columns", "names": ["units"], "table": "given"}, None),
    ({"check": "columns", "names": ["gap"], "table": "given"}, "'gap' is not among the columns; there are: 'date', 'region'"),
    ({"check": "shape", "rows": 3, "columns": 8}, None),
    ({"check": "shape", "rows": None, "columns": 3}, "there are 3 rows and 8 columns, not 3 columns"),
    ({"check": "shape", "rows": 3, "table": "given"}, None),
    ({"check": "rows", "least": 1, "most": 3}, None),
    ({"check": "rows", "most": 2}, "there are 3 rows, not at most 2"),
    ({"check": "length", "equals": 3}, None),
    ({"check": "length", "least": 4}, "there are 3 items, not at least 4"),
    ({"check": "not_empty"}, None),
    ({"check": "kind", "is": "table"}, None),
    ({"check": "kind", "is": ["number", "text"]}, "the result is a table, not number or text"),
    ({"check": "type", "column": "sales", "is": "number"}, None),
    ({"check": "type", "column": "n", "is": "number"}, None),
    ({"check": "type", "column": "n", "is": "integer"}, None),
    ({"check": "type", "column": "gap", "is": "integer"}, None),
    ({"check": "type", "column": "quarter", "is": "date"}, None),
    ({"check": "type", "column": "day", "is": "date"}, None),
    ({"check": "type", "column": "text", "is": "number"}, "'text' is of type text (object), not number: '1', 'x', '2'"),
    ({"check": "type", "column": "date", "is": "date", "table": "given"}, None),
    ({"check": "order", "by": "quarter", "direction": "asc"}, None),
    ({"check": "order", "by": ["n"], "direction": "desc"}, None),
    ({"check": "order", "by": "sales", "direction": "desc"}, "not descending by 'sales': row 0 has 120.5 where 210.25 belongs"),
    ({"check": "order", "by": ["day", "n"], "direction": "asc"}, "row 0 has 3 where 2 belongs"),
    ({"check": "order", "by": "gap", "direction": "asc"}, "row 1 has missing where 3.0 belongs"),
    ({"check": "unique", "columns": ["quarter"]}, None),
    ({"check": "unique", "columns": ["region", "n"]}, None),
    ({"check": "unique", "columns": ["region"]}, "1 rows repeat what is in 'region' of others"),
    ({"check": "numeric", "columns": ["sales", "n", "gap"]}, None),
    ({"check": "numeric", "columns": ["text"]}, "the column 'text' does not hold numbers but object: '1', 'x', '2'"),
    ({"check": "no_missing", "columns": ["sales"]}, None),
    ({"check": "no_missing"}, "1 value is missing (NaN) in 'gap', first in row 1"),
    ({"check": "no_missing", "columns": ["units"], "table": "given"}, "in 'units', first in row 2"),
    ({"check": "range", "column": "sales", "least": 80, "most": 300}, None),
    ({"check": "range", "column": "sales", "least": 100}, "1 value is under 100: 80.0"),
    ({"check": "range", "column": "day", "least": "2024-01-01", "most": "2024-12-31"}, None),
    ({"check": "range", "column": "day", "most": "2024-01-01"}, "over 2024-01-01: '2024-01-02'"),
    ({"check": "range", "column": "region", "least": 1}, "does not hold numbers"),
    ({"check": "value", "column": "sales", "row": -1, "equals": 210.25}, None),
    ({"check": "value", "column": "sales", "row": 1, "equals": 80.4, "tolerance": 0.5}, None),
    ({"check": "value", "column": "sales", "row": 0, "equals": 80}, "it is 120.5, not 80"),
    ({"check": "value", "column": "quarter", "row": 1, "equals": "2024Q1"}, None),
    ({"check": "value", "column": "day", "row": 2, "equals": "2024-01-02"}, None),
    ({"check": "value", "column": "sales", "row": 3, "equals": 80}, "there is no row 3: there are 3"),
    ({"check": "value", "column": "gap", "row": 1, "equals": None}, None),
    ({"check": "value", "equals": [{"sales": 1}]}, "it is"),
    ({"check": "sum", "column": "sales", "equals": 410.75}, None),
    ({"check": "sum", "column": "sales", "equals": 410, "tolerance": 1}, None),
    ({"check": "sum", "column": "n", "equals": 7}, "the column 'n' adds up to 6.0, not 7"),
    ({"check": "same_sum", "column": "sales", "table": "given"}, None),
    ({"check": "same_sum", "column": "n", "table": "given", "table_column": "units"}, "'n' adds up to 6.0, that of the table 'given' to 13.0"),
    ({"check": "dates", "column": "quarter", "every": "quarter"}, None),
    ({"check": "dates", "column": "month", "every": "month"}, "there is no row for the month 2024-03: 3 rows from 2024-01 to 2024-04"),
    ({"check": "dates", "column": "month", "every": "month", "gaps": True}, None),
    ({"check": "dates", "column": "day", "every": "day"}, "the day 2024-01-01 has several rows; one each is wanted"),
    ({"check": "dates", "column": "day", "every": "day", "by": ["region"]}, None),
    ({"check": "dates", "column": "day", "every": "year", "by": "region"}, "has several rows of 'north'"),
    ({"check": "dates", "column": "text", "every": "day"}, "of 'text' is no date"),
    ({"check": "contains", "column": "region", "values": ["north", "south"]}, None),
    ({"check": "contains", "column": "n", "values": [1, 9]}, "9 is not there"),
    ({"check": "only", "column": "region", "values": ["north", "south", "east"]}, None),
    ({"check": "only", "column": "region", "values": ["north"]}, "there are others: 'south'"),
    ({"check": "known", "column": "region", "table": "given"}, None),
    ({"check": "known", "column": "text", "table": "given", "table_column": "region"}, "the table 'given' has no '1', '2', 'x'"),
    ({"check": "distinct", "column": "region", "equals": 2}, None),
    ({"check": "distinct", "column": "region", "least": 3}, "there are 2 different values, not at least 3"),
    ({"check": "matches", "column": "month", "pattern": r"\d{4}-\d\d"}, None),
    ({"check": "matches", "column": "text", "pattern": r"\d"}, "1 do not match"),
    ({"check": "matches", "column": "text", "pattern": "("}, "it cannot be looked at"),
    ({"check": "numeric", "columns": ["nosuch"]}, "there is no column 'nosuch'; there are: 'quarter'"),
    ({"check": "range", "least": 1}, "say which column is meant"),
]

OTHERS = [
    ("42.5", {"check": "value", "equals": 42.5}, None),
    ("42.5", {"check": "value", "equals": 42, "tolerance": 0.4}, "it is 42.5, not 42 (tolerance 0.4)"),
    ("0.1 + 0.2", {"check": "value", "equals": 0.3}, None),
    ("True", {"check": "value", "equals": 1}, "it is True, not 1"),
    ("float('nan')", {"check": "value", "equals": None}, None),
    ("float('nan')", {"check": "no_missing"}, "a value is missing"),
    ("df['sales'].sum()", {"check": "range", "least": 400, "most": 420}, None),
    ("-1", {"check": "range", "least": 0}, "1 value is under 0: -1.0"),
    ("'north'", {"check": "value", "equals": "north"}, None),
    ("'north'", {"check": "value", "equals": "south"}, "it is 'north', not 'south'"),
    ("'north, south'", {"check": "contains", "values": ["south"]}, None),
    ("'north'", {"check": "length", "most": 4}, "there are 5 characters, not at most 4"),
    ("'ab1'", {"check": "matches", "pattern": "[a-z]+"}, "1 do not match [a-z]+: 'ab1'"),
    ("['a', 'b']", {"check": "value", "equals": ["a", "b"]}, None),
    ("['a', 'b']", {"check": "contains", "values": ["c"]}, "'c' is not there"),
    ("['a', 'b']", {"check": "length", "equals": 2}, None),
    ("[1, 2.5]", {"check": "range", "most": 2}, "1 value is over 2: 2.5"),
    ("{'a': 1, 'b': [1.0000000000001]}", {"check": "value", "equals": {"b": [1], "a": 1}}, None),
    ("{'a': 1}", {"check": "contains", "values": ["a"]}, None),
    ("{'a': 1}", {"check": "length", "equals": 2}, "there are 1 items, not exactly 2"),
    ("[]", {"check": "not_empty"}, "the list is empty"),
    ("df[df['units'] > 99]", {"check": "not_empty"}, "the table is empty"),
    ("df.groupby('region')['units'].sum()", {"check": "columns", "names": ["region", "units"]}, None),
    ("df.groupby('region')[['units']].sum().head(1)", {"check": "value", "equals": 3}, None),
    ("df['date'].max()", {"check": "value", "equals": "2024-07-03"}, None),
    ("pd.Period('2024Q1')", {"check": "value", "equals": "2024Q1"}, None),
    ("5", {"check": "columns", "names": ["a"]}, "the result is a number (5), not a table"),
    ("5", {"check": "length", "least": 1}, "the result is a number (5), which has no length"),
    ("pd.DataFrame({'a': [1, 1]})", {"check": "kind", "is": "series"}, "the result is a table, not series"),
    ("df.groupby(by_quarter(df, 'date'))['sales'].sum()", {"check": "dates", "column": "quarter", "every": "quarter"}, None),
    ("df.groupby(by_month(df, 'date'))['sales'].sum()", {"check": "dates", "column": "month", "every": "month"}, "there is no row for the month 2024-02: 3 rows from 2024-01 to 2024-07"),
]


def reported(science, code, expect):
    asked = science.file("checks.json", json.dumps({"mode": "run", "tables": [{"name": "given", "file": "given.csv"}], "expect": expect}))
    result = science.run(code, "--profile", "analysis", "--file", science.file("given.csv", GIVEN), "--analysis", asked)
    assert result.outcome == "ok", result.error
    return result.displays[-1][MIME]["tests"]


def judge(tests, wanted):
    """Those of TESTS that did not come out as WANTED."""
    assert [test["check"] for test in tests] == [check for check, _ in wanted]
    pairs = [(test, words) for test, (_, words) in zip(tests, wanted)]
    return [(test, words) for test, words in pairs if test["ok"] != (words is None) or (words or "") not in test["message"]]


def test_of_a_table(science):
    assert judge(reported(science, TABLE, [check for check, _ in OF_TABLE]), OF_TABLE) == []


@pytest.mark.parametrize("code, check, words", OTHERS, ids=[f"{check['check']} of {code[:30]}" for code, check, _ in OTHERS])
def test_of_other_answers(science, code, check, words):
    assert judge(reported(science, f"result = {code}", [check]), [(check, words)]) == []


def test_each_check_is_shown_to_hold_and_to_fail():
    said = [(check["check"], words is None) for check, words in OF_TABLE + [(check, words) for _, check, words in OTHERS]]
    names = {name for name, _ in said}
    assert len(names) == 21 and all((name, holds) in said for name in names for holds in (True, False))
