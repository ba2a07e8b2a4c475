# SPDX-License-Identifier: Apache-2.0
"""The contract of the toolset `assistant`: snippets, and a session for each conversation."""
import base64
import hashlib
import json
import re
import signal

import pytest

import harness
from harness import Tools, unique

# The time is the same for all.
THE_LAST_USER = pytest.mark.parametrize(
    "user", [user for user in harness.users() if not user.why_not][-1:], ids=lambda user: user.name, indirect=True
)
TRUNCATED = "[Output truncated at 4096 bytes]"
FRESH = re.compile(r"\[cell (\d+)\] (🐍 \[session active, (\d+) vars?\])$")


@pytest.fixture
def tools(adder):
    return Tools(adder, "assistant")


@pytest.fixture
def run(tools):
    """A snippet's text."""

    def call(code, status=0):
        reply = tools.call("run_python", {"code": code}, status=status)
        assert set(reply) == {"text", "cell", "pictures", "run_id"} and reply["cell"] is None
        return reply["text"]

    return call


@pytest.fixture
def chat(tools):
    """A conversation: its cells' replies, and its other tools' texts."""

    class Chat:
        def __init__(self):
            self.id = unique()

        def cell(self, code, status=0):
            arguments = {"code": code, "use_session": True}
            reply = tools.call("run_python", arguments, "--conversation", self.id, status=status)
            reply["said"], _, last = reply["text"].rpartition("\n")
            reply["number"], reply["line"], reply["variables"] = FRESH.fullmatch(last).groups()
            assert reply["cell"] == int(reply["number"])
            return reply

        def tool(self, name):
            return tools.call(name, {}, "--conversation", self.id)["text"]

        def refused(self, name, status=125):
            return tools.refused(name, {}, "--conversation", self.id, status=status)

    made = []

    def make():
        made.append(Chat())
        return made[-1]

    yield make
    for one in made:
        tools.adder.call("tool", "call", "assistant.python_end", "{}", "--conversation", one.id)


# ---- snippets ----


@pytest.mark.quick
def test_compound_interest(run):
    assert run("print(round(1000 * (1 + 0.05 / 12) ** (12 * 10), 2))") == "1647.01"


def test_the_sum_of_a_column(run):
    code = 'import csv, io\ntext = """A,B,C\n1,10,x\n2,20.5,y\n3,-4,z\n"""\nprint(sum(float(row["B"]) for row in csv.DictReader(io.StringIO(text))))'
    assert run(code) == "26.5"


def test_no_output(run):
    assert run("x = 1") == "(no output)"
    assert run("") == "(no output)"


def test_stdout_and_stderr_together(run):
    text = run("import sys\nprint('out', flush=True)\nprint('err', file=sys.stderr, flush=True)")
    assert sorted(text.split("\n")) == ["err", "out"]


def test_tracebacks_come_back(run):
    text = run("print('before')\n1/0", 1)
    assert text.startswith("before\nTraceback (most recent call last):\n")
    assert text.endswith("ZeroDivisionError: division by zero") and "line 2" in text


@THE_LAST_USER
def test_the_time_limit(run):
    assert run("import time\ntime.sleep(600)", 1) == "[Timeout] Script exceeded 10 s and was killed."


def test_the_cut(run):
    assert run("print('a' * 5000)") == "a" * 4096 + "\n" + TRUNCATED
    assert run("print('a' * 4095)") == "a" * 4095
    # Each of these characters is three bytes: the last one that fits ends at byte 4095.
    assert run("print('€' * 5000)") == "€" * 1365 + "\n" + TRUNCATED
    both = run("import sys\nprint('o' * 3000, flush=True)\nprint('e' * 3000, file=sys.stderr, flush=True)")
    assert both.endswith("\n" + TRUNCATED) and len(both) == 4096 + 1 + len(TRUNCATED)


def test_much_output_is_cut_as_well(run):
    text = run("import sys\nfor i in range(100000): print('x' * 100)")
    assert text.endswith("\n" + TRUNCATED) and len(text.encode()) == 4096 + 1 + len(TRUNCATED)


