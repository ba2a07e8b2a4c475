# SPDX-License-Identifier: Apache-2.0
"""What a notebook asks a session beside its cells, over HTTP and the local socket: completions, documentation, results of earlier
cells, rows of tables, differences; and what a session that is busy, hostile, ended or another's answers."""
import json
import os
import threading

import pytest

import harness
import http_bed
from harness import unique, wait_until
from test_local_socket import Client, operate

FOREVER = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)"


@pytest.fixture(scope="module")
def served(installation, user, common_directory):
    """One daemon, an admin and two users; `science` is the environment with IPython and pandas."""
    directory = harness.new_directory(common_directory, "questions-" + user.name)
    os.chmod(directory, 0o755)
    adder = harness.Adder(installation, user, directory, "[environment]\ndefault = system\n[sessions]\nmax_sessions_per_owner = 60\n")
    bed = http_bed.Served(adder, start=False)
    bed.alice, bed.bob = bed.token("alice"), bed.token("bob")
    bed.start()
    bed.has_science = adder.has_environment("science")
    yield bed
    bed.stop()


class Asked:
    """A session of Alice's."""

    def __init__(self, served, environment="system", **options):
        self.served = served
        made = served.post("/v1/sessions", {"environment": environment, **options}, secret=served.alice)
        assert made.status == 201, made
        self.info = made.json()
        self.id = self.info["session_id"]
        self.path = f"/v1/sessions/{self.id}"

    def ask(self, method, path, body=None, status=200):
        reply = self.served.ask(method, self.path + path, body, secret=self.served.alice)
        assert reply.status == status, reply
        return reply.json()

    def cell(self, code, **options):
        return self.ask("POST", "/cells", {"code": code, **options})

    def show(self):
        return self.ask("GET", "")

    def complete(self, code, cursor=None):
        return self.ask("POST", "/complete", {"code": code, "cursor": len(code) if cursor is None else cursor})

    def texts(self, code, cursor=None):
        return [match["text"] for match in self.complete(code, cursor)["matches"]]

    def inspect(self, code, cursor=None):
        return self.ask("POST", "/inspect", {"code": code, "cursor": len(code) if cursor is None else cursor})

    def end(self):
        self.ask("DELETE", "")

    def begin_forever(self):
        """A cell that runs until it is interrupted; the thread that waits for it."""
        thread = threading.Thread(target=self.cell, args=(FOREVER,), kwargs={"limits": {"wall_ms": 100_000}}, daemon=True)
        thread.start()
        wait_until(lambda: self.show()["state"] == "busy", "the cell to begin")
        return thread

    def stop(self, thread):
        def stopped():
            self.ask("POST", "/interrupt")
            thread.join(0.05)
            return not thread.is_alive()

        wait_until(stopped, "the end of the cell")


@pytest.fixture
def asked(served):
    made = Asked(served)
    yield made
    made.end()


@pytest.fixture
def notebook(served):
    """One with IPython and pandas."""
    if not served.has_science:
        harness.skip_without("science")
    made = Asked(served, "science")
    yield made
    made.end()


@pytest.fixture(params=["system", "science"])
def either(served, request):
    if request.param == "science" and not served.has_science:
        harness.skip_without("science")
    made = Asked(served, request.param)
    yield made
    made.end()


def hostile(asked, module, function, answer):
    """ASKED answers with the Python text ANSWER, from now on."""
    code = f"import sys\nvars(sys.modules['adder_runner.{module}'])[{function!r}] = lambda *more: {answer}"
    assert asked.cell(code)["outcome"] == "ok"


# ---- completion ----


