# SPDX-License-Identifier: Apache-2.0
"""`adder repl`: a prompt in a live session. docs/repl.md"""
import json
import os
import signal
import stat

import pytest

from harness import quick, unique
from terminal import Terminal

PROMPT = ">>> "
MORE = "... "


@pytest.fixture
def terminal():
    made = []

    def open_terminal(*arguments, **options):
        made.append(Terminal(*arguments, **options))
        return made[-1]

    yield open_terminal
    for each in made:
        each.kill()


def repl(terminal, adder, *options):
    screen = terminal(adder, "repl", *options)
    screen.wait_for(PROMPT)
    return screen


def enter(screen, *lines):
    """Types LINES, the first at a prompt that came, and returns what follows until the next one."""
    for line in lines[:-1]:
        screen.type(line + "\r")
        screen.wait_for(MORE)
    screen.type(lines[-1] + "\r")
    return screen.wait_for("\n" + PROMPT)


def leave(screen):
    screen.type("\x04")
    assert screen.end() == 0


def sessions_of(adder):
    return json.loads(adder.call("session", "list", "--json").stdout)["sessions"]


@pytest.mark.quick
def test_cells_share_variables_and_show_their_value(adder, terminal):
    screen = repl(terminal, adder)
    enter(screen, "x = 41")
    assert "\r\n42\r\n" in enter(screen, "x + 1")
    assert "ZeroDivisionError" in enter(screen, "1 / 0")
    assert "\r\n41\r\n" in enter(screen, "print(x)")
    leave(screen)


def test_code_of_several_lines(adder, terminal):
    screen = repl(terminal, adder)
    enter(screen, "def f(", "  n):", "  return n * 2", "")
    assert "\r\n42\r\n" in enter(screen, "f(", "21)")
    assert "a\\nb" in enter(screen, "'''a", "b'''")
    screen.type("def g():\r")
    screen.wait_for(MORE)
    screen.type("\x03")  # drops it
    screen.wait_for(PROMPT)
    assert "NameError" in enter(screen, "g")
    screen.type("exit()\r")
    assert screen.end() == 0


def test_completion_from_the_session(adder, terminal):
    screen = repl(terminal, adder)
    enter(screen, "xylophone, xylem = 42, 1")
    assert "\r\n42\r\n" in enter(screen, "xylo\t")
    screen.type("xy\t\t")
    assert "xylem" in screen.wait_for("xylophone")
    assert "\r\n42\r\n" in enter(screen, "o\t")
    assert ":rollback" in enter(screen, ":he\t")
    enter(screen, "class Tree:", "    crown, crowd, leaf = 1, 2, 42", "    bark = property(lambda self: print('properties run'))", "")
    enter(screen, "ö = tree = Tree()")
    assert "\r\n42\r\n" in enter(screen, "ö.le\t + 0")
    assert "\r\n42\r\n" in enter(screen, "print(tree.le\t)")
    screen.type("tree.cr\t\t")
    assert "crown" in screen.wait_for("crowd") + screen.wait_for(PROMPT)
    assert "\r\n1\r\n" in enter(screen, "n\t")
    screen.type("tree.\t")
    assert "properties run" not in screen.wait_for("leaf")
    screen.type("\x03")
    screen.wait_for("\n" + PROMPT)
    leave(screen)


def test_ctrl_c_interrupts_the_cell_and_variables_stay(adder, terminal):
    screen = repl(terminal, adder)
    enter(screen, "x = 41")
    screen.type("print('be' + 'gun', flush=True); import time; time.sleep(600)\r")
    screen.wait_for("begun\r\n")
    screen.type("\x03")
    screen.wait_for("KeyboardInterrupt")
    screen.wait_for("\n" + PROMPT)
    assert "\r\n42\r\n" in enter(screen, "x + 1")
    leave(screen)


def test_commands(adder, terminal):
    screen = repl(terminal, adder)
    enter(screen, "x = 41")
    assert ":rollback" in enter(screen, ":help")
    assert "int" in enter(screen, ":vars")
    assert "x = 41" in enter(screen, ":vars x")
    assert "there is no variable" in enter(screen, ":vars y")
    assert "there is no checkpoint" in enter(screen, ":rollback")
    enter(screen, ":checkpoint before")
    enter(screen, "x = 0")
    enter(screen, ":rollback before")
    assert "\r\n41\r\n" in enter(screen, "x")
    enter(screen, ":rollback")
    enter(screen, ":reset")
    assert "NameError" in enter(screen, "x")
    assert "did you mean :vars?" in enter(screen, ":var")
    screen.type(":quit\r")
    assert screen.end() == 0


def test_a_session_without_a_name_ends_with_the_prompt(own_adder, terminal):
    screen = repl(terminal, own_adder)
    assert [each["state"] for each in sessions_of(own_adder)] == ["idle"]
    leave(screen)
    assert [(each["state"], each["reason"]) for each in sessions_of(own_adder)] == [("ended", "on request")]


@pytest.mark.parametrize("number", quick([signal.SIGTERM, signal.SIGHUP], signal.SIGHUP))
def test_it_ends_also_when_the_program_is_ended(own_adder, terminal, number):
    screen = repl(terminal, own_adder)
    screen.type("half a li")
    screen.wait_for("half a li")
    screen.process.send_signal(number)
    assert screen.end() == 130
    assert [each["state"] for each in sessions_of(own_adder)] == ["ended"]


def test_a_session_with_a_name_stays(adder, terminal):
    name = unique()
    screen = repl(terminal, adder, "--name", name)
    enter(screen, "x = 41")
    enter(screen, ":v\t")  # neither completion nor a command is a cell
    leave(screen)
    screen = repl(terminal, adder, "--session", name)
    assert "\r\n42\r\n" in enter(screen, "x + 1")
    leave(screen)
    assert [each["cells"] for each in sessions_of(adder) if each["name"] == name] == [2]
    adder.call("session", "rm", name)


def test_a_session_that_ended_meanwhile_is_reported(adder, terminal):
    name = unique()
    screen = repl(terminal, adder, "--name", name)
    adder.call("session", "rm", name)
    screen.type("x = 1\r")
    screen.wait_for("has ended")
    assert screen.end() == 125


def test_what_was_typed_is_kept_for_its_user_alone(own_adder, terminal):
    screen = repl(terminal, own_adder)
    enter(screen, "if True:", "    x = 5", "")
    leave(screen)
    kept = own_adder.state / "repl-history"
    assert kept.read_text() == "if True:\n    x = 5\n" and stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    screen = repl(terminal, own_adder)
    screen.type("\x1b[A\x1b[A")
    screen.wait_for("if True:")
    screen.type("\x03")
    screen.wait_for(PROMPT)
    leave(screen)


def test_without_a_terminal_it_says_what_to_use(adder):
    ended = adder.call("repl", input="print(1)\n")
    assert ended.returncode == 125 and ended.stdout == ""
    assert "adder repl is for a terminal" in ended.stderr and "adder run" in ended.stderr


def test_a_session_that_is_there_is_not_made_anew(adder, terminal):
    screen = terminal(adder, "repl", "--session", unique(), "--env", "bare")
    screen.wait_for("--env is settled")
    assert screen.end() == 125
    screen = terminal(adder, "repl", "--session", unique())
    screen.wait_for("there is no session")
    assert screen.end() == 125