def test_nothing_persists(run):
    run("x = 1\nopen('left.txt', 'w').write('x')")
    assert run("import os\nprint(os.listdir(), 'x' in globals())") == "[] False"


def test_snippets_leave_nothing_behind(adder, tools):
    """Neither stored nor listed nor loadable; the record has names and digests."""
    word = unique()
    code = f"open('{word}.csv', 'w').write('a,b')\nopen('/tmp/{word}.txt', 'w').write('x')\nprint('{word}' * 10000)"
    reply = tools.call("run_python", {"code": code})
    for listed in (tools.call("list_files")["files"], json.loads(adder.call("file", "list", "--outputs", "--json").stdout)["files"]):
        assert not [file for file in listed if word in json.dumps(file) or file.get("run_id") == reply["run_id"]]
    record = json.loads(adder.call("history", "show", reply["run_id"], "--json").stdout)
    told = {file["name"]: (file["file_id"], len(file["sha256"])) for file in record["more"]["files"]}
    assert told == {f"{word}.csv": (None, 64), f"tmp/{word}.txt": (None, 64)}
    assert adder.call("history", "output", reply["run_id"]).returncode != 0


def test_what_a_snippet_is_asked_for_by_name_comes_back(adder):
    out = adder.scratch / unique()
    result = adder.run("open('a.txt', 'w').write('a')", "--profile", "snippet", "--out", out)
    assert (out / "a.txt").read_text() == "a" and [file["file_id"] for file in result.files] == [None]


def test_no_network(run):
    text = run("import urllib.request\nurllib.request.urlopen('http://example.com', timeout=5)", 1)
    assert "Error" in text


def test_no_proxy(run):
    assert run("import os\nprint(os.environ['no_proxy'])") == "*"


BLOCKED = [
    "import os\nos.system('ls')",
    "import os\nos.popen('ls')",
    "import os\nos.execv('/bin/ls', ['ls'])",
    "import os\nos.execvp('ls', ['ls'])",
    "import os\nos.execle('/bin/ls', 'ls', {})",
    "import subprocess",
    "from subprocess import run",
    "import shutil\nshutil.rmtree('/tmp/x')",
    "import importlib",
    "from importlib import import_module",
]


@pytest.mark.parametrize("code", BLOCKED)
def test_what_raises_permission_error(run, code):
    assert "PermissionError" in run(code, 1)


def test_libraries_go_on_working(science, run):
    assert run("import pandas as pd\nprint(pd.DataFrame({'a': [1, 2]}).describe().loc['mean', 'a'])") == "1.5"


def test_its_line_in_the_list(adder):
    lines = adder.call("tool", "list", "--toolset", "assistant").stdout.splitlines()
    assert len([line for line in lines if " run_python " in line]) == 1


# ---- sessions ----


def test_variables_stay_in_the_conversation(chat):
    one, two = chat(), chat()
    first = one.cell("x = 42")
    assert first["said"] == "(no output)" and first["number"] == "1"
    assert first["line"] == "🐍 [session active, 1 var]"
    second = one.cell("y = x + 1\n_hidden = 2\nz = 3\nprint(y)")
    assert second["said"] == "43" and second["number"] == "2" and second["line"] == "🐍 [session active, 3 vars]"
    assert "NameError" in two.cell("print(x)", 1)["said"]


def test_cells_count_from_one_after_a_reset(chat):
    one = chat()
    assert [one.cell("x = 1")["number"], one.cell("x")["number"]] == ["1", "2"]
    one.tool("python_reset")
    again = one.cell("1 / 0", 1)
    assert again["number"] == "1" and 'File "<cell 1>"' in again["said"]