@pytest.mark.quick
def test_completion(either):
    either.cell("import math\nclass Thing:\n    size = 1\n    def grow(self, by, twice=False): 'Makes it larger.'\nthing = Thing()\nthing.label = 'a'\nthirst = 1")
    assert either.texts("thi") == ["thing", "thirst"]
    found = either.complete("x = thing.gr + 1", 12)
    assert (found["start"], found["end"], found["busy"], found["more"]) == (10, 12, False, False)
    assert found["matches"] == [{"text": "grow", "kind": "function", "signature": "(by, twice=False)"}]
    assert {"grow", "label", "size"} <= set(either.texts("thing."))
    assert "sqrt" in either.texts("math.sq") and "print" in either.texts("pri")
    assert "while" in either.texts("whi")
    assert "xml" in either.texts("import xm") and either.texts("import xml.dom.mini") == ["minicompat", "minidom"]
    assert either.texts("from xml.dom import mini") == ["minicompat", "minidom"]
    assert either.texts("from math import cei") == ["ceil"]
    assert either.texts("nothing_like_it.") == [] and either.complete("", 0)["busy"] is False
    # Characters are counted, not bytes; a cursor behind the end is at the end.
    found = either.complete("'é😀'; thing.la")
    assert [match["text"] for match in found["matches"]] == ["label"] and found["end"] == len("'é😀'; thing.la")
    assert either.complete("thing.la", 1000)["end"] == 8


def test_completion_as_ipython_does_it(notebook):
    notebook.cell("import pandas as pd\ndf = pd.DataFrame({'price': [1], 'place': ['x']})\nd = {'one key': 1}")
    assert "price" in notebook.texts("df.pri") and "one key" in notebook.texts("d['")
    assert "%timeit" in notebook.texts("%timei")
    found = notebook.complete("'abc'.upp")
    assert found["matches"][0]["text"] == "upper" and (found["start"], found["end"]) == (6, 9)


@pytest.mark.quick
def test_to_complete_runs_and_changes_nothing(either):
    either.cell("class Odd:\n    @property\n    def value(self):\n        global ran\n        ran = True\n        return self\n    other = 1\nodd = Odd()")
    before = either.show()
    for code in ("odd.", "odd.value.", "odd.va", "od", "import antigr", "from this import ", "odd.value.other"):
        either.complete(code)
        either.inspect(code)
    after = either.show()
    assert (after["cells"], after["variables"]) == (before["cells"], before["variables"]) == (1, 2)
    assert len(either.ask("GET", "/history")["cells"]) == 1
    said = either.cell("import sys\nprint('ran' in globals(), 'this' in sys.modules, 'antigravity' in sys.modules)")
    assert said["stdout"] == "False False False\n" and said["session"]["cell"] == 2


def test_what_a_match_may_be(either):
    """Bounded in number and length; and nothing that is printed meanwhile is a cell's."""
    either.cell("class Many:\n    def __dir__(self):\n        print('printed')\n        return ['a%d' % i for i in range(1000)] + ['b' * 100_000, 'c\\ud800']\nmany = Many()")
    found = either.complete("many.a")
    assert len(found["matches"]) == 200 and found["more"] is True
    assert all(len(text) <= 1000 for text in either.texts("many.")) and either.texts("many.b") == []
    assert either.cell("print(1)")["stdout"] == "1\n"


@pytest.mark.quick
def test_inspection(either):
    either.cell("def area(width, height=1):\n    'Width times height.'\n    return width * height\nnumbers = [1, 2]\nlong = ['x'] * 100_000\nclass Bad:\n    def __repr__(self): raise ValueError('no')\nbad = Bad()")
    found = either.inspect("area")
    assert found == {"busy": False, "found": True, "name": "area", "type": "function", "signature": "(width, height=1)", "documentation": "Width times height.", "value": None}
    assert either.inspect("y = area(3, ")["name"] == "area" and either.inspect("area(numbers", 6)["name"] == "numbers"
    assert either.inspect("numbers")["value"] == "[1, 2]" and either.inspect("numbers.app")["found"] is False
    assert either.inspect("numbers.append")["name"] == "numbers.append"
    assert len(either.inspect("long")["value"]) <= 8192 and "ValueError" in either.inspect("bad")["value"]
    assert either.inspect("nothing") == {"busy": False, "found": False, "name": "", "type": "", "signature": None, "documentation": None, "value": None}
    assert either.inspect("len(")["found"] is True


def test_a_busy_session_says_so(asked):
    thread = asked.begin_forever()
    found = asked.complete("pri")
    assert found == {"busy": True, "start": 3, "end": 3, "matches": [], "more": False}
    assert asked.inspect("print")["busy"] is True and asked.inspect("print")["found"] is False
    asked.stop(thread)
    assert asked.texts("pri") == ["print"]


