# SPDX-License-Identifier: Apache-2.0
"""How far a call is whose work is no run, by each interface, and what ends it: a search of one database that answers and one that
holds its second page back until the test says so."""
import json
import os
import pty
import signal
import threading

import harness
import http_bed
import materials_world as world
import pytest

SETTINGS = "[materials]\nindex = none\n"
ARGUMENTS = {"elements": ["O"], "providers": ["good", "held"]}
COMMAND = ("search", "--elements", "O", "--providers", "good,held")


@pytest.fixture
def searching(make_adder, hostile):
    adder = make_adder(SETTINGS)
    world.configure(adder, hostile.urls("good", "held"))
    yield adder
    hostile.go_on.set()


def events(answer):
    """(NAME, DATA) of a stream, as they come."""
    name = None
    for line in answer:
        field, _, value = line.decode().rstrip("\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


@pytest.mark.quick
def test_a_stream_of_http_has_events_of_it(searching, hostile):
    served = http_bed.Served(searching)
    try:
        with served.connection() as connection:
            body = json.dumps({"arguments": ARGUMENTS, "toolset": "workbench", "stream": True})
            connection.request("POST", "/v1/tools/search_materials", body, served.headers(**{"Content-Type": "application/json"}))
            stream = events(connection.getresponse())
            name, told = next(stream)
            assert name == "progress" and told["of"] == 2 and told["done"] < 2 and "of 2 providers" in told["text"]
            assert not hostile.go_on.is_set(), "it is told while it lasts"
            hostile.go_on.set()
            rest = list(stream)
        assert [name for name, _ in rest[:-1]] == ["progress"] * (len(rest) - 1)
        assert rest[-2][1]["done"] == 2
        assert rest[-1][0] == "reply" and rest[-1][1]["reply"]["complete"] and rest[-1][1]["exit_code"] == 0
    finally:
        served.stop()


class Terminal:
    """Standard error of a command; what it wrote is gathered."""

    def __init__(self, adder, *arguments):
        self.ours, theirs = pty.openpty()
        self.text = ""
        self.process = adder.popen(*arguments, stderr=theirs, env={**adder.process_environment(), "TERM": "xterm"})
        os.close(theirs)
        self.thread = threading.Thread(target=self.gather, daemon=True)
        self.thread.start()

    def gather(self):
        while True:
            try:
                part = os.read(self.ours, 4096)
            except OSError:
                return  # nobody has the other end any more
            if not part:
                return
            self.text += part.decode()

    def end(self):
        out = self.process.stdout.read().decode()
        status = self.process.wait(timeout=harness.DEADLINE)
        self.thread.join()
        os.close(self.ours)
        return status, out


def test_a_terminal_has_a_line_that_goes_away(searching, hostile):
    terminal = Terminal(searching, *COMMAND)
    harness.wait_until(lambda: "of 2 providers done" in terminal.text, "the line")
    assert not hostile.go_on.is_set()
    hostile.go_on.set()
    status, out = terminal.end()
    assert status == 0 and "providers done" not in out
    line, last = terminal.text.rsplit("\r\x1b[K", 1)
    assert "providers done" in line and "providers done" not in last
    assert last.count("\n") == 2 and last.startswith("good: ") and "held: " in last


@pytest.mark.parametrize("where", [(), ("--no-daemon",)], ids=["daemon", "here"])
def test_ctrl_c_ends_it_with_what_came(searching, hostile, where):
    terminal = Terminal(searching, *COMMAND, "--json", *where)
    harness.wait_until(hostile.reached.is_set, "the second page to be asked for")
    harness.wait_until(lambda: "1 of 2 providers done" in terminal.text, "the other to be done")
    terminal.process.send_signal(signal.SIGINT)
    status, out = terminal.end()
    found = harness.strict_json(out)
    states = {one["name"]: (one["state"], one["records"]) for one in found["providers"]}
    assert status == 130 and found["interrupted"] and states == {"good": ("ok", 6), "held": ("partial", 3)}


def test_who_does_not_ask_is_told_nothing(searching, hostile):
    """A call of a client that knows nothing of it has its reply, and nothing before."""
    hostile.go_on.set()
    reply = harness.Tools(searching, "workbench").call("search_materials", {**ARGUMENTS, "rows": 2})
    assert len(reply["rows"]) == 2 and (reply["materials"], reply["records"]) == (6, 12) and reply["complete"]


def test_nobody_answers(make_adder):
    adder = make_adder(SETTINGS)
    world.configure(adder, {"nobody": world.nobody()})
    ended = adder.call("search", "--elements", "O", "--providers", "nobody")
    assert ended.returncode == 1 and ended.stdout == "", ended
    assert ended.stderr.startswith("No materials.\nnobody: failed: 0 records, 0 pages, "), ended
    assert adder.call("search", "--elements", "O", "--providers", "nobody", "--explain").returncode == 0
