# SPDX-License-Identifier: Apache-2.0
"""Sessions at the command line: variables that stay from process to process, what is shown of them, turns, interrupts,
replays."""
import base64
import os
import pty
import re
import signal

import pytest

import harness
from harness import FOREVER, Sessions, unique, wait_until
from terminal import read_to_end

ID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


# ---- variables stay ----


@pytest.mark.quick
def test_variables_stay(sessions):
    name = unique()
    made = sessions.adder.call("session", "new", "--name", name)
    assert made.returncode == 0 and re.fullmatch(ID + "\n", made.stdout) and made.stderr == ""
    identity = made.stdout.strip()
    sessions.made.append(identity)
    first = sessions.adder.call("run", "--session", name, "-c", "x = 42")
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    second = sessions.adder.call("run", "--session", identity, "-c", "print(x)")
    assert (second.returncode, second.stdout, second.stderr) == (0, "42\n", "")
    third = sessions.cell(name, "x += 1; x")
    assert third.text == "43"
    said = third.session
    assert said["session_id"] == identity and said["name"] == name and said["cell"] == 3
    assert said["variables"] == 1 and said["status"] == "[session active, 1 var]"
    assert 0 < said["expires_in_ms"] <= 30 * 60 * 1000


def test_functions_imports_and_files_stay(sessions):
    session = sessions.new()
    sessions.cell(
        session, "import math\ndef f(n):\n    return math.sqrt(n)\nopen('kept.txt', 'w').write('here')"
    )
    result = sessions.cell(session, "print(f(16), open('kept.txt').read())")
    assert result.stdout == "4.0 here\n"
    assert result.names == [], "a file is named by the cell that made it"


def test_each_session_is_its_own(sessions):
    one, two = sessions.new(), sessions.new()
    sessions.cell(one, "x = 1")
    sessions.cell(two, "x = 2")
    assert [sessions.cell(one, "x").text, sessions.cell(two, "x").text] == ["1", "2"]
    assert "x" not in sessions.adder.run("'x' in globals() or print('none')").fields["stdout"].replace(
        "none", ""
    )


def test_exceptions_keep_variables(sessions):
    session = sessions.new()
    failed = sessions.cell(session, "x = 5\n1/0\ny = 6")
    assert (
        failed.outcome == "error"
        and failed.error["type"] == "ZeroDivisionError"
        and failed.error["line"] == 2
    )
    assert sessions.cell(session, "print(x, 'y' in globals())").stdout == "5 False\n"


def test_what_a_new_session_is_given(sessions):
    data = sessions.adder.file("data.csv", "1,2\n")
    session = sessions.new("--file", f"{data}:in/d.csv", "--set-env", "MODE=test", "--limit", "pids=7")
    result = sessions.cell(session, "import os\nprint(open('in/d.csv').read().strip(), os.environ['MODE'])")
    assert result.stdout == "1,2 test\n" and result.limits["pids"] == 7


def test_what_a_cell_is_given(sessions):
    data = sessions.adder.file("cell.txt", "of the cell")
    session = sessions.new()
    result = sessions.cell(
        session,
        "print(open('c.txt').read(), input())",
        "--file",
        f"{data}:c.txt",
        "--stdin",
        data,
        "--timeout",
        "7",
    )
    assert result.stdout == "of the cell of the cell\n" and result.limits["wall_ms"] == 7000
    after = sessions.cell(session, "print(open('c.txt').read())\ninput()")
    assert after.stdout == "of the cell\n" and after.outcome == "error" and after.limits["wall_ms"] != 7000


def test_files_come_out(sessions):
    out = sessions.adder.folder("out")
    session = sessions.new()
    first = sessions.cell(session, "open('a.txt', 'w').write('a')", "--out", out)
    second = sessions.cell(session, "open('b.txt', 'w').write('b')", "--out", out)
    assert first.names == ["a.txt"] and second.names == ["b.txt"]
    assert sorted(path.name for path in out.iterdir()) == ["a.txt", "b.txt"]


def test_code_from_a_file_and_from_standard_input(sessions):
    session = sessions.new()
    script = sessions.adder.file("define.py", "def f():\n    return 'from a file'\n")
    sessions.adder.json("--session", session, script)
    assert sessions.adder.json("--session", session, "-", input="f()").text == "'from a file'"


# ---- what is shown ----