def test_code_that_takes_long_to_complete_is_interrupted(asked):
    asked.cell("class Slow:\n    def __dir__(self):\n        while True: pass\n    def __repr__(self):\n        while True: pass\nslow = Slow()")
    assert asked.texts("slow.") == [] and asked.inspect("slow")["found"] is False
    assert asked.cell("print(1)")["stdout"] == "1\n", "the session goes on"


@pytest.mark.parametrize("code", ["d." * 60_000, "x" * 200_000, "(" * 100_000, "f(1)." * 40_000], ids=["dots", "letters", "brackets", "calls"])
def test_long_code_ends_no_session(either, code):
    """What is looked at is near the cursor: all of it would take minutes, which nothing interrupts."""
    either.cell("value = 1")
    either.complete(code)
    either.inspect(code)
    found = either.complete(code + "\nvalu")
    assert [match["text"] for match in found["matches"]] == ["value"]
    assert (found["start"], found["end"]) == (len(code) + 1, len(code) + 5)
    assert either.inspect(code + "\nvalue")["value"] == "1"


# Each ends its session: (what the function that answers returns, what is asked).
ODD_MATCHES = {
    "nothing": "{}",
    "a list": "{'start': 0, 'end': 0, 'more': False, 'matches': {}}",
    "a start behind the end": "{'start': 2, 'end': 1, 'more': False, 'matches': []}",
    "an end behind the code": "{'start': 0, 'end': 4, 'more': False, 'matches': []}",
    "a negative start": "{'start': -1, 'end': 1, 'more': False, 'matches': []}",
    "numbers as matches": "{'start': 0, 'end': 1, 'more': False, 'matches': [1]}",
    "too many matches": "{'start': 0, 'end': 1, 'more': False, 'matches': [{'text': 'a', 'kind': '', 'signature': None}] * 201}",
    "a signature that is a list": "{'start': 0, 'end': 1, 'more': False, 'matches': [{'text': 'a', 'kind': '', 'signature': []}]}",
    "no word on more": "{'start': 0, 'end': 1, 'matches': []}",
    "a number that is no JSON": "{'start': 0, 'end': float('nan'), 'more': False, 'matches': []}",
}


@pytest.mark.parametrize("name", ODD_MATCHES)
def test_a_hostile_completion_ends_its_session(served, name):
    asked = Asked(served)
    hostile(asked, "complete", "complete", ODD_MATCHES[name])
    reply = served.post(asked.path + "/complete", {"code": "abc", "cursor": 3}, secret=served.alice)
    assert reply.status == 410 and "does not know" in reply.json()["detail"], reply
    assert asked.show()["state"] == "ended"


def test_hostile_texts_are_bounded_and_lines(asked):
    text = "{'start': 0, 'end': 1, 'more': False, 'extra': 1, 'matches': [{'text': 'x' * 100_000, 'kind': 'k\\n' * 1000, 'signature': '\\x1b[2J' * 9999}, {'text': 'a\\nb', 'kind': '', 'signature': None}]}"
    hostile(asked, "complete", "complete", text)
    found = asked.complete("abc")
    (match,) = found["matches"]
    assert set(found) == {"busy", "start", "end", "matches", "more"}
    assert len(match["text"]) <= 8192 and len(match["kind"]) <= 40 and len(match["signature"]) <= 2000
    assert match["kind"].isprintable() and match["signature"].isprintable()


@pytest.mark.parametrize("answer", ["{}", "{'found': 1}", "{'found': True, 'name': 'a', 'type': 5, 'signature': None, 'documentation': None, 'value': None}"])
def test_a_hostile_inspection_ends_its_session(served, answer):
    asked = Asked(served)
    hostile(asked, "complete", "look", answer)
    assert served.post(asked.path + "/inspect", {"code": "abc", "cursor": 3}, secret=served.alice).status == 410


# ---- results of earlier cells ----


