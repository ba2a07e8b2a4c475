# SPDX-License-Identifier: Apache-2.0
"""The contract of the toolset `workbench`: execute_python, in the user's own directory and environment."""
import json
import os
import pty

import pytest

from harness import Tools, named, unique, wait_until, with_name

YES = "--dangerously-accept-all"
FIELDS = {"exit_code", "stdout", "stderr", "success", "run_id"}


@pytest.fixture
def tools(adder):
    return Tools(adder, "workbench")


@pytest.fixture
def execute(tools):
    """execute_python; the reply's fields are exactly those of the contract."""

    def call(code, status=0, *options, **arguments):
        reply = tools.call("execute_python", {"code": code, **arguments}, YES, *options, status=status)
        assert set(reply) == FIELDS, reply
        assert reply["success"] == (reply["exit_code"] == 0)
        return reply

    return call


def test_its_parameters(tools):
    assert list(tools.table)[0] == "execute_python"
    schema = tools.table["execute_python"]["inputSchema"]
    assert list(schema["properties"]) == ["code", "timeout", "description"] and schema["required"] == ["code"]
    assert schema["properties"]["timeout"]["default"] == 60
    assert schema["properties"]["description"]["default"] == ""


def test_the_description_tells_how_to_give_results(tools):
    text = tools.table["execute_python"]["description"]
    assert "print()" in text and "plt.savefig(" in text


def test_the_reply_of_code_that_ends(execute):
    reply = execute("import sys\nprint('out')\nprint('err', file=sys.stderr)", description="Say two words.")
    assert (reply["exit_code"], reply["stdout"], reply["stderr"]) == (0, "out\n", "err\n")


def test_the_reply_of_an_exception(execute):
    reply = execute("print('before')\n1/0", 1)
    assert reply["exit_code"] == 1 and reply["stdout"] == "before\n"
    assert reply["stderr"].startswith("Traceback") and reply["stderr"].endswith("ZeroDivisionError: division by zero\n")


def test_the_reply_of_an_exit_code(execute):
    assert execute("import sys\nsys.exit(3)", 1)["exit_code"] == 3
    said = execute("import sys\nsys.exit('no such file')", 1)
    assert said["exit_code"] == 1 and said["stderr"] == "no such file\n"


def test_the_reply_after_the_time_limit(tools):
    name = unique()
    code = "import subprocess, sys, time\nprint('a', flush=True)\nsubprocess.Popen([sys.executable, '-c', " + repr(
        named(name)
    ) + "])\ntime.sleep(600)"
    reply = tools.call("execute_python", {"code": code, "timeout": 3}, YES, status=1)
    assert set(reply) == {"error", "exit_code", "run_id"}
    assert reply["error"] == "Timed out after 3s" and reply["exit_code"] == 124
    wait_until(lambda: not with_name(name), "the whole process tree to be dead")


def test_a_busy_loop_meets_the_same_limit(tools):
    reply = tools.call("execute_python", {"code": "while True: pass", "timeout": 1}, YES, status=1)
    assert reply["error"] == "Timed out after 1s" and reply["exit_code"] == 124


@pytest.mark.parametrize(
    "arguments", [{}, {"code": 1}, {"code": "1", "timeout": 0}, {"code": "1", "timeout": "60"}, {"code": "1", "x": 2}]
)
def test_a_failure_of_ours_is_an_error(tools, arguments):
    assert tools.refused("execute_python", arguments)


# ---- the user's own directory and environment ----


@pytest.fixture
def in_directory(adder, tools):
    """Calls execute_python in a directory of the user's."""
    directory = adder.folder("project")

    def call(code, status=0, **options):
        text = json.dumps({"code": code})
        ended = adder.call("tool", "call", "execute_python", text, "--toolset", "workbench", YES, cwd=directory, **options)
        reply = tools.parse("execute_python", ended, status)
        if "error" in reply and "directory" in reply["error"]:
            pytest.skip(f"no work directories on this host: {reply['error']}")
        return reply

    call.directory = directory
    return call


def test_it_works_in_the_current_directory(adder, in_directory):
    adder.file("project/data.csv", "a,b\n1,2\n")
    reply = in_directory("print(open('data.csv').read().split()[1])\nopen('made.txt', 'w').write('here')")
    assert reply["stdout"] == "1,2\n"
    assert (in_directory.directory / "made.txt").read_text() == "here"


def test_the_directory_is_there_by_its_absolute_path(adder, in_directory):
    path = adder.file("project/data.csv", "a,b\n1,2\n")
    assert in_directory(f"print(open({str(path)!r}).read().split()[1])")["stdout"] == "1,2\n"