@pytest.mark.quick
def test_commands_about_a_session(sessions):
    session = sessions.new("--name", unique())
    sessions.cell(session, "x = 42\ntext = 'abc'")
    sessions.cell(session, "1/0")
    shown = sessions.show(session)
    assert shown["session_id"] == session and shown["state"] == "idle" and shown["reason"] is None
    assert shown["cells"] == 2 and shown["variables"] == 2 and shown["memory_bytes"] > 0
    assert session in [each["session_id"] for each in sessions.list()]

    variables = {each["name"]: each for each in sessions.ask("vars", session)["variables"]}
    assert set(variables) == {"x", "text"} and variables["x"]["type"] == "int" and variables["x"]["bytes"] > 0
    assert "42" not in str(variables), "values only by name"
    assert "42" in str(sessions.ask("vars", session, "x")["variables"][0]["value"])

    cells = sessions.ask("history", session)["cells"]
    assert [cell["cell"] for cell in cells] == [1, 2] and cells[0]["code"] == "x = 42\ntext = 'abc'"
    assert [cell["outcome"] for cell in cells] == ["ok", "error"]

    assert sessions.ask("reset", session)["session_id"] == session
    assert sessions.cell(session, "'x' in globals()").text == "False"
    assert sessions.ask("interrupt", session)["state"] == "idle", "nothing runs: nothing happens"
    assert sessions.ask("rm", session)[0]["state"] == "ended"
    assert sessions.show(session)["reason"] == "on request" and sessions.show(session)["state"] == "ended"


def test_text_for_people(sessions):
    name = unique()
    session = sessions.new("--name", name)
    sessions.cell(session, "numbers = [1, 2]\nprint('hello')")
    for arguments, expected in {
        ("list",): ["SESSION", name, "idle", session[:13]],
        ("show", name): [session, name, "idle"],
        ("vars", name): ["NAME", "TYPE", "numbers", "list"],
        ("vars", name, "numbers"): ["numbers = [1, 2]"],
        ("history", name): ["[1] ok", "    numbers = [1, 2]", "    print('hello')"],
    }.items():
        ended = sessions.adder.call("session", *arguments)
        assert ended.returncode == 0 and ended.stderr == "" and "\x1b" not in ended.stdout
        for text in expected:
            assert text in ended.stdout, (arguments, text, ended.stdout)
        assert not re.search("[ \t]$", ended.stdout, re.M), ended.stdout
    names = sessions.adder.call("session", "list", "--names").stdout.splitlines()
    assert name in names
    for arguments in (["reset", name], ["interrupt", name], ["rm", name]):
        ended = sessions.adder.call("session", *arguments)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert name not in sessions.adder.call("session", "list", "--names").stdout.splitlines()


def test_text_of_several_lines(sessions):
    session = sessions.new()
    sessions.cell(session, "import pandas\ntable = pandas.DataFrame({'a': [1]})\n\n_x = 5")
    assert sessions.adder.call("session", "history", session).stdout.splitlines()[1:] == [
        "    import pandas",
        "    table = pandas.DataFrame({'a': [1]})",
        "",
        "    _x = 5",
    ]
    assert sessions.adder.call("session", "vars", session, "table").stdout == "table =\n   a\n0  1\n"


def test_variables_that_are_not_there(sessions):
    session = sessions.new()
    sessions.cell(session, "_x = 5")
    ended = sessions.adder.call("session", "vars", session, "nothing", "_x")
    assert (ended.returncode, ended.stdout) == (125, "_x = 5\n")
    assert 'no variable "nothing"' in ended.stderr and ended.stderr.count("\n") == 1
    ended = sessions.adder.call("session", "vars", session, "nothing")
    assert (ended.returncode, ended.stdout) == (125, "")
    ended = sessions.adder.call("session", "vars", session)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "No variables.\n")