@pytest.mark.quick
def test_history_with_results(asked):
    replies = [asked.cell("x = 1\nprint('one')\nx"), asked.cell("1/0")]
    cells = asked.ask("GET", "/history?results=true")["cells"]
    assert [cell["result"] for cell in cells] == replies
    assert "result" not in asked.ask("GET", "/history")["cells"][0]
    asked.ask("POST", "/checkpoints", {"name": "then"}, status=201)
    branch = asked.ask("POST", "/branches", {}, status=201)["sessions"][0]["session_id"]
    assert asked.cell("x + 1")["value"] == {"text/plain": "2"}
    asked.ask("POST", "/rollback", {"checkpoint": "then"})
    for path in (asked.path, f"/v1/sessions/{branch}"):
        reply = asked.served.get(path + "/history?results=true", secret=asked.served.alice)
        assert [cell["result"] for cell in reply.json()["cells"]] == replies
    asked.ask("POST", "/reset")
    assert asked.ask("GET", "/history?results=true")["cells"] == []
    assert asked.served.get(asked.path + "/history?results=maybe", secret=asked.served.alice).status == 400


def test_results_make_room_for_newer_ones(make_adder):
    adder = make_adder("[sessions]\nresult_bytes = 16KiB\n")
    adder.run("1")
    with Client(adder) as client:

        def new():
            return operate(client, "session.new")["session_id"]

        def cell(session, code):
            return operate(client, "run.new", session=session, code=code)

        def results(session):
            return [each["result"] for each in operate(client, "session.history", session=session, results=True)["cells"]]

        session = new()
        for number in range(12):
            cell(session, f"print('{number}' * 3000)")
        cell(session, "print('x' * 30_000)")
        kept = results(session)
        assert len(kept) == 13 and kept[0] is None and kept[12] is None, "the last is too long alone"
        assert kept[11]["stdout"] == "11" * 3000 + "\n" and sum(each is not None for each in kept) < 5
        # Of ended sessions, the newest keep theirs.
        operate(client, "session.end", session=session)
        assert results(session) == kept
        other = new()
        last = cell(other, "print('y' * 12_000)")
        operate(client, "session.end", session=other)
        assert results(other) == [last] and results(session) == [None] * 13


# ---- rows of tables ----

TABLE = """import numpy as np
import pandas as pd
table = pd.DataFrame({"number": [3, 1, None, 2], "word": ["b", "A", "c", None], "when": pd.date_range("2024-01-01", periods=4), "mixed": [1, "x", [1, 2], 2**70]})
"""


def rows(asked, query, status=200):
    return asked.ask("GET", "/rows?" + query, status=status)


@pytest.mark.quick
def test_rows_of_a_table(notebook):
    notebook.cell(TABLE + "series = table['word']\narray = np.arange(6).reshape(3, 2)\nnested = table.set_index(['number', 'word'])")
    page = rows(notebook, "name=table")
    assert [column["name"] for column in page["columns"]] == ["number", "word", "when", "mixed"]
    assert [column["type"] for column in page["columns"]] == ["float64", "object", "datetime64[ns]", "object"]
    assert page["rows"][0] == [3, "b", "2024-01-01 00:00:00", 1] and page["rows"][2][0] is None
    assert page["rows"][2][3] == "[1, 2]" and page["rows"][3] == [2, None, "2024-01-04 00:00:00", str(2**70)]
    assert (page["index"], page["total"], page["matching"], page["offset"], page["columns_left_out"]) == ([0, 1, 2, 3], 4, 4, 0, 0)
    assert rows(notebook, "name=table&offset=1&limit=2")["index"] == [1, 2]
    assert rows(notebook, "name=table&offset=9")["rows"] == []
    assert rows(notebook, "name=table&sort=number")["index"] == [1, 3, 0, 2]
    assert rows(notebook, "name=table&sort=number&descending=true")["index"] == [0, 3, 1, 2]
    assert len(rows(notebook, "name=table&sort=mixed")["rows"]) == 4, "values that do not compare"
    for text, found in (("a", [1]), ("B", [0]), ("2024-01-03", [2]), ("x", [1]), ("zzz", [])):
        page = rows(notebook, f"name=table&filter={text}")
        assert (page["index"], page["matching"], page["total"]) == (found, len(found), 4), text
    assert rows(notebook, "name=table&filter=2024&sort=number&limit=1")["index"] == [1]
    assert rows(notebook, "name=series&limit=1")["rows"] == [["b"]] and rows(notebook, "name=array")["rows"] == [[0, 1], [2, 3], [4, 5]]
    assert rows(notebook, "name=nested&limit=1")["index"] == ["3.0 / b"]
    assert notebook.show()["cells"] == 1


