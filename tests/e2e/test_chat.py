# SPDX-License-Identifier: Apache-2.0
"""`adder chat`: through a pipe, and at a terminal. The model is a script (replay:FILE); tools, sessions and the daemon are
real. docs/chat.md"""
import json
import os
import re
import signal
import stat
import subprocess

import pytest

from agents import Agents, exchange, native
from harness import strict_json, unique
from terminal import Terminal

SNAKE = "\N{SNAKE}"


@pytest.fixture
def agents(adder):
    return Agents(adder)


@pytest.fixture
def own(own_adder):
    return Agents(own_adder)


def cell(code, **others):
    return native(("run_python", {"code": code, "use_session": True}), **others)


def said(text, **others):
    return exchange(text=text, **others)


def chat(agents, script, *messages, options=()):
    ended = agents.adder.call(
        "chat",
        "--model",
        agents.script(script),
        *options,
        input="".join(message + "\n" for message in messages),
    )
    return ended


def lines_of(ended):
    return [strict_json(line) for line in ended.stdout.splitlines()]


# ---- through a pipe ----


@pytest.mark.quick
def test_a_line_is_a_message(agents):
    ended = chat(
        agents, [said("Hello.", contains="hi"), said("Well.", contains="and you?")], "hi", "", "and you?"
    )
    assert (ended.returncode, ended.stdout) == (0, "Hello.\nWell.\n")
    assert "the answers come from a replay of" in ended.stderr


@pytest.mark.quick
def test_a_session_and_its_indicator(agents):
    ended = chat(
        agents,
        [
            cell("x = 41"),
            said("Done."),
            cell("x + 1", contains="go on"),
            said("42.", contains="42"),
            said("Bye."),
        ],
        "begin",
        "go on",
        "/python vars",
        "/python history",
        "/python reset",
        "/python vars",
        "/python end",
        "bye",
    )
    assert ended.returncode == 0
    one = SNAKE + " [session active, 1 var]"
    assert ended.stdout.splitlines() == [
        "Done.", one, "42.", one,
        "x: int",
        "[cell 1]", "x = 41", "[cell 2]", "x + 1",
        "All variables are forgotten.", SNAKE + " [session active, 0 vars]",
        "(no variables)",
        "The session has ended.",
        "Bye.",
    ]  # fmt: skip
    assert "step 1: run_python" in ended.stderr and "x = 41" in ended.stderr


def test_new_sessions_and_replayed_ones(agents):
    ended = chat(
        agents,
        [cell("a, b = 1, 2"), said("Done.")],
        "/python new",
        "begin",
        "/python replay",
        "/python vars",
        "/python new",
        "/python history",
    )
    assert ended.returncode == 0
    assert ended.stdout.splitlines() == [
        SNAKE + " [session active, 0 vars]",
        "Done.", SNAKE + " [session active, 2 vars]",
        "1 cell run again in a fresh interpreter.",
        "a: int", "b: int",
        SNAKE + " [session active, 0 vars]",
        "(no cells)",
    ]  # fmt: skip


def test_code_cannot_pass_for_the_indicator(agents):
    shown = SNAKE + " [session active, 99 vars]"
    ended = chat(agents, [native(("run_python", {"code": f"print('{shown}')"})), said("Done.")], "go")
    assert ended.stdout == "Done.\n"
    ended = chat(agents, [cell(f"x = 1\nprint('{shown}')"), said("Done.")], "go")
    assert ended.stdout.endswith(SNAKE + " [session active, 1 var]\n") and "99" not in ended.stdout


def test_a_conversation_is_taken_up_again(agents):
    name = f"chat-{unique()}"
    first = chat(agents, [cell("x = 1"), said("Done.")], "begin", options=["--conversation", name])
    second = chat(agents, [said("Yes.")], "still there?", "/python vars", options=["--conversation", name])
    assert first.returncode == second.returncode == 0
    assert second.stdout.splitlines() == ["Yes.", SNAKE + " [session active, 1 var]", "x: int"]


def test_a_session_that_nobody_can_come_back_to_ends(own):
    chat(own, [cell("x = 1"), said("Done.")], "begin")
    sessions = json.loads(own.adder.call("session", "list", "--json").stdout)["sessions"]
    assert [session for session in sessions if session["state"] != "ended"] == []


def test_what_the_model_can_call(agents):
    ended = chat(agents, [said("x")], "/tools")
    assert (
        ended.returncode == 0
        and ended.stdout.startswith("run_python: Runs Python code")
        and "python_new: " in ended.stdout
    )
    ended = chat(agents, [said("x")], "/tools", "/python new", options=["--toolset", "compute"])
    assert "compute_with_python" in ended.stdout and "run_python" not in ended.stdout
    assert ended.returncode == 1 and "only the toolset assistant has sessions" in ended.stderr