def test_ids_by_prefix(sessions):
    one, two = sessions.new(), sessions.new()
    common = os.path.commonprefix([one, two])
    assert sessions.show(one[: len(common) + 1])["session_id"] == one
    sessions.cell(two[: len(common) + 1], "x = 2")
    assert sessions.cell(two, "x").text == "2"
    said = sessions.refused("show", common[: max(4, len(common))])
    assert one in said and two in said, "an ambiguous beginning lists what it may mean"
    assert "there is no session" in sessions.refused("show", one[:3])


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["show", "no-such"], ["no-such"]),
        (["rm", "no-such"], ["no-such"]),
        (["show", ""], ["session"]),
        (["show", "../x"], ["session"]),
        (["show", "a\n\x1b[2Jb"], ["session"]),
        (["shw", "x"], ["did you mean", "show"]),
        (["show"], ["missing"]),
        (["show", "a", "b"], ["b"]),
        (["list", "--jsn"], ["json"]),
        (["new", "--name", "with space"], ["name"]),
        (["new", "--name", ""], ["name"]),
        (["new", "--name", "n" * 65], ["64"]),
        (["new", "--name", "01a2009a-0000-7000-8000-000000000000"], ["name"]),
        (["new", "--env", "no-such"], ["no-such"]),
        (["new", "--profile", "no-such"], ["no-such"]),
        (["new", "--limit", "pids=0"], ["pids"]),
        (["new", "--file", "/no/such/file"], ["/no/such/file"]),
        (["new", "extra"], ["extra"]),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_bad_input(sessions, arguments, words):
    sessions.adder.run("1")  # a daemon is there to be asked
    said = sessions.refused(*arguments)
    assert all(word in said for word in words), said


def test_names_that_are_near(sessions):
    sessions.new("--name", "climate")
    assert 'did you mean "climate"' in sessions.refused("show", "climaet")


def test_name_that_is_taken(sessions):
    name = unique()
    session = sessions.new("--name", name)
    assert name in sessions.refused("new", "--name", name)
    sessions.ask("rm", session)
    assert sessions.new("--name", name) != session, "the name of one that ended is free"


@pytest.mark.parametrize(
    "options, words",
    [
        (["--env", "system"], ["--env", "session new"]),
        (["--profile", "standard"], ["--profile"]),
        (["--isolation", "auto"], ["--isolation"]),
        (["--set-env", "A=B"], ["--set-env"]),
        (["--no-daemon"], ["--no-daemon"]),
        (["--", "argument"], ["argument"]),
    ],
)
def test_what_a_cell_cannot_have(sessions, options, words):
    ended = sessions.adder.call("run", "--session", "any", "-c", "1", *options)
    assert ended.returncode == 125 and ended.stderr.count("\n") == 1
    assert all(word in ended.stderr for word in words)


def test_cell_of_no_session(sessions):
    told = sessions.adder.call("run", "--session", "no-such", "-c", "1")
    assert told.returncode == 125 and told.stderr.count("\n") == 1
    assert "no-such" in told.stderr
    result = sessions.cell("no-such", "1")
    assert result.outcome == "failed" and "no-such" in result.error["message"]
    lonely = sessions.adder.call("run", "--no-wait", "-c", "1")
    assert lonely.returncode == 125 and "--session" in lonely.stderr


def test_without_a_daemon(own_adder):
    sessions = harness.Sessions(own_adder)
    assert sessions.ask("list") == {"sessions": []}
    assert own_adder.call("session", "list").returncode == 0
    assert own_adder.call("session", "list", "--names").stdout == ""
    assert "no daemon" in sessions.refused("show", "x")
    assert own_adder.daemon() is None, "asking starts none"
    sessions.new()
    assert own_adder.daemon() is not None


# ---- one cell at a time ----


def test_cells_wait_their_turn(sessions):
    """In the order of asking: each is seen to wait before the next asks."""
    session = sessions.new()
    sessions.cell(session, "order = []")
    first = sessions.started(
        session,
        "print('started', flush=True)\nopen('/tmp/go', 'w')\nimport time\n"
        "while not __import__('os').path.exists('/tmp/end'): time.sleep(0.01)\norder.append(0)",
    )
    assert sessions.show(session)["state"] == "busy"
    busy = sessions.cell(session, "1", "--no-wait")
    assert busy.outcome == "busy" and busy.exit_status == 75
    first.send_signal(signal.SIGINT)
    assert first.wait(harness.DEADLINE) != 0
    assert sessions.cell(session, "order").text == "[]"

    running = sessions.started(
        session, "print('started', flush=True)\nimport time\ntime.sleep(0.3)\norder.append(1)"
    )
    second = sessions.cell(session, "order.append(2); order")
    assert second.text == "[1, 2]" and running.wait(harness.DEADLINE) == 0


