# SPDX-License-Identifier: Apache-2.0
"""The loop of a session, tried without a sandbox: a process of this interpreter with the runner's own extension, to which the
test speaks as the daemon does."""

import ctypes
import importlib.util
import json
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RUNNER = pathlib.Path(os.environ.get("ADDER_BUILD", REPOSITORY / "build")).resolve() / "src" / "runner"
DEADLINE = 60

DISPLAY, RESULT, OPEN, CELL, ASK, ANSWER, SEEN = 3, 4, 6, 7, 8, 9, 12

START = """
import os, sys, types
package = sys.modules["adder_runner"] = types.ModuleType("adder_runner")
package.__path__ = [sys.argv[1]]
from adder_runner import _adder, denials, display, patches, places, session, shell
denials.kernel_limits = _adder.limits_met
display.send = lambda message: _adder.send(_adder.DISPLAY, message)
places.work = os.getcwd()
places.temporary = os.path.join(places.work, "tmp")
patches.watch()
if sys.argv[2] == "plain":
    shell.prepare = lambda: None
else:
    session.rehearse(shell.prepare())
sys.stdout.reconfigure(line_buffering=True)
kind, payload, _ = _adder.receive()
session.serve(payload)
"""


class Session:
    def __init__(self, kind, folder):
        self.socket, theirs = socket.socketpair()
        self.socket.settimeout(DEADLINE)

        def settle():
            os.dup2(theirs.fileno(), 3)

        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", START, str(RUNNER), kind],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=settle,
            pass_fds=[3],
            cwd=folder,
            env={"HOME": str(folder), "PATH": os.environ["PATH"]},
        )
        theirs.close()
        self.number = 0
        self.opened = self.exchange(OPEN, {"environment": "test", "name": "main.py", "arguments": ["a"], "variables": {"MODE": "x"}, "value_bytes": 4096})[0]

    def receive(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            assert part, f"the session is gone: {self.process.communicate()}"
            data += part
        return data

    def send(self, kind, message, fd=None):
        data = json.dumps(message).encode()
        data = struct.pack("<II", kind, len(data)) + data
        if fd is None:
            self.socket.sendall(data)
        else:
            socket.send_fds(self.socket, [data], [fd])

    def answer(self):
        displays = []
        while True:
            kind, length = struct.unpack("<II", self.receive(8))
            message = json.loads(self.receive(length))
            if kind != DISPLAY:
                assert kind in (RESULT, ANSWER)
                return message, displays
            displays.append(message)
            self.socket.sendall(struct.pack("<III", SEEN, 4, len(displays)))

    def exchange(self, kind, message, fd=None):
        self.send(kind, message, fd)
        return self.answer()

    def begin(self, code, **more):
        self.number += 1
        self.send(CELL, {"code": code, "cell": self.number, "value_bytes": 4096, **more})

    def run(self, code, stdin=None, **more):
        """The result of a cell, with its displays and what it printed."""
        self.number += 1
        fd = None
        if stdin is not None:
            fd = os.memfd_create("stdin")
            os.write(fd, stdin.encode())
            os.lseek(fd, 0, 0)
        message, displays = self.exchange(CELL, {"code": code, "cell": self.number, "value_bytes": 4096, **more}, fd)
        if fd is not None:
            os.close(fd)
        assert message["cell"] == self.number
        return {**message, "displays": displays, "stdout": self.written(self.process.stdout), "stderr": self.written(self.process.stderr)}

    @staticmethod
    def written(stream):
        """All that was written before the result came."""
        text = b""
        while select.select([stream], [], [], 0)[0]:
            part = os.read(stream.fileno(), 65536)
            if not part:
                break
            text += part
        return text.decode()

    def text(self, code, **more):
        """The value of a cell that ends well."""
        result = self.run(code, **more)
        assert result["error"] is None, result["error"]
        return result["value"] and result["value"]["text/plain"]

    def ask(self, **question):
        return self.exchange(ASK, question)[0]

    def interrupt(self, cell):
        """As the daemon does it: with the cell's number."""

        class Info(ctypes.Structure):
            _fields_ = [("number", ctypes.c_int), ("error", ctypes.c_int), ("code", ctypes.c_int), ("pad", ctypes.c_int)]
            _fields_ += [("pid", ctypes.c_int), ("uid", ctypes.c_uint), ("value", ctypes.c_int), ("rest", ctypes.c_char * 100)]

        libc = ctypes.CDLL(None, use_errno=True)
        info = Info(number=signal.SIGINT, code=-1, value=cell)
        rt_sigqueueinfo = {"x86_64": 129, "aarch64": 138}[os.uname().machine]
        assert libc.syscall(rt_sigqueueinfo, self.process.pid, signal.SIGINT, ctypes.byref(info)) == 0, ctypes.get_errno()

    def end(self):
        self.socket.close()
        assert self.process.wait(DEADLINE) == 0
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture(params=["plain", pytest.param("ipython", marks=pytest.mark.skipif(not importlib.util.find_spec("IPython"), reason="no IPython here"))])
def session(request, tmp_path):
    if not (RUNNER / "_adder.abi3.so").exists():
        pytest.skip(f"no extension in {RUNNER}: build it, or set ADDER_BUILD")
    opened = Session(request.param, tmp_path)
    yield opened
    opened.end()


@pytest.fixture
def ipython(session):
    if session.opened["shell"] != "ipython":
        pytest.skip("this is about IPython's shell")
    return session


def type_of(result):
    return result["error"] and result["error"]["type"]


@pytest.mark.quick
def test_variables_live_on(session):
    assert session.run("x = 42")["variables"] == 1
    assert session.run("print(x)")["stdout"] == "42\n"
    assert session.text("x + 1") == "43"
    assert session.text("_ + 1") == "44"
    assert session.text("import os, sys; os.environ['MODE'], sys.argv, __name__") == "('x', ['main.py', 'a'], '__main__')"
    assert session.text("x;") is None
    assert session.text("import pickle\nclass C: pass\ntype(pickle.loads(pickle.dumps(C()))) is C") == "True"


def test_an_error_ends_the_cell_alone(session):
    session.run("def f():\n    return 1 / 0")
    result = session.run("y = 1\nf()")
    assert result["exit_code"] == 1 and type_of(result) == "ZeroDivisionError" and result["error"]["line"] == 2
    assert 'File "<cell 2>", line 2' in result["error"]["traceback"] and 'File "<cell 1>", line 2' in result["error"]["traceback"]
    assert "return 1 / 0" in result["error"]["traceback"] and "session.py" not in result["error"]["traceback"]
    assert session.text("y") == "1"
    assert type_of(session.run("x = (")) == "SyntaxError"
    assert session.run("print('not run')\nreturn 1")["stdout"] == "", "what does not compile runs not even in part"


def test_exit_ends_the_cell_alone(session):
    result = session.run("import sys\nz = 1\nsys.exit(3)")
    assert result["exit_code"] == 3 and type_of(result) == "SystemExit" and "the session goes on" in result["warnings"][0]
    result = session.run("exit()")
    assert result["exit_code"] == 0 and result["error"] is None
    assert session.text("z") == "1"


def test_waiting_at_top_level(session):
    assert session.text("import asyncio\nt = asyncio.create_task(asyncio.sleep(0, 7))\nawait t") == "7"
    assert session.text("async def g():\n    for i in range(3): yield i\n[i async for i in g()]") == "[0, 1, 2]"
    assert session.text("asyncio.run(asyncio.sleep(0, 'own loop'))") == "'own loop'"
    result = session.run("async def f():\n    raise KeyError('x')\nawait f()")
    assert type_of(result) == "KeyError" and result["error"]["line"] == 2
    assert type_of(session.run("raise StopIteration")) == "StopIteration"


def test_future_imports_last(session):
    session.run("from __future__ import annotations")
    assert session.text("def f(x: Undefined): pass\nf.__annotations__") == "{'x': 'Undefined'}"


def test_input_is_the_cells_own(session):
    result = session.run("input()")
    assert type_of(result) == "EOFError" and "pass it with the cell" in result["error"]["message"]
    assert session.text("input('? ')", stdin="one\ntwo\n") == "'one'"
    assert type_of(session.run("input()")) == "EOFError"
    assert session.text("import sys; sys.stdin.read()", stdin="all of it") == "'all of it'"
    assert session.text("sys.stdin.read()") == "''"


@pytest.mark.quick
def test_interrupts_meet_their_own_cell(session):
    session.run("import signal, time")
    session.begin("kept = 1\nprint('running')\ntime.sleep(60)")
    assert session.process.stdout.readline() == b"running\n"
    session.interrupt(session.number)
    result, _ = session.answer()
    assert type_of(result) == "KeyboardInterrupt" and result["error"]["line"] in (2, 3)
    session.interrupt(session.number)  # too late: that cell is over
    assert session.text("kept") == "1"
    session.interrupt(session.number + 1)  # ahead of the frame
    assert type_of(session.run("late = 1")) == "KeyboardInterrupt"
    assert type_of(session.run("late")) == "NameError"
    session.run("signal.signal(signal.SIGINT, signal.SIG_IGN)")
    session.begin("print('again')\ntime.sleep(60)")
    assert session.process.stdout.readline() == b"again\n"
    session.interrupt(session.number)
    assert type_of(session.answer()[0]) == "KeyboardInterrupt", "what a cell does with the signal is over with the cell"


def test_a_cell_that_waits_can_be_interrupted(session):
    session.begin("import asyncio\nprint('waiting')\nawait asyncio.sleep(60)")
    assert session.process.stdout.readline() == b"waiting\n"
    session.interrupt(session.number)
    assert type_of(session.answer()[0]) == "KeyboardInterrupt"
    assert session.text("await asyncio.sleep(0, 5)") == "5"


def test_questions_can_be_interrupted(session):
    session.run("class Endless:\n    def __repr__(self):\n        print('asked')\n        while True: pass\nx = Endless()")
    session.send(ASK, {"what": "variables", "names": ["x"], "value_bytes": 100})
    assert session.process.stdout.readline() == b"asked\n"
    session.interrupt(0)
    assert session.answer()[0]["error"]["type"] == "KeyboardInterrupt"
    assert session.text("1") == "1"


def test_an_alarm_waits_for_a_cell(session):
    code = "import signal, time\ndef late(*ignored): raise TimeoutError\n"
    session.run(code + "signal.signal(signal.SIGALRM, late)")
    os.kill(session.process.pid, signal.SIGALRM)  # as a timer of the cell's would, which might also end before its cell
    stat = pathlib.Path(f"/proc/{session.process.pid}/status")
    end = time.monotonic() + DEADLINE
    while not any(line.split() == ["ShdPnd:", "0000000000002000"] for line in stat.read_text().splitlines()):
        assert time.monotonic() < end, "the alarm never came"
        time.sleep(0.01)
    assert type_of(session.run("time.sleep(60)")) == "TimeoutError"
    assert session.text("'on'") == "'on'"


@pytest.mark.parametrize(
    "vandalism",
    [
        "import json\njson.dumps = json.JSONEncoder.encode = json.JSONEncoder.iterencode = json.JSONEncoder.default = None",
        "import os\nos.getpid = os.dup2 = os.close = os.open = os._exit = None",
        "import sys\nsys.stdout = sys.stderr = None",
        "import sys\nsys.stdout.close(); sys.stderr.close()",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.displayhook = sys.excepthook = None; sys.modules['__main__'] = None",
        "import builtins\nbuiltins.print = builtins.repr = builtins.input = builtins.open = None",
        "import threading, linecache\nthreading.enumerate = None; linecache.cache = None",
        "import signal\nsignal.signal = None; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))",
        "import gc\ngc.disable()\nimport sys\nsys.setrecursionlimit(60)",
        "globals().clear()",
    ],
)
def test_the_loop_survives_what_code_breaks(session, vandalism):
    session.run("kept = 1")
    session.run(vandalism)
    result = session.run("kept = 2\n'value'")
    assert result["error"] is not None or result["value"] is not None
    assert session.run("kept")["cell"] == 4


def test_even_without_builtins_there_is_an_answer(session):
    session.run("import builtins\nsaved = len\nbuiltins.len = None")
    session.begin("1")
    assert session.answer()[0]["cell"] >= 1


def test_a_fork_that_comes_back_is_no_second_session(session):
    assert session.text("import os\npid = os.fork()\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if pid else 1 / 0") == "1"


def test_threads_that_go_on_are_named(session):
    session.run("import threading\ngo = threading.Event()")
    result = session.run("threading.Thread(target=go.wait, name='worker', daemon=True).start()")
    assert result["threads"] == ["worker"] and "worker" in result["warnings"][0]
    result = session.run("1")
    assert result["threads"] == ["worker"] and result["warnings"] == [], "it was said once"
    session.run("go.set()\nfor thread in threading.enumerate():\n    if thread.name == 'worker': thread.join()")
    assert session.run("1")["threads"] == []


def test_variables_without_their_values(session):
    session.run("import os\nfrom os import path\ntext = 'abc'\n_hidden = 1\nitems = [1, 2]\ndef f(): pass\nclass Odd:\n    shape = property(lambda self: 1 / 0)\nodd = Odd()")
    answer = session.ask(what="variables")
    assert answer["count"] == 5 and [row["name"] for row in answer["variables"]] == ["text", "items", "f", "Odd", "odd"]
    assert {"name": "items", "type": "list", "shape": [2], "bytes": sys.getsizeof([1, 2])} in answer["variables"]
    assert all("value" not in row for row in answer["variables"])
    answer = session.ask(what="variables", names=["text", "missing", "odd"], value_bytes=100)
    assert [row["name"] for row in answer["variables"]] == ["text", "odd"] and answer["variables"][0]["value"] == "'abc'"
    session.run("long = 'x' * 10_000")
    assert len(session.ask(what="variables", names=["long"], value_bytes=100)["variables"][0]["value"]) <= 100


def test_reset_forgets(session):
    session.run("x = 1\nimport os")
    session.run("x")
    assert session.ask(what="reset") == {"variables": [], "count": 0}
    assert type_of(session.run("x")) == "NameError"
    assert session.run("1")["variables"] == 0
    assert session.text("_") == "1"


def test_displays_come_with_their_ids(session):
    code = """
class Page:
    def _repr_html_(self): return "<b>x</b>"
    def _repr_markdown_(self): raise ValueError("no")
print("before")
handle = display(Page(), display_id=True)
handle.update(5)
display({"text/plain": "raw", "application/json": {"a": float("inf")}}, raw=True, metadata={"text/plain": {"width": 3}})
"""
    result = session.run(code)
    first, second, third = result["displays"]
    assert first["text/html"] == "<b>x</b>" and "text/markdown" not in first and first["adder"]["update"] is False
    assert second == {"text/plain": "5", "adder": {"display_id": first["adder"]["display_id"], "update": True}}
    assert third == {"text/plain": "raw", "application/json": {"a": None}, "adder": {"metadata": {"text/plain": {"width": 3}}}}
    assert result["warnings"] == ["_repr_markdown_ failed and is left out: ValueError: no"]


def test_what_is_too_long_becomes_a_file(session, tmp_path):
    result = session.run("class Page:\n    def _repr_html_(self): return 'x' * (2 << 20)\nPage()")
    path = tmp_path / "tmp" / "output" / "display-1.html"
    assert path.stat().st_size == 2 << 20
    assert "text/html" not in result["value"] and str(path) in result["value"]["text/plain"]


# ---- IPython's ----


def test_magics(ipython, tmp_path):
    (tmp_path / "file.txt").write_text("content")
    assert "file.txt" in ipython.run("!ls")["stdout"]
    assert "file.txt" in ipython.run("%ls")["stdout"]
    assert "file.txt" in ipython.run("ls")["stdout"]
    assert ipython.text("lines = !cat file.txt\nlines[0]") == "'content'"
    result = ipython.run("%%bash\necho from bash\necho fault >&2")
    assert (result["stdout"], result["stderr"]) == ("from bash\n", "fault\n") and result["threads"] == []
    assert "per loop" in ipython.run("%timeit -n 1 -r 1 1 + 1")["stdout"]
    assert "Wall time" in ipython.run("%%time\n1 + 1")["stdout"]
    assert "Docstring" in ipython.run("len?")["stdout"]
    result = ipython.run("%%capture caught\nprint(1)\ndisplay(2)")
    assert result["stdout"] == "" and result["displays"] == []
    assert ipython.text("caught.stdout, len(caught.outputs)") == r"('1\n', 1)"
    assert ipython.run("%matplotlib inline")["error"] is None
    assert ipython.run("%config InlineBackend.figure_format = 'retina'")["error"] is None


def test_nothing_can_be_installed(ipython):
    result = ipython.run("%pip install x")
    assert type_of(result) == "UsageError" and "No packages can be installed" in result["error"]["message"]


def test_an_error_that_a_magic_shows_is_the_cells(ipython):
    result = ipython.run("%%capture\n1 / 0")
    assert type_of(result) == "ZeroDivisionError" and "\x1b[" not in result["stdout"] + result["stderr"]


def test_in_and_out(ipython):
    ipython.run("x = 1")
    ipython.run("x + 1")
    assert ipython.text("In[1], Out[2], _2, _") == "('x = 1', 2, 2, 2)"
    ipython.run("%reset -f")
    assert type_of(ipython.run("x")) == "NameError"
    assert ipython.run("y = 1")["variables"] == 1
    assert ipython.text("In[6]") == "'y = 1'", "cells are counted on"


def test_what_code_registers_with_ipython(ipython):
    ipython.run("get_ipython().events.register('post_run_cell', lambda result: print('after'))")
    assert ipython.run("1")["stdout"] == "after\n"
    ipython.run("get_ipython().display_formatter.formatters['text/html'].for_type(int, lambda value: f'<i>{value}</i>')")
    assert ipython.run("5")["value"] == {"text/plain": "5", "text/html": "<i>5</i>"}
    ipython.run("from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'")
    result = ipython.run("1\nx = 2\n3")
    assert [shown["text/plain"] for shown in result["displays"]] == ["1"] and result["value"]["text/plain"] == "3"


def test_ipythons_own_objects_are_displayed(ipython):
    result = ipython.run("from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>1</b>'))\nMarkdown('# x')")
    assert result["displays"][0]["text/html"] == "<b>1</b>" and result["value"]["text/markdown"] == "# x"