def test_wrong_commands_say_what_there_is(agents):
    ended = chat(
        agents,
        [said("Slash.", contains="/etc")],
        "/hlep",
        "/python old",
        "/save",
        "//etc",
        "/quit",
        "never said",
    )
    assert ended.returncode == 1 and ended.stdout == "Slash.\n"
    for told in ("did you mean /help?", "/python has new, reset, end", "say where: /save FILE"):
        assert told in ended.stderr
    ended = chat(agents, [said("x")], "/python vars")
    assert ended.returncode == 1 and "this conversation has no session" in ended.stderr


def test_another_model_goes_on(agents):
    other = agents.adder.file("other.jsonl", json.dumps(said("From the other one.")) + "\n")
    ended = chat(
        agents, [said("One.")], "hi", f"/model replay:{other}", "hi again", "/model nobody", "/model"
    )
    assert ended.stdout.splitlines() == [
        "One.", f"replay:{other} is a replay of {other}", "From the other one.", f"replay:{other} is a replay of {other}",
    ]  # fmt: skip
    assert ended.returncode == 1 and "there is no model nobody" in ended.stderr


def test_a_conversation_is_saved_once(agents):
    path = agents.adder.scratch / (f"saved-{unique()}.md")
    ended = chat(
        agents,
        [cell("print('```')"), said("*Done.*")],
        "do it",
        f"/save {path}",
        f"/save {path}",
    )
    text = path.read_text()
    assert text.startswith("**You:**\n\ndo it\n\n") and "```python\nprint('```')\n" in text.replace(
        "````", "```"
    )
    assert "````\n```\n" in text and text.endswith("*Done.*\n\n")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert ended.returncode == 1 and "exists already" in ended.stderr


def test_lines_of_json(agents):
    path = agents.adder.scratch / (f"transcript-{unique()}" + ".jsonl")
    ended = chat(
        agents,
        [cell("x = 1"), said("Done.")],
        "go",
        "/python vars",
        "/nothing",
        options=["--json", "--transcript", path],
    )
    head, step, turn, command, wrong = lines = lines_of(ended)
    assert head["replay"] and head["toolset"] == "assistant" and head["provider"].startswith("a replay of ")
    assert step["function"]["name"] == "run_python" and "[cell 1]" in step["result"]
    assert (turn["turn"], turn["said"], turn["answer"], turn["completed"], turn["replay"]) == (
        1,
        "go",
        "Done.",
        True,
        True,
    )
    assert turn["session"] == command["session"] == SNAKE + " [session active, 1 var]"
    assert (command["command"], command["text"], command["error"]) == ("/python vars", "x: int\n", None)
    assert "there is no /nothing" in wrong["error"]
    assert ended.stderr == ""
    assert [strict_json(line) for line in path.read_text().splitlines()] == lines


def test_a_recording_plays_again(agents):
    path = agents.adder.scratch / (f"record-{unique()}" + ".jsonl")
    first = chat(agents, [cell("x = 6 * 7\nx"), said("42.")], "go", options=["--record", path])
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    again = agents.adder.call("chat", "--model", f"replay:{path}", input="go\n")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    other = agents.adder.call("chat", "--model", f"replay:{path}", input="stay\n")
    assert other.returncode == 125
    assert 'the text of new message 1 (user) is "stay", and was "go"' in other.stderr


@pytest.mark.parametrize(
    "model, told", [("replay:/nowhere", "cannot read the replay"), ("nobody", "adder model new")]
)
def test_no_model(agents, model, told):
    ended = agents.adder.call("chat", "--model", model, input="hi\n")
    assert ended.returncode == 125 and told in ended.stderr and ended.stdout == ""


def test_a_signal_ends_it_where_nobody_sits_there(agents):
    script = agents.script([said("never", wait_ms=600000)])
    with agents.adder.popen("chat", "--model", script, "--json", stdin=subprocess.PIPE) as process:
        head = strict_json(process.stdout.readline().decode())
        assert head["replay"]
        process.stdin.write(b"go\n")
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        assert process.wait() == 130
    # It came while the answer was waited for, or just before.
    assert rest == b"" or strict_json(rest.decode())["reason"] == "cancelled"


# ---- pictures ----


def test_pictures_are_files(agents):
    if agents.adder.environment != "science":
        pytest.skip("there is no environment science")
    out = f"pictures-{unique()}"
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    ended = chat(agents, [cell(plot), said("Here.")], "plot", options=["--out", out])
    assert f"picture: {out}/picture-1.png\n" in ended.stdout
    assert (agents.adder.scratch / out / "picture-1.png").read_bytes().startswith(b"\x89PNG")


# ---- at a terminal ----


@pytest.fixture
def terminal():
    made = []

    def open_terminal(agents, script, *arguments):
        made.append(Terminal(agents.adder, "chat", "--model", agents.script(script), *arguments))
        return made[-1]

    yield open_terminal
    for each in made:
        each.kill()