def test_a_figure_lands_in_the_directory(science, in_directory):
    reply = in_directory("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.savefig('plot.png')")
    assert reply["success"]
    assert (in_directory.directory / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_variables_that_pass_are_a_list(in_directory, adder):
    environment = {**adder.process_environment(), "LC_ALL": "C.UTF-8", "MY_SECRET_TOKEN": "s3cret", "AWS_KEY": "k"}
    reply = in_directory(
        "import os\nprint(os.environ.get('LANG'), os.environ.get('MY_SECRET_TOKEN'), os.environ.get('AWS_KEY'))",
        env=environment,
    )
    assert reply["stdout"] == "C.UTF-8 None None\n"


def test_what_is_installed_is_there(science, execute):
    reply = execute("import pandas, numpy, matplotlib, scipy\nprint(pandas.DataFrame({'a': [1, 2]}).a.sum())")
    assert reply["stdout"] == "3\n"


# ---- approval ----


def ask(tools, code="print('ran')", status=126, *options, **arguments):
    reply = tools.call("execute_python", {"code": code, **arguments}, *options, status=status)
    assert set(reply) == ({"error", "approval_id", "run_id"} if status == 126 and "approval_id" in reply else set(reply))
    return reply


def decide(adder, *words):
    ended = adder.call("approval", *words)
    assert ended.returncode == 0, ended


def test_nothing_runs_before_a_yes(adder, tools):
    code = f"print({unique()!r})"
    reply = ask(tools, code, description="Say a word.")
    assert set(reply) == {"error", "approval_id", "run_id"}
    shown = adder.call("approval", "show", reply["approval_id"]).stdout
    assert "Say a word." in shown and code in shown
    decide(adder, "approve", reply["approval_id"])
    assert ask(tools, code, 0, description="Say a word.")["success"]
    assert "approval_id" in ask(tools, code), "a yes is for one run"


def test_a_yes_is_for_the_code_that_was_shown(adder, tools):
    reply = ask(tools, f"print({unique()!r})")
    decide(adder, "approve", reply["approval_id"])
    other = ask(tools, "print('something else')", 126, "--approval", reply["approval_id"])
    assert "stdout" not in other
    by_id = ask(tools, f"print({unique()!r})")
    decide(adder, "approve", by_id["approval_id"])


def test_a_no(adder, tools):
    conversation, code = unique(), f"print({unique()!r})"
    reply = ask(tools, code, 126, "--conversation", conversation)
    decide(adder, "deny", reply["approval_id"], "--reason", "not on a Sunday")
    assert "not on a Sunday" in ask(tools, code, 126, "--conversation", conversation)["error"]


def test_always_for_this_conversation(adder, tools):
    conversation = unique()
    reply = ask(tools, "print(1)", 126, "--conversation", conversation)
    decide(adder, "approve", reply["approval_id"], "--always")
    for number in range(3):
        assert ask(tools, f"print({number})", 0, "--conversation", conversation)["stdout"] == f"{number}\n"
    assert "approval_id" in ask(tools, "print(1)", 126, "--conversation", unique())


def test_waiting_for_a_decision(adder, tools):
    code = f"print({unique()!r})"
    process = adder.popen(
        "tool", "call", "execute_python", json.dumps({"code": code}), "--toolset", "workbench", "--wait-approval", "10min"
    )

    def pending():
        listed = json.loads(adder.call("approval", "list", "--json").stdout)["approvals"]
        shown = [json.loads(adder.call("approval", "show", one["approval_id"], "--json").stdout) for one in listed]
        return [one["approval_id"] for one in shown if one["code"] == code]

    (identity,) = wait_until(pending, "the call to wait")
    decide(adder, "approve", identity)
    out, err = process.communicate(timeout=120)
    assert json.loads(out)["success"] and err == b"" and process.returncode == 0


@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_person_at_a_terminal_is_asked(adder, tools, answer):
    code = f"print({unique()!r})"
    leader, follower = pty.openpty()
    process = adder.popen(
        "tool", "call", "execute_python", json.dumps({"code": code, "description": "Say a word."}), "--toolset", "workbench",
        stdin=follower, stderr=follower, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while b"Run it?" not in seen:
        seen += os.read(leader, 65536)
    assert b"Say a word." in seen and b"print" in seen
    os.write(leader, answer.encode() + b"\n")
    out = process.stdout.read()
    process.wait()
    process.stdout.close()
    os.close(leader)
    reply = json.loads(out)
    if answer == "y":
        assert reply["success"] and process.returncode == 0
    else:
        assert "the user said no" in reply["error"] and process.returncode == 126


def test_accepting_all_is_logged(make_adder):
    adder = make_adder("[environment]\ndefault = system\n")
    Tools(adder, "workbench").call("execute_python", {"code": "1"}, YES)
    assert "accept" in (adder.runtime / "adder.log").read_text()


def test_the_prompt_tells_the_model(adder):
    text = adder.call("tool", "list", "--prompt", "--toolset", "workbench").stdout
    paragraph = text.split("Your tools for it:")[0]
    for word in ("find data, then transform, analyse and plot it without leaving", "current directory", "own environment", "pymatgen", "print()", "plt.savefig()", "said yes"):
        assert word in paragraph, word
    assert "execute_python" in text and "print" in text
