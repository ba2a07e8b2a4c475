# SPDX-License-Identifier: Apache-2.0
"""Code that ruins its own process: descriptors, the runner's modules, its own memory. No cases, since there is nothing to be
refused and no layer that stops it: it may ruin its result and nothing else, and the daemon serves on."""
import pytest

LONG = ["--timeout", "30"]


@pytest.mark.parametrize("numbers", ["[0]", "[1]", "[2]", "[3]", "[0, 1, 2]", "[0, 1, 2, 3]", "range(1000)"])
def test_closed_descriptors(adder, numbers):
    result = adder.run(
        "import os\n"
        "print('before', flush=True)\n"
        f"for n in {numbers}:\n"
        "    try: os.close(n)\n"
        "    except OSError: pass\n"
        "x = sum(range(100))",
        *LONG,
    )
    assert result.outcome in ("ok", "error", "crashed") and result.stdout == "before\n"


def test_streams_closed_long_before_the_end(adder):
    result = adder.run("import os, time\nos.close(1); os.close(2)\ntime.sleep(0.5)\n6 * 7", *LONG)
    assert result.outcome in ("ok", "error")


def test_exit_with_threads_under_way(adder):
    result = adder.run(
        "import os, threading\n"
        "for i in range(10): threading.Thread(target=threading.Event().wait).start()\n"
        "os._exit(5)",
        *LONG,
    )
    assert result.exit_status == 5


def test_exec_in_place(adder):
    """The runner is gone: what follows is some program's exit code."""
    result = adder.run(
        "import os\n" "os.execv('/bin/sh', ['sh', '-c', 'echo from the shell; exit 7'])", *LONG
    )
    assert result.stdout == "from the shell\n" and result.exit_status == 7


def test_fork_goes_on_as_the_runner(adder):
    """Both processes come to the end of the code: one result, no confusion."""
    result = adder.run(
        "import os\n"
        "pid = os.fork()\n"
        "if pid: os.waitpid(pid, 0)\n"
        "print('end', flush=True)\n"
        "'value'",
        *LONG,
    )
    assert result.outcome == "ok" and result.stdout.startswith("end\n")
    assert result.text == "'value'"


def test_child_ends_first_with_an_exception(adder):
    result = adder.run(
        "import os\n"
        "pid = os.fork()\n"
        "if pid == 0: raise ValueError('of the child')\n"
        "os.waitpid(pid, 0)\n"
        "print('parent')",
        *LONG,
    )
    assert result.outcome in ("ok", "error")


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.exit = sys.modules = None",
        "import sys\nsys.modules.clear()",
        "import builtins\nbuiltins.print = builtins.open = builtins.exec = builtins.repr = None",
        "import json\njson.dumps = lambda *a, **k: 'nonsense'",
        "import os, posix\nos.write = posix.write = None",
        "import threading\nthreading._shutdown = None",
        "import atexit\natexit._run_exitfuncs = lambda: 1/0",
        "import sys\nsys.settrace(lambda *a: 1/0)",
        "import gc\n"
        "for o in gc.get_objects():\n"
        "    if isinstance(o, dict) and '__name__' in o and 'execution' in str(o.get('__name__')): o.clear()",
        "import sys\nfor f in list(sys.modules):\n    if 'adder' in f: del sys.modules[f]",
        "import signal, os\nsignal.setitimer(signal.ITIMER_REAL, 0.000001)",
        "import ctypes\nctypes.memset(id(None), 0, 16)",
        "import sys\n"
        "frame = sys._getframe()\n"
        "while frame.f_back:\n"
        "    frame = frame.f_back\n"
        "    frame.f_locals.clear(); frame.f_globals.clear()",
    ],
    ids=[
        "no modules",
        "cleared modules",
        "no builtins",
        "json",
        "write",
        "shutdown",
        "exit functions",
        "trace",
        "runner's globals",
        "runner's modules",
        "alarm",
        "memory",
        "frames",
    ],
)
def test_sabotage_of_the_runner(adder, code):
    """It is the code's own process: it may ruin its result, and only that."""
    result = adder.run("print('before', flush=True)\n" + code, *LONG)
    assert result.outcome in ("ok", "error", "crashed", "timeout") and result.stdout.startswith("before\n")


def test_frames_above_the_code_hold_no_other_runs_data(adder):
    result = adder.run(
        """
import sys
frame, seen = sys._getframe(), []
while frame:
    seen += [type(value).__name__ for value in frame.f_locals.values()]
    frame = frame.f_back
print('seen')
""",
        *LONG,
    )
    assert result.stdout == "seen\n"
