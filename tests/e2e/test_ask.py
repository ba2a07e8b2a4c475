# SPDX-License-Identifier: Apache-2.0
"""`adder ask`: a CSV and a question in; a paragraph, the code and a small table out; with a person's code, and with a model's."""
import csv
import hashlib
import json
import os
import pty
import signal

import jsonschema
import pytest

from harness import strict_json, wait_until

TEXT, NUMBER, LIST, OBJECT, MAYBE = {"type": "string"}, {"type": "number"}, {"type": "array"}, {"type": "object"}, "null"


def nullable(schema):
    return {"anyOf": [schema, {"type": MAYBE}]}


def whole(properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


ATTEMPT = whole(
    {
        "code": TEXT,
        "outcome": TEXT,
        "exit_code": NUMBER,
        "errors": {"type": "array", "items": TEXT},
        "violations": LIST,
        "tests": LIST,
        "run_id": TEXT,
    }
)
STATE = {
    "question": nullable(TEXT),
    "answer": nullable(TEXT),
    "code": nullable(TEXT),
    "table": nullable(OBJECT),
    "table_file": nullable(OBJECT),
    "table_note": nullable(TEXT),
    "pictures": {"type": "array", "items": {"type": "object", "required": ["mime", "data"]}},
    "charts": {"type": "array", "items": {"type": "object", "required": ["title", "charts"]}},
    "csv": {
        "type": "array",
        "items": whole(
            {
                "name": TEXT,
                "file": TEXT,
                "original": TEXT,
                "path": nullable(TEXT),
                "bytes": NUMBER,
                "sha256": nullable(TEXT),
                "options": OBJECT,
            }
        ),
    },
    "schema": {"type": "array", "items": {"type": "object", "required": ["name", "columns", "sample", "bad_lines"]}},
    "plan": nullable(OBJECT),
    "expect": LIST,
    "tests": {"type": "array", "items": {"type": "object", "required": ["check", "ok", "message"]}},
    "violations": LIST,
    "error": nullable(OBJECT),
    "errors": {"type": "array", "items": TEXT},
    "attempts": {"type": "array", "items": ATTEMPT},
    "assumed": {"type": "array", "items": TEXT},
    "stdout": nullable(TEXT),
    "outcome": nullable(TEXT),
    "exit_code": NUMBER,
    "model": nullable(whole({"name": TEXT, "provider": TEXT, "replay": {"type": "boolean"}})),
    "usage": nullable(OBJECT),
    "run_ids": {"type": "array", "items": TEXT},
}
ANSWER = whole({**STATE, "out": nullable(TEXT), "again": nullable(OBJECT)})
STEP = whole({"step": TEXT, "state": whole(STATE)})

SALES = """date;category;revenue
2024-01-05;Toys;100
2024-02-05;Books;200
2024-03-05;Games;50
2024-04-05;Toys;150
2024-05-05;Books;210
2024-06-05;Games;200
"""
GROWTH = """quarters = df.groupby(["category", by_quarter(df, "date")])["revenue"].sum().reset_index()
quarters["growth"] = change(quarters["revenue"], by=quarters["category"])
result = quarters.dropna().sort_values("growth", ascending=False).head(5)[["category", "growth"]].reset_index(drop=True)
"""
SUM = 'result = df["revenue"].sum()'


class Asker:
    def __init__(self, adder):
        self.adder = adder
        self.sales = adder.file("sales.csv", SALES)

    def call(self, *arguments, status=0, **options):
        env = ["--env", self.adder.environment] if "--again" not in arguments else []
        ended = self.adder.call("ask", *env, *arguments, **options)
        assert ended.returncode == status, ended
        return ended

    def ask(self, question, *options, status=0, file=None, **others):
        """The object of --json."""
        ended = self.call(file or self.sales, question, "--json", *options, status=status, **others)
        assert ended.stderr == "" and ended.stdout.count("\n") == 1, ended
        answer = strict_json(ended.stdout)
        jsonschema.Draft202012Validator(ANSWER).validate(answer)
        assert answer["exit_code"] == status
        return answer

    def code(self, code, *options, **others):
        return self.ask("What is it?", "--code", self.adder.file("code.py", code), *options, **others)

    def refused(self, *arguments, **options):
        """The sentence of what came to nothing."""
        ended = self.call(*arguments, status=125, **options)
        assert ended.stdout == "" and ended.stderr.startswith("adder: ") and ended.stderr.count("\n") == 1, ended
        return ended.stderr

    def replay(self, *lines, name="answers.jsonl"):
        return "replay:" + str(self.adder.file(name, "".join(json.dumps(line) + "\n" for line in lines)))


@pytest.fixture
def asker(science):
    return Asker(science)


# ---- a person's code ----


@pytest.mark.quick
def test_a_question_is_answered_with_its_code(asker):
    ended = asker.call(asker.sales, "Which category grew most?", "--code", asker.adder.file("code.py", GROWTH))
    paragraph, _, rest = ended.stdout.partition("\n\n")
    assert paragraph.startswith("The answer is a table of 3 rows and 2 columns (category, growth)")
    assert "category = Games, growth = 3" in paragraph
    assert f"```python\n{GROWTH}```" in rest and "| Games | 3" in rest.replace("  ", " ")
    assert ended.stderr == ""


@pytest.mark.quick
def test_code_comes_from_standard_input_and_is_refused_with_its_violations(asker):
    ended = asker.call(asker.sales, "?", "--code", "-", input="import os\nwhile True:\n    pass\n", status=126)
    assert ended.stdout == ""
    lines = ended.stderr.splitlines()
    assert [line.split(" ")[0] for line in lines[:-1]] == ["-:1:1:", "-:1:1:", "-:2:1:"], lines
    assert lines[-1] == "adder: there is no answer (refused)"
    answer = asker.code("x = 1\nimport os", status=126)
    assert answer["outcome"] == "refused" and answer["table"] is None and len(answer["attempts"]) == 1
    assert {(each["rule"], each["line"]) for each in answer["violations"]} == {("import", 2), ("name", 2)}
    assert "the guard" not in answer["answer"] and "line 2, column 1: import" in answer["answer"]


KINDS = {
    "7 / 2": ("number", 3.5, "The answer is 3.5."),
    "'Toys'": ("text", "Toys", "The answer is Toys."),
    "True": ("boolean", True, "The answer is yes."),
    "[1, 2, 3]": ("list", [1, 2, 3], "The answer is a list of 3: 1, 2, 3."),
    "{'a': 1}": ("mapping", {"a": 1}, "The answer is a = 1."),
    "df.head(0)": ("table", None, "The answer is an empty table: no row is left. Its columns are date, category, revenue."),
    "df.head(1)[['category']]": ("table", None, "The answer is category = Toys."),
    "df['date'].min()": ("date", "2024-01-05", None),
}


@pytest.mark.parametrize("expression", KINDS)
def test_every_kind_of_result_is_put_into_words(asker, expression):
    kind, value, words = KINDS[expression]
    answer = asker.code(f"result = {expression}")
    assert answer["table"]["kind"] == kind
    if words:
        assert answer["table"]["value"] == value and answer["answer"] == words
    else:
        assert value in answer["answer"]


def test_errors_of_the_code_come_back_as_python_says_them(asker):
    answer = asker.code('result = df["none"]', status=1)
    assert answer["outcome"] == "error" and answer["error"]["type"] == "KeyError"
    assert "Traceback" in answer["errors"][0] and answer["answer"].startswith("There is no answer (error); KeyError")
    assert answer["errors"][1] == "The columns of sales: date, category, revenue"
    answer = asker.code("result = (", status=1)
    assert answer["error"]["type"] == "SyntaxError" and answer["attempts"][0]["outcome"] == "error"
    answer = asker.code("df = 1", status=1)
    assert answer["error"]["type"] == "NoResult"


def test_checks_that_do_not_hold_are_a_failure_that_says_which(asker):
    checks = [{"check": "value", "equals": 910}, {"check": "range", "least": 1000}]
    expect = asker.adder.file("expect.json", json.dumps(checks))
    answer = asker.code(SUM, "--expect", expect, status=1)
    assert answer["outcome"] == "tests_failed" and [test["ok"] for test in answer["tests"]] == [True, False]
    assert answer["errors"] == [answer["tests"][1]["message"]] and answer["table"]["value"] == 910
    expect = asker.adder.file("expect.json", json.dumps(checks[:1]))
    assert asker.code(SUM, "--expect", expect, "--tests", "given")["outcome"] == "ok"


def test_limits_are_those_of_the_profile_unless_more_is_asked_for(asker):
    answer = asker.code("result = sum(i * i for i in range(9000000))", "--cpu", "200ms", status=137)
    assert answer["outcome"] == "cpu_limit" and "cpu" in json.dumps(answer["error"])
    answer = asker.code("result = len(np.zeros(100000000).tobytes())", status=137)
    assert answer["outcome"] == "memory_limit" and "memory" in answer["answer"]
    code = asker.adder.file("code.py", "result = len(np.zeros(100000000).tobytes())")
    ended = asker.call(asker.sales, "?", "--code", code, status=137)
    assert "(memory_bytes)" in ended.stderr and ended.stderr.endswith("adder: raise it with --memory\n")
    answer = asker.code("result = len(np.ones(100000000))", "--memory", "2G", "--cpu", "60", "--timeout", "1min")
    assert answer["table"]["value"] == 100000000


def test_several_tables_by_name(asker):
    names = asker.adder.file("kinds.csv", "category,kind\nToys,play\nBooks,read\nGames,play\n")
    code = 'result = dfs["sales"].merge(dfs["kinds of it"], on="category").groupby("kind")["revenue"].sum()'
    answer = asker.code(code, "--file", f"kinds of it={names}")
    assert answer["table"]["rows"] == [["play", 500], ["read", 410]]
    assert [(each["name"], each["path"]) for each in answer["csv"]] == [
        ("sales", str(asker.sales)),
        ("kinds of it", str(names)),
    ]


def test_a_table_from_a_pipe(asker):
    code = asker.adder.file("code.py", SUM)
    answer = asker.ask("Sum?", "--code", code, file="-", input=SALES)
    assert answer["table"]["value"] == 910 and answer["csv"][0]["name"] == "stdin" and answer["csv"][0]["path"] is None


def test_how_the_table_is_read_can_be_said(asker):
    odd = asker.adder.file("odd.csv", "1.234,5|a\n2.000,0|b\n".encode("latin-1"))
    options = ["--delimiter", "|", "--no-header", "--decimal", ",", "--thousands", ".", "--encoding", "latin-1"]
    answer = asker.code("result = df.iloc[:, 0].sum()", *options, file=odd)
    assert answer["table"]["value"] == 3234.5
    assert answer["csv"][0]["options"] == {
        "delimiter": "|",
        "encoding": "latin-1",
        "decimal": ",",
        "thousands": ".",
        "header": False,
    }
    days = asker.adder.file("days.csv", "day\n03/04/2026\n05/04/2026\n")
    answer = asker.code("result = dates(df['day'], day_first=True).dt.month.max()", "--day-first", file=days)
    assert answer["table"]["value"] == 4


def test_what_was_assumed_is_said_in_the_answer(asker):
    ragged = asker.adder.file("ragged.csv", SALES + "2024-07-01;Toys;1;too;many\n")
    answer = asker.code(SUM, file=ragged)
    assert answer["assumed"] == ["1 line does not fit and is left out (line 8)"]
    assert answer["answer"] == "The answer is 910. Assumed of the data: 1 line does not fit and is left out (line 8)."


def test_a_picture_that_the_code_draws(asker):
    out = asker.adder.scratch / "drawn"
    answer = asker.code('ax = df["revenue"].plot()\nresult = 1', "--out", out)
    assert [each["mime"] for each in answer["pictures"]] == ["image/png"]
    assert (out / "picture-1.png").read_bytes().startswith(b"\x89PNG")
    assert "![picture-1.png](picture-1.png)" in (out / "answer.md").read_text()
    assert json.loads((out / "state.json").read_text())["pictures"][0]["file"] == "picture-1.png"


def test_without_a_daemon(asker):
    asker.adder.stop()
    answer = asker.code(SUM, "--no-daemon")
    assert answer["table"]["value"] == 910
    assert asker.adder.call("serve", "status").returncode != 0, "no daemon was started"


# ---- what each step found ----


def test_the_state_is_shown_after_each_step(asker):
    code = asker.adder.file("code.py", SUM)
    ended = asker.call(asker.sales, "Sum?", "--code", code, "--explain")
    titles = [line[3:] for line in ended.stdout.splitlines() if line.startswith("== ")]
    assert titles == [
        "looking at the tables",
        "checking the code",
        "running it on all of the data",
        "checking the result",
        "answering",
    ]
    assert "there are no checks\n" in ended.stdout and ended.stdout.count("The answer is 910.") == 1
    lines = asker.call(asker.sales, "Sum?", "--code", code, "--explain", "--json").stdout.splitlines()
    steps = [strict_json(line) for line in lines[:-1]]
    for step in steps:
        jsonschema.Draft202012Validator(STEP).validate(step)
    assert [step["step"] for step in steps] == ["scan", "guard", "run", "test", "answer"]
    assert steps[0]["state"]["schema"][0]["columns"] and steps[0]["state"]["table"] is None
    assert steps[2]["state"]["table"]["value"] == 910 and steps[2]["state"]["answer"] is None
    jsonschema.Draft202012Validator(ANSWER).validate(strict_json(lines[-1]))


def test_without_a_model_it_is_said_how_to_do_without_one(asker):
    said = asker.refused(asker.sales, "Sum?")
    assert "without --code FILE a model writes the code, and there is no default model" in said and "adder model new" in said


@pytest.mark.parametrize("term, redrawn", [("xterm", True), ("dumb", False)])
def test_at_a_terminal_the_step_under_way_is_shown(asker, term, redrawn):
    code = asker.adder.file("code.py", SUM)
    question = ["ask", "--env", asker.adder.environment, asker.sales, "Sum?", "--code", code]
    ours, theirs = pty.openpty()
    variables = {**asker.adder.process_environment(), "TERM": term}
    with asker.adder.popen(*question, stderr=theirs, env=variables) as process:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # the last one who had it is gone
            pass
        assert process.wait() == 0 and process.stdout.read().startswith(b"The answer is 910.")
    os.close(ours)
    assert (b"\r\x1b[Krun" in seen.replace(b"\x1b[2m", b"")) == redrawn and (seen == b"") != redrawn


# ---- what is kept, and repeated ----


@pytest.mark.quick
def test_what_is_kept_can_be_read_and_repeated(asker):
    out = asker.adder.scratch / "kept" / "here"
    expect = asker.adder.file("expect.json", '[{"check": "not_empty"}]')
    first = asker.code(GROWTH, "--out", out, "--expect", expect, "--memory", "600M")
    assert sorted(entry.name for entry in out.iterdir()) == ["answer.md", "code.py", "state.json", "table.csv"]
    assert [entry.name for entry in out.parent.iterdir()] == ["here"]
    assert (out / "code.py").read_text() == GROWTH and first["answer"] in (out / "answer.md").read_text()
    assert list(csv.reader((out / "table.csv").open()))[:2] == [["category", "growth"], ["Games", "3.0"]]

    again = asker.call("--again", out, "--json")
    answer = strict_json(again.stdout)
    assert answer["again"] == {"directory": str(out), "changed": [], "same_answer": True}
    assert answer["table"] == first["table"] and answer["tests"] == first["tests"] and answer["model"] is None
    assert answer["csv"][0]["sha256"] and answer["question"] == "What is it?"

    asker.sales.write_text(SALES + "2024-06-06;Toys;900\n")
    ended = asker.call("--again", out)
    assert ended.stderr == "adder: the table sales has changed since\nadder: the answer is another one\n"
    assert "category = Toys, growth = 9.5" in ended.stdout

    moved = asker.adder.file("moved.csv", SALES)
    asker.sales.unlink()
    assert "cannot open" in asker.refused("--again", out)
    ended = asker.call("--again", out, "--file", f"sales={moved}", "--out", asker.adder.scratch / "second")
    assert "the data is what it was" in ended.stderr and "the answer is the same" in ended.stderr
    assert (asker.adder.scratch / "second" / "state.json").exists()


# ---- the whole table ----

MANY = 'result = pd.DataFrame({"n": range(24), "of a third": [i / 3 for i in range(24)], "text": ["x" * 300] * 24})'


def table_of(out):
    return list(csv.reader((out / "table.csv").open(newline="")))


@pytest.mark.quick
@pytest.mark.parametrize("options", [(), ("--no-daemon",)])
def test_the_whole_table_is_kept(asker, options):
    out = asker.adder.scratch / "kept"
    answer = asker.code(MANY, "--out", out, *options)
    assert len(answer["table"]["rows"]) == 10 and answer["table"]["hidden_rows"] == 14
    assert table_of(out) == [["n", "of a third", "text"], *([str(i), repr(i / 3), "x" * 300] for i in range(24))]
    whole = (out / "table.csv").read_bytes()
    digest = hashlib.sha256(whole).hexdigest()
    assert answer["table_file"] == {"name": "table.csv", "mime": "text/csv", "bytes": len(whole), "sha256": digest}
    assert answer["table_note"] is None
    assert "The whole table, 24 x 3 (rows x columns): [table.csv](table.csv)" in (out / "answer.md").read_text()
    assert [entry.name for entry in out.parent.iterdir() if entry.name.startswith("kept")] == ["kept"]
    assert asker.code(MANY, *options)["table_file"] is None


SHAPES = {
    "series": ("result = pd.Series(range(24))", ["value"], ["23"]),
    "named": ('result = pd.Series({"a": 1.5, "b": 2.0}, name="much")', ["index", "much"], ["b", "2.0"]),
    "levels": ('result = df.groupby(["category", by_quarter(df, "date")])["revenue"].agg(["sum", "count"])', ["category", "quarter", "sum", "count"], ["Toys", "2024Q2", "150", "1"]),
    "shuffled": ('result = df.sort_values("revenue")[["revenue"]]', ["revenue"], ["210"]),
    "empty": ("result = df[df.revenue > 1e9][['revenue']]", ["revenue"], ["revenue"]),
    "odd": ("result = pd.DataFrame([[None, 'a,\"b\"\\nc']], columns=pd.MultiIndex.from_tuples([('x', 'y'), ('z', '')]))", ["x / y", "z"], ["", 'a,"b"\nc']),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_table_has_the_columns_that_are_told(asker, name):
    code, header, last = SHAPES[name]
    out = asker.adder.scratch / "kept"
    answer = asker.code(code, "--out", out)
    table = table_of(out)
    assert table[0] == header == [column["name"] for column in answer["table"]["columns"]] and table[-1] == last
    assert [len(table) - 1, len(header)] == answer["table"]["shape"]


def test_what_is_no_table_has_no_file(asker):
    out = asker.adder.scratch / "kept"
    answer = asker.code("display(df)\nresult = 3", "--out", out)
    assert answer["table_file"] is None and answer["table_note"] is None and not (out / "table.csv").exists()
    assert "table.csv" not in (out / "answer.md").read_text()


SHORT = 'result = pd.DataFrame({"n": range(24)})'
TOO_MUCH = {
    "long": (MANY, ("table_bytes=1000",), "it is longer than 1000 bytes (table_bytes)"),
    "none": (SHORT, ("tables=0",), "(tables)"),
    "files": (SHORT, ("files=0",), "files"),
    "all": (SHORT, ("files_bytes=10",), "(files_bytes)"),
    "slow": ('result = pd.DataFrame({"n": np.arange(10000000) / 7})', ("cpu_ms=2s",), "hardly any processor time is left for it (cpu_ms)"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_where_it_cannot_be_kept_the_preview_is_and_says_so(asker, name):
    code, limits, why = TOO_MUCH[name]
    out = asker.adder.scratch / "kept"
    answer = asker.code(code, "--out", out, *(f"--limit={limit}" for limit in limits))
    assert answer["outcome"] == "ok" and answer["table_file"] is None and why in answer["table_note"], answer["table_note"]
    assert len(table_of(out)) == 11
    text = (out / "answer.md").read_text()
    assert "only these rows" in text and why in text


def test_it_is_kept_again(asker):
    first, second = asker.adder.scratch / "first", asker.adder.scratch / "second"
    asker.code(MANY, "--out", first)
    again = strict_json(asker.call("--again", first, "--json").stdout)
    assert again["again"]["same_answer"] and again["table_file"] is None
    again = strict_json(asker.call("--again", first, "--json", "--out", second).stdout)
    assert again["again"]["same_answer"] and again["table_file"]["name"] == "table.csv"
    assert (second / "table.csv").read_bytes() == (first / "table.csv").read_bytes()


def test_nothing_lies_beside_what_was_not_kept(asker):
    folder = asker.adder.folder("beside")
    asker.code("import os", "--out", folder / "kept", status=126)
    assert [entry.name for entry in folder.iterdir()] == ["kept"]
    asker.refused(asker.sales, "?", "--model", "no-such", "--out", folder / "new")
    assert [entry.name for entry in folder.iterdir()] == ["kept"]


@pytest.mark.both_users
def test_nothing_is_kept_by_halves(asker):
    folder = asker.adder.folder("closed")
    os.chmod(folder, 0o500)
    code = asker.adder.file("code.py", SUM)
    if asker.adder.user.uid != 0:
        assert "cannot make a directory" in asker.refused(asker.sales, "?", "--code", code, "--out", folder / "out")
        assert list(folder.iterdir()) == []
    full = asker.adder.folder("full")
    asker.adder.file("full/mine.txt", "mine")
    assert "is not an empty directory" in asker.refused(asker.sales, "?", "--code", code, "--out", full)
    assert [entry.name for entry in full.iterdir()] == ["mine.txt"]
    empty = asker.adder.folder("empty")
    asker.call(asker.sales, "?", "--code", code, "--out", empty)
    assert (empty / "state.json").exists()


def test_what_is_no_kept_question(asker):
    assert "cannot open" in asker.refused("--again", asker.adder.scratch / "none")
    asker.adder.file("odd/state.json", "{}")
    assert "another version" in asker.refused("--again", asker.adder.scratch / "odd")
    asker.adder.file("odd/state.json", '{"state_version": 1, "attempts": 3}')
    assert 'its member "attempts" is not' in asker.refused("--again", asker.adder.scratch / "odd")
    state = asker.adder.scratch / "odd" / "state.json"
    with open(state, "r+b") as file:
        file.truncate((64 << 20) + 1)
    assert "at most 64 MiB" in asker.refused("--again", asker.adder.scratch / "odd")
    state.unlink()
    os.mkfifo(state)
    asker.adder.own(state)
    assert "is no regular file" in asker.refused("--again", asker.adder.scratch / "odd")
    state.unlink()
    asker.adder.file("odd/state.json", "[")
    assert "state.json" in asker.refused("--again", asker.adder.scratch / "odd")


# ---- bad input ----


def test_bad_input_has_its_sentence(asker):
    file, code = asker.adder.file, asker.adder.file("code.py", SUM)
    asked = [asker.sales, "?", "--code", code]
    other = file("other.csv", "a,b\n1,2\n")
    file("x/sales.csv", "a\n1\n")
    cases = [
        ([], 'a FILE and a "QUESTION" are needed'),
        ([asker.sales], 'a FILE and a "QUESTION" are needed'),
        (["how many?", asker.sales], "the question comes last"),
        ([asker.sales, ""], "the question must be UTF-8 text of 1 to 10000 bytes"),
        ([asker.sales, "x" * 10001], "the question must be UTF-8 text of 1 to 10000 bytes"),
        ([asker.sales, "?", "more"], "cannot open ?"),
            ([asker.sales] * 17 + ["?"], "one argument too many"),
        ([asker.adder.scratch / "none.csv", "?", "--code", code], "none.csv: No such file"),
        ([asker.adder.scratch, "?", "--code", code], "is a directory, not a file with a table"),
        ([file("empty.csv", ""), "?", "--code", code], "is empty"),
        ([*asked, "--file", "other"], "--file takes NAME=PATH"),
        ([*asked, "--file", f"sales={other}"], "two tables have this name"),
        ([*asked, "--file", f"{'n' * 65}={other}"], "a table's name is 1 to 64 bytes"),
        ([*asked, *[f"--file=t{i}={other}" for i in range(16)]], "more than 16 tables"),
        ([*asked, "--expect", file("no0.json", "{}")], "must be a list of checks"),
        ([*asked, "--expect", file("no1.json", "[")], "must be a list of checks"),
        ([*asked, "--expect", file("no2.json", '[{"check": "bogus"}]')], "expect[0] must be"),
        ([*asked, "--expect", file("no3.json", b"\xff")], "must be UTF-8"),
        ([asker.sales, "?", "--code", file("no.py", b"\xff")], "--code must be UTF-8"),
        ([*asked, "--model", "m"], "--code takes the model's place"),
        ([*asked, "--tests", "some"], "--tests must be none, given or proposed"),
        ([*asked, "--tests", "proposed"], "checks are proposed by a model"),
        ([*asked, "--tests", "given"], "--tests given needs --expect"),
        ([*asked, "--memory", "much"], "--memory: "),
        ([*asked, "--cpu", "x"], "--cpu: "),
        ([*asked, "--cpu", "2h"], "over its maximum"),
        ([*asked, "--delimiter", "lots of it"], "delimiter"),
        (["-", "?", "--code", "-"], "standard input can be the table or the code, not both"),
        (["--again", "x", "--code", code], "--code is settled by --again"),
        (["--again", "x", asker.sales, "?"], "leave FILE and QUESTION out"),
        ([asker.sales, "?", "--jsn"], "did you mean --json?"),
        ([asker.sales, "?", "--model", "nobody"], "nobody"),
    ]
    for arguments, sentence in cases:
        said = asker.refused(*arguments)
        assert sentence in said, (arguments, said)


def test_bad_input_as_json(asker):
    ended = asker.call(asker.adder.scratch / "none.csv", "?", "--code", "x", "--json", status=125)
    answer = strict_json(ended.stdout)
    jsonschema.Draft202012Validator(ANSWER).validate(answer)
    assert ended.stderr == "" and answer["outcome"] == "failed" and answer["error"]["message"]


# ---- a model's code ----

PLAN = {
    "steps": [{"operation": "group", "detail": "category and quarter"}, {"operation": "aggregate", "detail": "revenue"}],
    "target": {"kind": "table", "columns": ["category", "growth"], "rows": 5, "order": "growth, largest first"},
    "time": {"column": "date", "period": "quarter", "change": "previous_period"},
}
CHECKS = [{"check": "columns", "names": ["category", "growth"]}, {"check": "no_missing", "columns": ["growth"]}]


def call(name, contains=(), **arguments):
    line = {"answer": {"calls": [{"name": name, "arguments": arguments}]}}
    return {"ask": {"contains": list(contains)}, **line} if contains else line


def says(text, contains=()):
    return {"ask": {"contains": list(contains)}, "answer": {"text": text}} if contains else {"answer": {"text": text}}


QUESTION = "top 5 categories by revenue growth QoQ"
PROPOSE = call("submit_checks", checks=[json.dumps(check) for check in [*CHECKS, {"check": "bogus"}]])


@pytest.mark.quick
def test_guard_failure_test_failure_and_success(asker):
    """The example of the contract: what is refused goes back, with what was wrong, until it is an answer."""
    model = asker.replay(
        call("submit_plan", ["revenue", QUESTION, "2024-01-05"], **PLAN),
        PROPOSE,
        call("submit_code", code="import os\n" + GROWTH),
        call("submit_code", ["line 1, column 1: import"], code=GROWTH.replace("dropna()", "copy()")),
        call("submit_code", ["missing", "growth"], code=GROWTH),
        says("Games grew most, by 300 %.", ["Games"]),
    )
    answer = asker.ask(QUESTION, "--model", model)
    assert answer["answer"] == "Games grew most, by 300 %."
    assert [attempt["outcome"] for attempt in answer["attempts"]] == ["refused", "tests_failed", "ok"]
    assert answer["expect"] == CHECKS and all(test["ok"] for test in answer["tests"])
    assert answer["table"]["rows"][0] == ["Games", 3] and answer["plan"] == PLAN
    assert answer["model"]["replay"] is True and answer["model"]["provider"].startswith("a replay of ")
    assert answer["code"] == GROWTH and len(answer["run_ids"]) == 6


def test_three_times_back_and_then_an_honest_failure(asker):
    bad = call("submit_code", code="import os")
    ended = asker.call(
        asker.sales, "?", "--tests", "none", "--model", asker.replay(call("submit_plan", **PLAN), bad, bad, bad, bad), status=126
    )
    assert ended.stdout.startswith("There is no answer after 4 attempts (refused)")
    assert ended.stdout.count("import os\n```") == 4 and "Attempt 4 (refused):" in ended.stdout
    assert "a replay of" in ended.stdout


def test_python_errors_go_back(asker):
    model = asker.replay(
        call("submit_plan", **PLAN),
        call("submit_code", code="result = df['none']"),
        call("submit_code", ["KeyError"], code=SUM),
        says("It is 910."),
    )
    answer = asker.ask("Sum?", "--tests", "none", "--model", model)
    assert [attempt["outcome"] for attempt in answer["attempts"]] == ["error", "ok"] and answer["answer"] == "It is 910."


def test_the_same_code_again_is_told(asker):
    wrong = call("submit_code", code="result = df['none']")
    model = asker.replay(
        call("submit_plan", **PLAN), wrong, wrong, call("submit_code", ["KeyError", "another approach"], code=SUM), says("910.")
    )
    answer = asker.ask("Sum?", "--tests", "none", "--model", model)
    assert [attempt["outcome"] for attempt in answer["attempts"]] == ["error", "error", "ok"]


def test_a_limit_does_not_go_back(asker):
    endless = "result = sum(i * j for i in range(9000000) for j in range(9000000))"
    model = asker.replay(call("submit_plan", **PLAN), call("submit_code", code=endless))
    answer = asker.ask("?", "--tests", "none", "--cpu", "1s", "--model", model, status=137)
    assert answer["outcome"] == "cpu_limit" and len(answer["attempts"]) == 1


def test_calls_that_are_none_are_made_again_or_taken_from_the_text(asker):
    model = asker.replay(
        says("I would rather not."),
        call("submit_code", ["Call the tool submit_plan"], code="x"),
        says(f"Here:\n```json\n{json.dumps(PLAN)}\n```", ["call submit_plan"]),
        says(f"```python\n{SUM}\n```"),
        says("910."),
    )
    answer = asker.ask("Sum?", "--tests", "none", "--model", model)
    assert answer["plan"] == PLAN and answer["code"].strip() == SUM and answer["table"]["value"] == 910
    ended = asker.refused(asker.sales, "?", "--model", asker.replay(*[says("no")] * 9))
    assert "did not call the tool submit_code as it was asked to, 3 times" in ended


def test_a_plan_and_checks_that_never_come_end_no_question(asker):
    code = says(f"```python\n{SUM}\n```", ["Now the code"])
    model = asker.replay(*[says("no")] * 6, code, says("910."))
    answer = asker.ask("Sum?", "--model", model)
    assert answer["plan"] is None and answer["expect"] == [] and answer["table"]["value"] == 910


def test_code_as_small_models_write_it(asker):
    indented = "".join(f"    {line}\n" for line in ("import pandas as pd", 'df = pd.read_csv("your_file.csv")', SUM))
    written = says('```json\n{"name": "submit_code", "arguments": {"code": """\n' + indented + '"""}}\n```', ["Now the code"])
    unread = says('```json\n{"name": "submit_code", "arguments": {"code": ' + SUM + "}}\n```", ["Now the code"])
    plan = call("submit_plan", **PLAN)
    answer = asker.ask("Sum?", "--tests", "none", "--model", asker.replay(plan, written, says("910.")))
    assert answer["code"].strip() == f'df = dfs["sales"]\n{SUM}' and answer["table"]["value"] == 910
    again = call("submit_code", ["Call the tool submit_code"], code=SUM)
    answer = asker.ask("Sum?", "--tests", "none", "--model", asker.replay(plan, unread, again, says("910.")))
    assert answer["table"]["value"] == 910 and len(answer["attempts"]) == 1


@pytest.mark.parametrize("context, rows", [(16384, 5), (16385, 20)])
def test_a_model_that_reads_little_is_told_little(asker, context, rows):
    many = asker.adder.file("many.csv", "a\n" + "".join(f"{row}\n" for row in range(1000, 1030)))
    head = {"replay": {"version": 1, "context_tokens": context}}
    first = [] if rows == 5 else [call("submit_plan", **PLAN), call("submit_checks", checks=[])]
    code = says("```python\nresult = len(df)\n```", ["Write the code, in one block."])
    if rows > 5:
        code = call("submit_code", ["Now the code"], code="result = len(df)")
    record = asker.adder.scratch / "said.jsonl"
    answer = asker.ask("How many?", "--model", asker.replay(head, *first, code, says("30.")), "--record", record, file=many)
    assert answer["table"]["value"] == 30 and answer["plan"] == (None if rows == 5 else PLAN)
    said = record.read_text()
    assert [str(row) in said for row in range(1000, 1021)] == [row < rows for row in range(21)]


def test_a_model_that_reads_little_writes_a_block(asker):
    head = {"replay": {"version": 1, "context_tokens": 8192}}
    wrong = says("```python\nresult = 1 / 0\n```", ["Write the code in one block"])
    model = asker.replay(head, says("Let me think."), wrong, says(f"```python\n{SUM}\n```", ["ZeroDivisionError"]), says("910."))
    answer = asker.ask("Sum?", "--model", model)
    assert answer["table"]["value"] == 910 and len(answer["attempts"]) == 2
    answer = asker.ask("Sum?", "--model", asker.replay(head, says(SUM, ["Table df, "]), says("910.")))
    assert answer["table"]["value"] == 910 and len(answer["attempts"]) == 1
    ended = asker.refused(asker.sales, "?", "--model", asker.replay(head, *[says("no")] * 9))
    assert "did not write the block of code as it was asked to, 3 times" in ended


def test_checks_are_proposed_by_a_model_that_reads_little_where_they_are_asked_for(asker):
    head = {"replay": {"version": 1, "context_tokens": 8192}}
    checks = call("submit_checks", checks=[json.dumps({"check": "not_empty"})])
    model = asker.replay(head, checks, call("submit_code", code=SUM), says("910."))
    assert asker.ask("Sum?", "--tests", "proposed", "--model", model)["expect"] == [{"check": "not_empty"}]


def test_calls_that_are_written_as_text(asker):
    model = asker.replay(
        says("<tool_call>\n" + json.dumps({"name": "submit_plan", "arguments": PLAN}) + "\n</tool_call>"),
        says("So: " + json.dumps({"function": {"name": "submit_code", "arguments": json.dumps({"code": SUM})}}), ["Now the code"]),
        says("910."),
    )
    answer = asker.ask("Sum?", "--tests", "none", "--model", model)
    assert answer["plan"] == PLAN and answer["code"] == SUM and answer["table"]["value"] == 910


def test_no_terminal_takes_orders_from_tables_code_or_models(asker):
    asker.sales.write_text("who\x1b[2J,revenue\nToys\x1b]0;x\x07,100\n\u202eBooks,200\n")
    model = asker.replay(
        call("submit_plan", **{**PLAN, "steps": [{"operation": "filter", "detail": "\x1b[31mall"}]}),
        call("submit_code", code="result = df  # \x1b[5m\u202e"),
        says("It is \x1b[31mred\x9b0m."),
    )
    ended = asker.call(asker.sales, "?", "--explain", "--tests", "none", "--model", model)
    assert not set("\x1b\x07\x9b\u202e") & set(ended.stdout + ended.stderr), ended
    for sign in ("Toys<U+001B>]0;x<U+0007>", "<U+202E>Books", "# <U+001B>[5m", "red<U+009B>0m"):
        assert sign in ended.stdout
    code = 'print("\\x1b[2J")\nassert False, "\\x1b[5m"'
    ended = asker.call(asker.sales, "?", "--code", asker.adder.file("code.py", code), status=1)
    assert ended.stderr.startswith("<U+001B>[2J\n") and "<U+001B>[5m" in ended.stderr and "\x1b" not in ended.stderr


def test_a_result_is_not_lost_with_the_words_for_it(asker):
    model = asker.replay(
        call("submit_plan", **PLAN),
        call("submit_code", code=SUM),
        {"error": {"kind": "unavailable", "message": "m is overloaded"}},
    )
    answer = asker.ask("Sum?", "--tests", "none", "--model", model)
    assert answer["answer"] == "The answer is 910. The model put it into no words: m is overloaded."


TOP = 'result = df.groupby("category")["revenue"].max().sort_values(ascending=False).reset_index()'


@pytest.mark.parametrize(
    "wrong, told",
    [
        ("Books lead with 211.", "211 is no number of the result"),
        ("Books lead with 150, Toys have 210.", "beside Books are another row's"),
        ("Books lead with 210, Games have 200, and Toys 50 less.", None),
        ("Toys, then Books, then Games.", "another order"),
    ],
)
def test_words_that_contradict_the_result_go_back_once(asker, wrong, told):
    script = [call("submit_plan", **PLAN), call("submit_code", code=TOP), says(wrong)]
    good = asker.replay(*script, *([says("Books lead with 210.", [told])] if told else []))
    answer = asker.ask("Revenue by category?", "--tests", "none", "--model", good)["answer"]
    assert answer == ("Books lead with 210." if told else wrong)
    if told:
        stubborn = asker.replay(*script, says(wrong, [told]))
        answer = asker.ask("Revenue by category?", "--tests", "none", "--model", stubborn)["answer"]
        assert answer.startswith("The answer is a table of 3 rows") and answer.endswith("contradicted the result.")


def test_the_model_sees_schema_and_sample_alone(asker):
    rows = "".join(f"2024-01-01;Toys;{1000 + i}\n" for i in range(60)) + f"2024-01-01;{'long' * 100};1\n"
    many = asker.adder.file("many.csv", "date;category;revenue\n" + rows)
    record = asker.adder.scratch / "record.jsonl"
    model = asker.replay(call("submit_plan", ["1019"], **PLAN), call("submit_code", code=SUM), says("Done."))
    answer = asker.ask("Sum?", "--tests", "none", "--model", model, "--record", record, file=many)
    told = record.read_text()
    assert "1019" in told and "1020" not in told and "longlong" not in told
    assert answer["schema"][0]["rows"] == 61
    again = asker.ask("Sum?", "--tests", "none", "--model", f"replay:{record}", file=many)
    assert again["answer"] == answer["answer"] and again["code"] == answer["code"]


def test_a_cell_of_the_sample_is_cut(asker):
    wide = asker.adder.file("wide.csv", "a,b\n" + "x" * 500 + ",1\n")
    model = asker.replay(
        call("submit_plan", ["x" * 60 + "..."], **PLAN), call("submit_code", code="result = 1"), says("One.")
    )
    assert asker.ask("?", "--tests", "none", "--model", model, file=wide)["answer"] == "One."


def test_a_question_to_a_model_is_cancelled(asker):
    model = asker.replay({"wait_ms": 60000, **call("submit_plan", **PLAN)})
    with asker.adder.popen(
        "ask", "--env", asker.adder.environment, asker.sales, "?", "--model", model, "--explain", "--json"
    ) as process:
        line = process.stdout.readline()
        assert json.loads(line)["step"] == "scan"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and json.loads(out)["outcome"] == "cancelled", (out, err)


def test_a_run_is_cancelled(asker):
    code = asker.adder.file("code.py", "n = 0\nfor i in range(10000000):\n    for j in range(10000000):\n        n = n + 1\nresult = n")
    with asker.adder.popen(
        "ask", "--env", asker.adder.environment, asker.sales, "?", "--code", code, "--cpu", "60", "--explain", "--json"
    ) as process:
        assert json.loads(process.stdout.readline())["step"] == "scan"
        assert json.loads(process.stdout.readline())["step"] == "guard"
        wait_until(lambda: asker.adder.status()["engine"]["running"] > 0, "the run to begin")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and json.loads(out.splitlines()[-1])["outcome"] == "cancelled", (out, err)


# ---- large files ----


def test_only_the_beginning_of_a_large_file_is_scanned(asker):
    line = "2024-01-05;Toys;100\n"
    large = asker.adder.file("large.csv", "date;category;revenue\n" + line * 400000)
    code = asker.adder.file("code.py", SUM)
    lines = asker.call(large, "Sum?", "--code", code, "--explain", "--json").stdout.splitlines()
    scanned, answer = json.loads(lines[0])["state"]["schema"][0], json.loads(lines[-1])
    assert scanned["partial"] is True and scanned["rows"] is None and scanned["bytes"] == large.stat().st_size
    assert answer["table"]["value"] == 40000000 and answer["schema"][0]["rows"] == 400000