def test_waiting_cell_is_cancelled_alone(sessions):
    session = sessions.new()
    sessions.cell(session, "x = 1")
    running = sessions.started(session)
    waiting = sessions.start(session, "x = 2")
    harness.wait_for_handlers(waiting)
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(harness.DEADLINE) == 130
    assert running.poll() is None, "Ctrl-C of who waits does not meet who runs"
    running.send_signal(signal.SIGINT)
    running.wait(harness.DEADLINE)
    assert sessions.cell(session, "x").text == "1"


# ---- interrupts and limits ----


def test_interrupt_keeps_variables(sessions):
    session = sessions.new()
    sessions.cell(session, "x = 42")
    running = sessions.started(session, "y = 1\nprint('started', flush=True)\nwhile True: pass")
    sessions.ask("interrupt", session)
    out, err = running.communicate(timeout=harness.DEADLINE)
    assert running.returncode not in (0, None) and b"KeyboardInterrupt" in err
    assert sessions.cell(session, "print(x, y)").stdout == "42 1\n"


def test_ctrl_c_interrupts_the_cell(sessions):
    session = sessions.new()
    running = sessions.started(session, "x = 42\n" + FOREVER)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=harness.DEADLINE)
    assert running.returncode not in (0, None) and b"KeyboardInterrupt" in err
    assert sessions.cell(session, "x").text == "42"


DEAF = """
import time
words = ['started']
while True:
    try:
        while words:
            print(words.pop(), flush=True)
        time.sleep(1000)
    except KeyboardInterrupt:
        print('deaf', flush=True)
"""


def test_who_asks_again_does_not_wait(make_sessions):
    """The code takes no interrupt, and the grace is longer than the test may last: the first Ctrl-C interrupts, the second
    cancels, the third ends the command."""
    sessions = make_sessions()
    session = sessions.new()
    running = sessions.started(session, DEAF, "--timeout", "100")
    running.send_signal(signal.SIGINT)
    assert running.stdout.readline() == b"deaf\n"

    def ended():
        running.send_signal(signal.SIGINT)
        return running.poll() is not None

    wait_until(ended, "the command to end", deadline=30)
    assert running.returncode == 130
    sessions.adder.kill()


def test_deaf_code_ends_the_session(make_sessions):
    sessions = make_sessions("[sessions]\ninterrupt_grace_ms = 100ms\n")
    session = sessions.new()
    running = sessions.started(session, DEAF, "--timeout", "100")
    sessions.ask("interrupt", session)
    assert running.wait(harness.DEADLINE) not in (0, None)
    shown = sessions.show(session)
    assert shown["state"] == "ended" and "interrupt" in shown["reason"]
    after = sessions.cell(session, "1")
    assert after.outcome == "failed" and after.error["type"] == "SessionEnded"
    assert "adder session replay" in after.error["hint"]
    sessions.adder.stop()


@pytest.mark.quick
@pytest.mark.parametrize(
    "code, options, outcome",
    [
        ("while True: pass", ["--timeout", "0.3"], "timeout"),
        ("while True: pass", ["--limit", "cpu_ms=300"], "cpu_limit"),
        ("while True: print('x' * 10000)", ["--limit", "output_bytes=100000"], "output_limit"),
    ],
    ids=["wall", "cpu", "output"],
)
def test_limits_of_a_cell_keep_the_session(sessions, code, options, outcome):
    session = sessions.new()
    sessions.cell(session, "x = 42")
    result = sessions.cell(session, code, *options)
    assert result.outcome == outcome
    assert sessions.cell(session, "x").text == "42"


def test_limit_of_a_cell_in_words(sessions):
    told = sessions.adder.call("run", "--session", sessions.new(), "--timeout", "0.3", "-c", "while True: pass")
    assert told.returncode == 124 and "KeyboardInterrupt" in told.stderr
    assert told.stderr.endswith("adder: the run took longer than 300 ms (wall_ms); raise it with --timeout\n")


# ---- replays ----


def replayed(sessions, *arguments, status=0):
    ended = sessions.adder.call("session", "replay", *arguments, "--json")
    assert ended.returncode == status and ended.stderr == "", ended
    answer = harness.strict_json(ended.stdout)
    sessions.made.append(answer["session_id"])
    for cell in answer["cells"]:
        harness.check_result(
            cell["result"], harness.OUTCOMES[cell["result"]["outcome"]] or cell["result"]["exit_code"]
        )
    return answer