def test_rows_that_cannot_be_had(notebook):
    notebook.cell(TABLE + "text = 'x'")
    assert "the variable gone does not exist" in rows(notebook, "name=gone", 404)["detail"]
    assert "its type is str" in rows(notebook, "name=text", 400)["detail"]
    assert 'no column "nope"' in rows(notebook, "name=table&sort=nope", 400)["detail"]
    for query in ("", "name=", "name=table&limit=0", "name=table&limit=1001", "name=table&offset=-1", "name=table&descending=maybe", "name=table&filter=" + "x" * 201):
        rows(notebook, query, 400)


def test_pages_are_bounded(notebook):
    notebook.cell(
        "import pandas as pd\nlong = pd.DataFrame({'a': ['x' * 100_000] * 5 + ['\\ud800\\0']})\nwide = pd.DataFrame([range(600)] * 400)\n"
        "heavy = pd.DataFrame([['é' * 1000] * 100] * 300)\nnames = pd.DataFrame({'n' * 100_000: [1]})"
    )
    assert [len(line[0]) for line in rows(notebook, "name=long")["rows"]] == [1000] * 5 + [2]
    wide = rows(notebook, "name=wide&limit=1000")
    assert (len(wide["columns"]), wide["columns_left_out"], len(wide["rows"])) == (500, 100, 120)
    heavy = rows(notebook, "name=heavy&limit=1000")
    assert 1 <= len(heavy["rows"]) < 10 and heavy["total"] == 300
    assert len(rows(notebook, "name=names")["columns"][0]["name"]) == 200
    assert notebook.show()["state"] == "idle"


PAGE = "'columns': [{'name': 'a', 'type': 'int64'}], 'total': 1, 'matching': 1, 'offset': 0, 'columns_left_out': 0"
ODD_ROWS = {
    "nothing": "{}",
    "another number of cells": "{'rows': [[1, 2]], 'index': [0], " + PAGE + "}",
    "no list of cells": "{'rows': [1], 'index': [0], " + PAGE + "}",
    "an object as a cell": "{'rows': [[{}]], 'index': [0], " + PAGE + "}",
    "no label": "{'rows': [[1]], 'index': [], " + PAGE + "}",
    "too many rows": "{'rows': [[1]] * 101, 'index': [0] * 101, " + PAGE + "}",
    "a negative total": "{'rows': [], 'index': [], **{" + PAGE + "}, 'total': -1}",
    "many columns": "{'rows': [], 'index': [], **{" + PAGE + "}, 'columns': [{'name': 'a', 'type': 'b'}] * 501}",
    "an unknown refusal": "{'refused': 'because', 'about': ''}",
}


@pytest.mark.parametrize("name", ODD_ROWS)
def test_hostile_rows_end_their_session(served, name):
    asked = Asked(served)
    hostile(asked, "rows", "of_variable", ODD_ROWS[name])
    assert "does not know" in rows(asked, "name=a", 410)["detail"]


def test_a_hostile_refusal_is_a_line(asked):
    hostile(asked, "rows", "of_variable", "{'refused': 'no_column', 'about': '\\x1b[2J\\n' * 10_000}")
    detail = rows(asked, "name=a", 400)["detail"]
    assert detail.isprintable() and len(detail) < 500


def test_what_fails_is_said(asked):
    asked.cell("import sys\ndef fail(*more): raise ValueError('not\\nme')\nsys.modules['adder_runner.rows'].of_variable = fail")
    assert "ValueError" in rows(asked, "name=a", 500)["detail"] and asked.show()["state"] == "idle"


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_rows_of_a_table_that_a_run_kept(served, kind):
    if not served.has_science:
        harness.skip_without("science")
    made = served.run(TABLE + "table.drop(columns='mixed')", secret=served.alice, tables=kind, environment="science")
    path = f"/v1/runs/{made['run_id']}/tables/1/rows"

    def page(query, status=200, secret=served.alice):
        reply = served.get(f"{path}?environment=science&{query}", secret=secret)
        assert reply.status == status, reply
        return reply.json()

    before = len(served.get("/v1/records", secret=served.alice).json()["records"])
    whole = page("")
    assert [column["name"] for column in whole["columns"]] == ["number", "word", "when"]
    assert (len(whole["rows"]), whole["total"], whole["index"]) == (4, 4, [0, 1, 2, 3])
    assert whole["rows"][0][:2] == [3, "b"] and whole["rows"][2][0] is None and whole["rows"][3][1] is None
    assert page("offset=1&limit=2")["index"] == [1, 2] and page("sort=number&descending=true")["index"] == [0, 3, 1, 2]
    assert page("filter=a")["index"] == [1] and page("filter=zzz")["matching"] == 0
    assert 'no column "x"' in page("sort=x", 400)["detail"]
    page("", 404, served.bob)
    page("limit=0", 400)
    assert served.get(path.replace("tables/1", "tables/2"), secret=served.alice).status == 404
    assert len(served.get("/v1/records", secret=served.alice).json()["records"]) == before, "a page leaves no record"