@pytest.mark.quick
def test_typing_editing_and_leaving(own, terminal):
    screen = terminal(own, [said("Hello.", contains="hallo"), said("Again.", contains="hallo")])
    assert "a replay of" in screen.wait_for("you> ")
    screen.type("hxllo\x1b[D\x1b[D\x1b[D\x7fa\r")  # three to the left, over the x
    screen.wait_for("Hello.")
    screen.wait_for("you> ")
    screen.type("\x1b[A\r")  # the line before
    screen.wait_for("Again.")
    screen.wait_for("you> ")
    screen.type("half a line\x03")
    screen.wait_for("you> ")
    screen.type("\x04")
    assert screen.end() == 0
    kept = own.adder.state / "chat-history"
    assert kept.read_text() == "hallo\n" and stat.S_IMODE(os.stat(kept).st_mode) == 0o600


def test_what_was_typed_in_an_earlier_chat_is_there(own, terminal):
    screen = terminal(own, [said("One.")])
    screen.wait_for("you> ")
    screen.type("remember me, Ännchen\r")
    screen.wait_for("One.")
    screen.wait_for("you> ")
    screen.type(" not this\x15/quit\r")
    assert screen.end() == 0
    screen = terminal(own, [said("Two.", contains="remember me, Ännchen")])
    screen.wait_for("you> ")
    screen.type("\x1b[A\x1b[A\r")
    screen.wait_for("Two.")
    screen.wait_for("you> ")
    screen.type("\x04")
    assert screen.end() == 0


def test_ctrl_c_ends_the_answer_and_not_the_chat(agents, terminal):
    script = [said("never", wait_ms=600000), said("never", wait_ms=600000), said("Here again.")]
    screen = terminal(agents, script)
    for _ in range(2):
        screen.wait_for("you> ")
        screen.type("go\r")
        screen.wait_for("asking")
        screen.type("\x03")
        screen.wait_for("it was cancelled")
    screen.wait_for("you> ")
    screen.type("go\r")
    screen.wait_for("Here again.")
    screen.wait_for("you> ")
    screen.type("\x04")
    assert screen.end() == 0


def test_ending_it_from_outside_leaves_the_terminal_as_it_was(agents, terminal):
    screen = terminal(agents, [said("x")])
    screen.wait_for("you> ")
    screen.type("half a li")
    screen.wait_for("half a li")
    screen.process.send_signal(signal.SIGTERM)
    assert screen.end() == 130


def test_an_approval_is_asked_for_in_place(agents, terminal):
    write = native(
        ("execute_python", {"code": "open('made-by-chat', 'w').close()", "description": "write a file"})
    )
    screen = terminal(
        agents, [write, said("Written."), write, said("Not written.")], "--toolset", "workbench"
    )
    made = agents.adder.scratch / "made-by-chat"
    for answer, says in (("y", "Written."), ("n", "Not written.")):
        screen.wait_for("you> ")
        screen.type("write\r")
        assert "write a file" in screen.wait_for("Run it?")
        screen.type(answer + "\r")
        screen.wait_for(says)
        assert made.exists() == (answer == "y")
        made.unlink(missing_ok=True)
    screen.wait_for("you> ")
    screen.type("\x04")
    assert screen.end() == 0


def test_pictures_are_links(agents, terminal):
    if agents.adder.environment != "science":
        pytest.skip("there is no environment science")
    out = f"linked-{unique()}"
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    screen = terminal(agents, [cell(plot), said("Here.")], "--out", out)
    screen.wait_for("you> ")
    screen.type("plot\r")
    shown = screen.wait_for("Here.")
    assert re.search(
        r"\x1b\]8;;file://[^\x1b]*/%s/picture-1.png\x1b\\%s/picture-1.png\x1b\]8;;\x1b\\" % (out, out), shown
    )
    assert "[session active" not in screen.wait_for("you> ")  # which is for programs
    screen.type("\x04")
    assert screen.end() == 0


def test_a_model_cannot_drive_the_terminal(agents, terminal):
    screen = terminal(agents, [said("a\x1b[2Jb\x07c")])
    screen.wait_for("you> ")
    screen.type("go\r")
    assert "\x1b[2J" not in screen.wait_for("a<U+001B>[2Jb<U+0007>c")
    screen.wait_for("you> ")
    screen.type("\x04")
    assert screen.end() == 0


def test_a_message_of_several_lines(agents, terminal):
    screen = terminal(agents, [said("Both.", contains="one\ntwo")])
    screen.wait_for("you> ")
    screen.type("one\\\r")
    screen.wait_for("...> ")
    screen.type("two\r")
    screen.wait_for("Both.")
    screen.wait_for("you> ")
    screen.type("/quit\r")
    assert screen.end() == 0