def test_replay(sessions):
    session = sessions.new("--set-env", "MODE=test", "--limit", "pids=9")
    for code in ("import os\nx = 1", "print(os.environ['MODE'])\nx += 1", "x"):
        sessions.cell(session, code)
    name = unique()
    again = replayed(sessions, session, "--name", name)
    assert again["session_id"] != session and again["name"] == name and again["left_out"] == []
    results = [cell["result"] for cell in again["cells"]]
    assert [cell["cell"] for cell in again["cells"]] == [1, 2, 3]
    assert results[1]["stdout"] == "test\n" and results[2]["value"]["text/plain"] == "2"
    assert results[0]["limits"]["pids"] == 9, "made as the first was"
    sessions.cell(name, "x = 100")
    assert sessions.cell(session, "x").text == "2", "the two go their own ways"

    told = sessions.adder.call("session", "replay", session)
    identity = told.stdout.splitlines()[-1]
    sessions.made.append(identity)
    assert told.returncode == 0 and re.fullmatch(ID, identity) and told.stdout.startswith("test\n")
    for text in ("[1] import os ...", "[1] ok, ", "[2] print(os.environ['MODE']) ...", "[3] x\n", "[3] ok, "):
        assert text in told.stderr


def test_replay_of_a_failing_cell(sessions):
    """Cells that failed run again and may fail again; what follows them is not lost, and differences are listed."""
    session = sessions.new()
    for code in ("x = 1", "1/0", "x += 1", "import random\nrandom.random()", "x"):
        sessions.cell(session, code)
    whole = replayed(sessions, session, status=1)
    assert [cell["result"]["outcome"] for cell in whole["cells"]] == ["ok", "error", "ok", "ok", "ok"]
    assert whole["cells"][4]["result"]["value"]["text/plain"] == "2" and whole["left_out"] == []
    told = [(cell["cell"], cell["outcome"], cell["before"], cell["differs"]) for cell in whole["cells"]]
    assert told[1] == (2, "error", "error", []) and told[3] == (4, "ok", "ok", ["value"]) and told[4] == (5, "ok", "ok", [])
    assert whole["cells"][1]["error"] == {"type": "ZeroDivisionError", "message": "division by zero"}
    later = replayed(sessions, session, "--from", "5", status=1)
    [cell] = later["cells"]
    assert cell["cell"] == 5 and cell["outcome"] == "error" and cell["before"] == "ok", "x is not there without the first cell"
    assert set(cell["differs"]) == {"outcome", "error", "value"}
    said = sessions.adder.call("session", "replay", session)
    sessions.made.append(said.stdout.splitlines()[-1])
    assert said.returncode == 1 and "adder: cell 4 differs from what is on record: value\n" in said.stderr


def test_replay_that_stops_changes_nothing(sessions):
    session = sessions.new()
    for code in ("x = 1", "1/0", "x += 1"):
        sessions.cell(session, code)
    before = [shown["session_id"] for shown in sessions.list()]
    name = unique()
    ended = sessions.adder.call("session", "replay", session, "--stop", "--name", name)
    assert ended.returncode != 0 and "nothing has changed, since cell 2 failed: division by zero" in ended.stderr
    assert ended.stdout == "" and [shown["session_id"] for shown in sessions.list()] == before
    assert name in sessions.refused("show", name) and sessions.cell(session, "x").text == "2"