# ---- differences ----

VALUES = """class Thing:
    def __init__(self, size): self.size = size
    def grow(self): return self.size + 1
def double(x, by=[2]): return x * by[0]
number, text, nested, thing, members, generator = 1, 'a', [1, {'k': (2, None)}], Thing(1), {'b', 'a', 'c'}, (x for x in ())
twice = ['word', 'word']
"""


def compare(asked, other):
    found = asked.ask("POST", "/compare", {"with": other.id})
    return {
        "here": [each["name"] for each in found["only_here"]],
        "there": [each["name"] for each in found["only_there"]],
        "differing": [each["name"] for each in found["differing"]],
        "same": found["same"],
        "unknown": found["unknown"],
    }


@pytest.mark.quick
def test_comparing_sessions(served, either):
    """Values are equal in another process too, where texts have other hashes and objects other addresses."""
    other = Asked(served, either.info["environment"])
    either.cell(VALUES + "mine = 1")
    other.cell(VALUES.replace("'word', 'word'", "'word', 'wo' + str('rd')") + "more = 2\nless = 3")
    assert compare(either, other) == {"here": ["mine"], "there": ["more", "less"], "differing": [], "same": 8, "unknown": ["generator"]}
    other.cell("number = 1.0\ntext += 'b'\nnested[1]['k'] = (2, 3)\nthing.size = 2\nmembers.add('d')\ndef double(x, by=[3]): return x * by[0]\ngenerator = []")
    found = compare(either, other)
    assert found["differing"] == ["double", "number", "text", "nested", "thing", "members", "generator"] and found["same"] == 2
    difference = either.ask("POST", "/compare", {"with": other.id})["differing"][1]
    assert (difference["here"]["type"], difference["there"]["type"]) == ("int", "float") and "digest" not in difference["here"]
    assert compare(either, either)["same"] == 9 and either.show()["cells"] == 1
    other.end()
    assert either.ask("POST", "/compare", {"with": other.id}, status=410)["detail"]


def test_comparing_a_branch(served, notebook):
    notebook.cell(TABLE + "array = np.arange(10)\nindexed = table.set_index('word')\nlists = pd.DataFrame({'a': [[1], [2]]})")
    (made,) = notebook.ask("POST", "/branches", {}, status=201)["sessions"]
    branch = Asked.__new__(Asked)
    branch.served, branch.id, branch.path = served, made["session_id"], f"/v1/sessions/{made['session_id']}"
    assert compare(notebook, branch) == {"here": [], "there": [], "differing": [], "same": 4, "unknown": []}
    branch.cell("table.loc[0, 'number'] = 4\narray[3] = 7\nindexed = indexed.sort_index()\nlists.loc[0, 'a'].append(2)")
    assert compare(notebook, branch)["differing"] == ["table", "array", "indexed", "lists"]
    branch.end()


def test_comparing_changes_no_class(either):
    """A pickle of an instance leaves a mark in its class."""
    either.cell("class Number(int): pass\nnumber = Number(3)")
    for _ in range(2):
        assert compare(either, either) == {"here": [], "there": [], "differing": [], "same": 2, "unknown": []}