def test_load_file_begins_no_session(adder, tools, chat):
    """It is there in the next script and, once there is one, in the session; what it refers to are tools of the set."""
    one, word = chat(), unique()
    stored = json.loads(adder.call("file", "put", adder.file(f"{word}.txt", "stored"), "--json").stdout)
    file_id = re.search('"file_id": ?"([^"]+)"', json.dumps(stored)).group(1)
    reply = tools.call("load_file", {"file_id": file_id}, "--conversation", one.id)
    assert reply["local_path"] == f"/tmp/{word}.txt"
    assert one.refused("python_variables").startswith("this conversation has no session")
    code = f"print(open('/tmp/{word}.txt').read())"
    assert tools.call("run_python", {"code": code}, "--conversation", one.id)["text"] == "stored"
    assert one.cell(code)["said"] == "stored"
    one.tool("python_end")
    tools.call("load_file", {"file_id": file_id}, "--conversation", one.id)
    assert "ended" in one.refused("python_variables"), "an ended one does not come back"
    assert one.cell(code)["said"].endswith("stored")
    assert file_id in [file["file_id"] for file in tools.call("list_files")["files"]]


def test_tools_refer_to_tools_that_there_are(tools):
    for name, tool in tools.table.items():
        text = json.dumps(tool)
        for other in ("list_files", "load_file", "run_python", "run_python_container"):
            assert other not in text or other in tools.table, (name, other)


def test_a_session_needs_a_conversation(tools):
    assert "conversation" in tools.refused("run_python", {"code": "1", "use_session": True})


def test_snippets_know_nothing_of_the_session(chat, run):
    chat().cell("x = 42")
    assert "NameError" in run("print(x)", 1)


def test_pictures(science, chat):
    reply = chat().cell("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()")
    assert [base64.b64decode(picture)[:4] for picture in reply["pictures"]] == [b"\x89PNG"]


def test_tables(science, chat):
    one = chat()
    small = one.cell("import pandas as pd\npd.DataFrame({'n': range(20)})")["said"]
    assert small.startswith("|  | n |\n| --- | --- |\n| 0 | 0 |") and "| 19 | 19 |" in small
    large = one.cell("pd.DataFrame({'n': range(100)})")["said"]
    assert "| 9 | 9 |" in large and "| 90 | 90 |" in large and "| 50 | 50 |" not in large
    assert "80" in large and "100 rows x 1 columns" in large
    assert "shape (4,)" in one.cell("import numpy as np\nnp.arange(4)")["said"]


def test_output_and_tables_in_order(science, chat):
    said = chat().cell("import pandas as pd\nprint('before')\ndisplay(pd.DataFrame({'n': [1]}))\nprint('after')")["said"]
    assert said.index("before") < said.index("| 0 | 1 |") < said.index("after")


@THE_LAST_USER
def test_a_cell_has_thirty_seconds(chat):
    one = chat()
    one.cell("x = 1")
    late = one.cell("import time\ntime.sleep(600)", 1)
    assert late["said"].endswith("[Timeout] Cell exceeded 30 s and was interrupted.")
    assert one.cell("print(x)")["said"] == "1"


def test_new_reset_end(chat):
    one = chat()
    one.cell("x = 1\nopen('kept.txt', 'w').write('x')")
    assert "🐍 [session active, 0 vars]" in one.tool("python_reset")
    assert one.cell("import os\nprint('x' in globals(), os.listdir())")["said"] == "False ['kept.txt']"
    assert one.tool("python_new") == "🐍 [session active, 0 vars]"
    fresh = one.cell("import os\nprint(os.listdir())")
    assert fresh["said"] == "[]" and fresh["number"] == "1"
    assert one.tool("python_end") == "The session has ended."
    assert "ended" in one.refused("python_variables")


def test_there_is_no_session_yet(chat):
    for name in ("python_reset", "python_end", "python_variables", "python_replay"):
        assert chat().refused(name).startswith("this conversation has no session")


def test_the_next_cell_begins_anew_and_says_so(chat):
    one = chat()
    one.cell("x = 1")
    one.tool("python_end")
    again = one.cell("print('x' in globals())")
    assert again["text"].startswith("[a new session: the last one ended") and again["said"].endswith("\nFalse")