def test_replay_of_a_session_that_crashed(sessions):
    """What ended the session would end the new one as well: it is left out, and what was before is back."""
    session = sessions.new()
    sessions.cell(session, "x = 42")
    sessions.cell(session, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    sessions.cell(session, "never = 'on record'")
    again = replayed(sessions, session)
    assert [cell["result"]["outcome"] for cell in again["cells"]] == ["ok"] and again["left_out"] == [2]
    assert sessions.cell(again["session_id"], "x").text == "42"
    only = sessions.new()
    sessions.cell(only, "import os\nos._exit(3)")
    assert "no cells on record but the one that ended it" in sessions.refused("replay", only)


def test_replay_in_which_the_new_session_ends(sessions):
    session = sessions.new()
    sessions.cell(session, "open('/tmp/marked', 'x')")
    sessions.cell(session, "import os\nif os.listdir('/work') == []:\n    print('alone')")
    data = sessions.adder.file("more.txt", "more")
    crash = "import os, signal\nif os.path.exists('/work/more.txt'):\n    os.kill(os.getpid(), signal.SIGSEGV)"
    sessions.cell(session, crash)
    before = [shown["session_id"] for shown in sessions.list()]
    ended = sessions.adder.call("session", "replay", session, "--file", data)
    assert ended.returncode != 0 and "nothing has changed, since cell 3 ended the new session" in ended.stderr
    assert [shown["session_id"] for shown in sessions.list()] == before and sessions.show(session)["state"] == "idle"


def test_a_reset_truncates_the_history(sessions):
    session = sessions.new()
    for code in ("secret = 1", "secret += 1"):
        sessions.cell(session, code)
    sessions.ask("reset", session)
    assert sessions.ask("history", session) == {"cells": [], "dropped": 0}
    assert "no cells" in sessions.refused("replay", session)
    assert sessions.cell(session, "x = 'secret' in globals()\nx").session["cell"] == 1
    again = replayed(sessions, session)
    assert [cell["cell"] for cell in again["cells"]] == [1] and again["cells"][0]["differs"] == []
    assert sessions.cell(again["session_id"], "('secret' in globals(), x)").text == "(False, False)"


def test_replay_restores_files(sessions):
    """Files that were given to the session or a cell are kept by their digests, also when they have changed since."""
    data, more = sessions.adder.file("d.txt", "data"), sessions.adder.file("folder/more.txt", "more")
    session = sessions.new("--file", data)
    read = "print(open('d.txt').read(), open('folder/more.txt').read())"
    sessions.cell(session, read, "--file", more.parent)
    sessions.cell(session, "open('d.txt', 'w').write('changed')")
    for path in (data, more):
        path.write_text("of another time")
    again = replayed(sessions, session)
    assert again["cells"][0]["result"]["stdout"] == "data more\n"
    assert [cell["differs"] for cell in again["cells"]] == [[], []]
    twice = replayed(sessions, again["session_id"])
    assert twice["cells"][0]["result"]["stdout"] == "data more\n", "a replay can be replayed"
    other = replayed(sessions, session, "--file", sessions.adder.file("new/d.txt", "new"))
    assert other["cells"][0]["result"]["stdout"] == "new more\n" and other["cells"][0]["differs"] == ["stdout"]


def test_replay_after_a_reset_has_the_files(sessions):
    data = sessions.adder.file("d.txt", "data")
    session = sessions.new()
    sessions.cell(session, "1", "--file", data)
    sessions.ask("reset", session)
    sessions.cell(session, "print(open('d.txt').read())")
    assert replayed(sessions, session)["cells"][0]["differs"] == []


def test_replay_has_the_limits_of_the_cells(sessions):
    session = sessions.new()
    assert sessions.cell(session, "while True: pass", "--timeout", "0.2").outcome == "timeout"
    again = replayed(sessions, session, status=124)
    assert again["cells"][0]["result"]["limits"]["wall_ms"] == 200 and again["cells"][0]["before"] == "timeout"


def test_interrupted_replay(sessions):
    session = sessions.new()
    sessions.cell(session, "x = 1")
    # Only in the replay, where a file is there, it does not end by itself.
    code = "import os, time\nprint('started', flush=True)\nif os.path.exists('/work/more.txt'):\n    time.sleep(600)"
    sessions.cell(session, code)
    before = [shown["session_id"] for shown in sessions.list()]
    more = sessions.adder.file("more.txt", "more")
    process = sessions.adder.popen("session", "replay", session, "--file", more)
    assert process.stdout.readline() == b"started\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=harness.DEADLINE)
    assert process.returncode not in (0, None) and out == b""
    assert b"nothing has changed, since cell 2 was interrupted" in err
    assert [shown["session_id"] for shown in sessions.list()] == before and sessions.cell(session, "x").text == "1"


def test_no_session_ends_for_a_replay_that_fails(make_adder):
    """The new session takes a place among the others only in the end."""
    sessions = Sessions(make_adder("[sessions]\nmax_sessions_per_owner = 2\n"))
    first, second = sessions.new(), sessions.new()
    sessions.cell(first, "import os, signal\nif os.path.exists('more.txt'):\n    os.kill(os.getpid(), signal.SIGSEGV)")
    more = sessions.adder.file("more.txt", "more")
    assert sessions.adder.call("session", "replay", first, "--file", more).returncode != 0
    assert [sessions.show(session)["state"] for session in (first, second)] == ["idle", "idle"]
    again = replayed(sessions, first, "--evict")
    assert sessions.show(second)["state"] == "ended" and sessions.show(again["session_id"])["state"] == "idle"


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--from", "9"], ["9"]),
        (["--from", "x"], ["--from"]),
        (["--from", "0"], ["--from", "from 1"]),
        (["--name", "a b"], ["name"]),
        (["--env", "no-such"], ["no-such"]),
    ],
)
def test_bad_replay(sessions, arguments, words):
    session = sessions.new()
    assert "no cells" in sessions.refused("replay", session)
    sessions.cell(session, "1")
    said = sessions.refused("replay", session, *arguments)
    assert all(word in said for word in words), said
    assert "no-such" in sessions.refused("replay", "no-such")