def test_what_cannot_be_compared(served, asked):
    asked.cell("""class Slow:
    def __reduce__(self):
        while True: pass
class Bad:
    def __reduce__(self): raise ValueError('no')
slow, bad, deep, long, loop = Slow(), Bad(), [], list(range(3_000_000)), []
loop.append(loop)
for _ in range(1000): deep = [deep]
""")
    other = Asked(served)
    other.cell("slow, bad, deep, long, loop = [None] * 5")
    found = asked.ask("POST", "/compare", {"with": other.id})
    assert [each["name"] for each in found["differing"]] == ["slow", "bad", "deep", "long", "loop"], "their types say it"
    asked.cell("del slow")
    found = asked.ask("POST", "/compare", {"with": asked.id})
    assert found["unknown"] == ["bad", "deep", "long", "loop"] and found["same"] == 2
    other.end()


ODD_DIGESTS = {
    "nothing": "None",
    "a digest that is a number": "[{'name': 'a', 'type': 'int', 'shape': None, 'bytes': 1, 'digest': 5}]",
    "no digest": "[{'name': 'a', 'type': 'int', 'shape': None, 'bytes': 1}]",
    "too many": "[{'name': 'a', 'type': 'int', 'shape': None, 'bytes': 1, 'digest': None}] * 1001",
}


@pytest.mark.parametrize("name", ODD_DIGESTS)
def test_hostile_digests_end_their_session(served, asked, name):
    other = Asked(served)
    hostile(other, "digests", "of_variables", ODD_DIGESTS[name])
    asked.ask("POST", "/compare", {"with": other.id}, status=410)
    assert (other.show()["state"], asked.show()["state"]) == ("ended", "idle")


def test_names_that_come_twice(served, asked):
    """In the answer of a hostile session: nothing is counted twice."""
    other = Asked(served)
    one = "{'name': 'a', 'type': 'int', 'shape': None, 'bytes': 1, 'digest': 'x'}"
    hostile(other, "digests", "of_variables", f"[{one}] * 1000")
    found = other.ask("POST", "/compare", {"with": other.id})
    assert found["same"] == 1 and found["differing"] == []
    other.end()


def test_comparing_with_anothers_session(served, asked):
    theirs = served.post("/v1/sessions", {"environment": "system"}, secret=served.bob).json()["session_id"]
    for other in (theirs, "no-such"):
        asked.ask("POST", "/compare", {"with": other}, status=404)
    for body in ({}, {"with": None}, {"with": 5}, {"with": "a b"}):
        asked.ask("POST", "/compare", body, status=400)
    served.ask("DELETE", f"/v1/sessions/{theirs}", secret=served.bob)


def test_comparing_at_the_command_line(sessions):
    one, other = sessions.new(), sessions.new()
    sessions.cell(one, "a = 1; b = 2; same = 3")
    sessions.cell(other, "a = 'x'; same = 3; text = '\\x1b'")
    shown = sessions.adder.call("session", "compare", one, other)
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert shown.returncode == 0 and lines == [["NAME", "HERE", "THERE"], ["a", "int", "str", "1"], ["b", "int", "-"], ["text", "-", "str", "1"], ["1", "the", "same"]]
    assert sessions.ask("compare", one, one)["same"] == 3


# ---- names and branches ----


@pytest.mark.quick
def test_renaming(served):
    one, other = unique(), unique()
    asked = Asked(served, name=one)
    renamed = asked.ask("POST", "/rename", {"name": other})
    assert (renamed["name"], renamed["session_id"]) == (other, asked.id)

    def status(name, secret=served.alice):
        return served.get(f"/v1/sessions/{name}", secret=secret).status

    assert (status(other), status(one), status(other, served.bob)) == (200, 404, 404)
    # The old name is free, the new one is not; to keep one's own is no conflict.
    another = Asked(served, name=one)
    refused = served.post(another.path + "/rename", {"name": other}, secret=served.alice)
    assert refused.status == 409 and other in refused.json()["detail"]
    assert another.ask("POST", "/rename", {"name": one})["name"] == one
    for name in ("", "a b", "../x", "n" * 65, 5, asked.id):
        assert served.post(asked.path + "/rename", {"name": name}, secret=served.alice).status == 400, name
    assert asked.ask("POST", "/rename", {"name": None})["name"] is None and status(other) == 404
    assert another.ask("POST", "/rename", {"name": other})["name"] == other
    another.end()
    assert asked.ask("POST", "/rename", {"name": other})["name"] == other, "an ended one gives its name up"
    asked.end()