def test_variables_are_listed_without_values(science, chat):
    one = chat()
    one.cell("import pandas as pd\nsecret = 'hunter2'\ndf = pd.DataFrame({'a': [1, 2, 3], 'b': [4, 5, 6]})\n_own = 1")
    text = one.tool("python_variables")
    assert "secret: str" in text and "df: DataFrame, 3 x 2" in text
    assert "hunter2" not in text and "_own" not in text and "pd:" not in text


def test_replay(chat):
    one = chat()
    one.cell("x = 20")
    one.cell("y = x + 1")
    one.tool("python_end")
    assert one.tool("python_replay") == "2 cells run again in a fresh interpreter."
    after = one.cell("print(x + y)")
    assert after["said"] == "41" and after["number"] == "3"


def test_replay_goes_on_after_a_cell_that_fails(chat):
    one = chat()
    one.cell("x = 1")
    one.cell("raise ValueError('no')", 1)
    one.cell("y = 2\nimport random\nrandom.random()")
    lines = one.tool("python_replay").split("\n")
    assert lines == [
        "3 cells run again in a fresh interpreter.",
        "Cell 2 ended as error (no), as before.",
        "Cell 3 ended as ok, as before; not as before: value.",
    ]
    assert one.cell("print(x, y)")["said"] == "1 2"


def test_replay_of_no_cells_ends_nothing(chat):
    one = chat()
    assert one.tool("python_new") == "🐍 [session active, 0 vars]"
    assert "no cells on record" in one.refused("python_replay")
    assert one.tool("python_variables") == "(no variables)", "the session lives"
    one.cell("x = 1")
    one.tool("python_reset")
    assert "no cells on record" in one.refused("python_replay")
    assert one.cell("'x' in globals()")["said"] == "False", "what the reset removed does not come back"
    assert one.tool("python_replay") == "1 cell run again in a fresh interpreter."
    assert one.cell("'x' in globals()")["number"] == "2"


def test_replay_without_a_file_changes_nothing(adder, tools, chat):
    """The new session would not be what the old one is."""
    one, word = chat(), unique()
    stored = adder.call("file", "put", adder.file(f"{word}.txt", "stored"), "--json").stdout
    file_id = re.search('"file_id": ?"([^"]+)"', stored).group(1)
    tools.call("load_file", {"file_id": file_id}, "--conversation", one.id)
    one.cell(f"text = open('/tmp/{word}.txt').read()")
    one.cell("x = 1")
    assert one.tool("python_replay") == "2 cells run again in a fresh interpreter."
    assert adder.call("file", "rm", file_id).returncode == 0
    said = one.refused("python_replay")
    assert "nothing has changed, since cell 1 was not run again" in said and word in said
    after = one.cell("print(text, x)")
    assert after["said"] == "stored 1" and after["number"] == "3"


def test_replay_of_a_session_that_is_at_work(adder, tools, chat):
    """What it does now is not on record yet, and would be lost."""
    one = chat()
    one.cell("x = 1")
    word = unique()
    arguments = json.dumps({"code": f"y = x + 1\n{harness.named(word)}", "use_session": True})
    working = adder.popen("tool", "call", "run_python", arguments, "--toolset", "assistant", "--conversation", one.id)
    name = "assistant-" + hashlib.sha256(one.id.encode()).hexdigest()[:32]
    sessions = harness.Sessions(adder)
    harness.wait_until(lambda: harness.with_name(word), "the cell to run")
    assert sessions.show(name)["state"] == "busy"
    assert "nothing has changed: the session that was replayed is at work" in one.refused("python_replay", 75)
    assert adder.call("session", "interrupt", name).returncode == 0
    working.communicate(timeout=harness.DEADLINE)
    assert one.cell("print(x, y)")["said"] == "1 2"


@pytest.mark.slow
def test_the_eleventh_ends_the_one_idle_longest(own_adder):
    tools = Tools(own_adder, "assistant")

    def cell(number, code):
        arguments = {"code": code, "use_session": True}
        return tools.call("run_python", arguments, "--conversation", f"chat {number}")["text"]

    for number in range(10):
        cell(number, f"x = {number}")
    cell(0, "x")  # now 1 is idle longest
    cell(10, "x = 10")
    assert "[a new session" not in cell(0, "x") and "[a new session" not in cell(2, "x")
    again = cell(1, "'x' in globals()")
    assert again.startswith(
        "[a new session: the last one ended (another conversation began one, and of 10 this one was idle longest)"
    )