# ---- what a cell shows ----


def terminal(adder, *arguments):
    """What the command writes with a terminal as standard error; (status, stdout, stderr)."""
    master, slave = pty.openpty()
    with adder.popen(*arguments, stderr=slave) as process:
        os.close(slave)
        out = process.stdout.read()
        status = process.wait(harness.DEADLINE)
    err = read_to_end(master)
    os.close(master)
    return status, out.decode(), re.sub(r"\x1b\[\d+m", "", err.decode()).replace("\r\n", "\n")


def test_no_status_for_people(sessions):
    session = sessions.new()
    status, out, err = terminal(sessions.adder, "run", "--session", session, "-c", "a, b, c = 1, 2, 3; a")
    assert (status, out, err) == (0, "1\n", "")  # that line is for models


@pytest.mark.parametrize("where", ["run", "cell"])
def test_output_and_displays_in_order(science, where):
    """In the order of the code, and while it runs: it does not end by itself."""
    code = (
        "from IPython.display import display, Markdown\n"
        "for i in range(20):\n"
        "    print('out', i)\n"
        "    display(Markdown(f'**shown {i}**'))\n"
        "print('started', flush=True)\n"
        "while True: pass\n"
    )
    sessions = harness.Sessions(science)
    chosen = ["--env", "science"] if where == "run" else ["--session", sessions.new()]
    process = science.popen("run", *chosen, "-c", code)
    expected = [text for i in range(20) for text in (f"out {i}\n", f"**shown {i}**\n")] + ["started\n"]
    assert [process.stdout.readline().decode() for _ in expected] == expected
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=harness.DEADLINE)
    sessions.end_all()


PLOT = "import matplotlib.pyplot as plt\nfor i in range(2):\n    plt.plot([1, i])\n    plt.show()\n"


@pytest.mark.parametrize("where", ["run", "cell"])
def test_pictures(science, where):
    sessions = harness.Sessions(science)
    chosen = ["--env", "science"] if where == "run" else ["--session", sessions.new()]
    out = science.folder("pictures")
    told = science.call("run", *chosen, "-c", PLOT)
    assert told.returncode == 0 and told.stderr.count("a picture (PNG, ") == 2 and "--out" in told.stderr
    kept = science.call("run", *chosen, "--out", out, "-c", PLOT)
    assert kept.returncode == 0 and "picture-1.png" in kept.stderr and "picture-2.png" in kept.stderr
    first = (out / "picture-1.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    result = science.json(*chosen, "--out", out, "-c", PLOT + "open('picture-5.png', 'w').write('own')")
    assert sorted(path.name for path in out.iterdir()) == [
        f"picture-{number}.png" for number in (1, 2, 3, 4, 5)
    ]
    assert (out / "picture-1.png").read_bytes() == first, "what was there stays"
    assert (out / "picture-5.png").read_bytes() == b"own"
    assert (out / "picture-4.png").read_bytes() == base64.b64decode(result.displays[1]["image/png"])
    sessions.end_all()


def test_value_that_is_a_picture_is_told_once(science):
    code = "from PIL import Image; Image.new('RGB', (30, 20), 'red')"
    told = science.call("run", "--env", "science", "-c", code)
    assert (told.returncode, told.stdout) == (0, "<Image RGB 30x20>\n")


def test_tables_as_markdown(science):
    sessions = harness.Sessions(science)
    session = sessions.new()
    told = science.call("run", "--session", session, "-c", "import pandas as pd\npd.DataFrame({'a': [1, 2]})")
    assert told.returncode == 0 and re.search(r"^\|.*a.*\|$", told.stdout, re.M), told.stdout
    sessions.end_all()