def test_renaming_while_a_cell_runs(asked):
    thread, name = asked.begin_forever(), unique()
    assert asked.ask("POST", "/rename", {"name": name})["state"] == "busy"
    asked.stop(thread)
    assert asked.cell("1")["session"]["name"] == name


def test_renaming_at_the_command_line(sessions):
    one, other = unique(), unique()
    session = sessions.new("--name", one)
    done = sessions.adder.call("session", "rename", one, other)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sessions.show(other)["session_id"] == session and sessions.ask("rename", other)["name"] is None
    assert "no session" in sessions.refused("rename", one, other)


def test_where_a_branch_began(asked):
    assert (asked.show()["branched_at"], asked.show()["branched_from"]) == (None, None)
    asked.cell("a = 1")
    kept = asked.ask("POST", "/checkpoints", {}, status=201)["checkpoint_id"]
    asked.cell("b = 1")
    (now,) = asked.ask("POST", "/branches", {}, status=201)["sessions"]
    (then,) = asked.ask("POST", "/branches", {"checkpoint": kept}, status=201)["sessions"]
    assert [(each["parent"], each["branched_at"], each["branched_from"]) for each in (now, then)] == [(asked.id, 2, None), (asked.id, 1, kept)]
    of_branch = asked.served.post(f"/v1/sessions/{then['session_id']}/cells", {"code": "c = 1"}, secret=asked.served.alice).json()
    assert of_branch["session"]["cell"] == 2
    for each in (now, then):
        shown = asked.served.get(f"/v1/sessions/{each['session_id']}", secret=asked.served.alice).json()
        assert shown["branched_at"] == each["branched_at"] and shown["branched_from"] == each["branched_from"]
        asked.served.ask("DELETE", f"/v1/sessions/{each['session_id']}", secret=asked.served.alice)


# ---- who may ask, and for what ----

QUESTIONS = {
    "complete": ("POST", "/complete", {"code": "a", "cursor": 1}),
    "inspect": ("POST", "/inspect", {"code": "a", "cursor": 1}),
    "rename": ("POST", "/rename", {"name": None}),
    "rows": ("GET", "/rows?name=a", None),
    "compare": ("POST", "/compare", {"with": "another"}),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_sessions_of_others_and_none(served, asked, name):
    method, path, body = QUESTIONS[name]
    for secret, session in ((served.bob, asked.id), (served.alice, "no-such")):
        reply = served.ask(method, f"/v1/sessions/{session}{path}", body, secret=secret)
        assert reply.status == 404, reply
    assert served.ask(method, asked.path + path, body, secret="").status == 401


@pytest.mark.parametrize("name", QUESTIONS)
def test_sessions_that_have_ended(served, name):
    method, path, body = QUESTIONS[name]
    asked = Asked(served)
    asked.end()
    body = {"with": asked.id} if name == "compare" else body
    reply = served.ask(method, asked.path + path, body, secret=served.alice)
    assert reply.status == 410 and "on request" in reply.json()["detail"], reply


BAD = {
    "complete": [{}, {"code": "a"}, {"code": 5, "cursor": 1}, {"code": "a", "cursor": -1}, {"code": "a", "cursor": 1.5}, {"code": "a" * 300_000, "cursor": 1}, {"code": "a", "cursor": 1, "more": 1}],
}
BAD["inspect"] = BAD["complete"]


@pytest.mark.parametrize("name", BAD)
def test_bad_questions(served, asked, name):
    method, path, _ = QUESTIONS[name]
    for body in BAD[name]:
        reply = served.ask(method, asked.path + path, body, secret=served.alice)
        assert reply.status == 400 and reply.json()["detail"], (body, reply)
    assert asked.show()["state"] == "idle"


@pytest.mark.quick
def test_over_the_local_socket(served):
    with Client(served.adder) as client:
        session = operate(client, "session.new", environment="system")["session_id"]
        assert operate(client, "run.new", code="name_of_mine = 1", session=session)["outcome"] == "ok"
        found = operate(client, "session.complete", session=session, code="name_of", cursor=7)
        assert [match["text"] for match in found["matches"]] == ["name_of_mine"], json.dumps(found)
        assert operate(client, "session.inspect", session=session, code="name_of_mine", cursor=3)["value"] == "1"
        operate(client, "session.end", session=session)