def test_a_read_only_agent_gets_none(adder):
    listed = adder.call("tool", "list", "--toolset", "assistant", "--read-only").stdout.split()
    assert "run_python" not in listed and "python_new" not in listed


# ---- scripts in containers ----

SCRIPT_TRUNCATED = "[Output truncated at 8192 bytes]"
MADE = "open('made.csv', 'w').write('a,b'); print(6 * 7)"


def script(adder, code, status=0):
    return Tools(adder, "assistant").call("run_python_container", {"code": code}, status=status)


@THE_LAST_USER
def test_a_script_where_no_container_is_to_be_had(make_adder):
    adder = make_adder("[container]\nengine = none\n")
    reply = script(adder, MADE)
    assert reply["text"] == "42" and [file["name"] for file in reply["files"]] == ["made.csv"]
    assert reply["backend"] == "native" and len(reply["warnings"]) == 1 and "engine = none" in reply["warnings"][0]
    assert script(adder, "print('€' * 5000)")["text"] == "€" * 2730 + "\n" + SCRIPT_TRUNCATED
    assert "Traceback" in script(adder, "1 / 0", 1)["text"]
    assert script(adder, "")["text"] == "(no output)"


@THE_LAST_USER
@pytest.mark.everywhere
@pytest.mark.slow
def test_a_script_in_a_container(make_contained):
    contained = make_contained()
    reply = script(contained.adder, MADE)
    assert reply["text"] == "42" and [file["name"] for file in reply["files"]] == ["made.csv"], reply
    assert reply["backend"] == "container" and reply["warnings"] == []
    assert script(contained.adder, "print('a' * 9000)")["text"] == "a" * 8192 + "\n" + SCRIPT_TRUNCATED
    both = "import sys\nprint('o' * 5000, flush=True)\nprint('e' * 5000, file=sys.stderr, flush=True)"
    assert script(contained.adder, both)["text"].endswith("\n" + SCRIPT_TRUNCATED)
    plotted = script(contained.adder, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert base64.b64decode(plotted["pictures"][0]).startswith(b"\x89PNG")
    packages = "import numpy, pandas, matplotlib, scipy, requests, dateutil, pytz\nprint('all')"
    assert script(contained.adder, packages)["text"] == "all"
    assert script(contained.adder, "bytearray(1 << 30)", 1)["text"].startswith("[Out of memory] ")
    assert script(contained.adder, "while True: pass", 1)["text"] == "[Timeout] Script exceeded 30 s and was killed."


def test_a_session_that_another_call_gave_up_is_made_anew(make_adder):
    """Two calls of a conversation at once: one is making the session and is given up, the other waits for it."""
    adder = make_adder("[environment]\ndefault = system\n[sessions]\nparked = 0\n")
    adder.run("1")
    command = ("tool", "call", "assistant.run_python", json.dumps({"code": "print('done')", "use_session": True}), "--conversation", unique())
    zygotes = [process for process in harness.descendants(adder.daemon()) if process.name == "python3"]
    for zygote in zygotes:  # so that no sandbox is made
        zygote.signal(signal.SIGSTOP)
    try:
        with adder.popen(*command) as first:
            harness.wait_until(lambda: adder.call("session", "list", "--names").stdout.strip(), "the session to be in the making")
            with adder.popen(*command) as second:
                harness.wait_until(lambda: adder.status()["connections"] >= 2, "both to ask")
                first.kill()
                harness.wait_until(lambda: adder.status()["connections"] == 1, "one to be given up")
                for zygote in zygotes:
                    zygote.signal(signal.SIGCONT)
                out, err = second.communicate(timeout=2 * adder.deadline)
    finally:
        for zygote in zygotes:
            zygote.signal(signal.SIGCONT)
    assert second.returncode == 0 and json.loads(out)["text"].startswith("done\n[cell 1]"), (out, err)
