# SPDX-License-Identifier: Apache-2.0
"""The runner's Python, tried without a sandbox: each run in a forked process of this interpreter."""

import json
import os
import pathlib
import sys
import types

import pytest

RUNNER = pathlib.Path(__file__).resolve().parents[2] / "src" / "runner" / "python"

package = types.ModuleType("adder_runner")
package.__path__ = [str(RUNNER)]
sys.modules.setdefault("adder_runner", package)

from adder_runner import denials, execution, hints, places, tracebacks  # noqa: E402

pytestmark = pytest.mark.quick

QUIET = {"exit_code": 0, "value": None, "error": None, "out_of_memory": False, "warnings": [], "denials": [], "limits_met": []}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """run(code) -> (result message, what was printed)."""
    monkeypatch.setattr(places, "work", str(tmp_path))

    def start(code, **changes):
        request = {"code": code, "name": "main.py", "arguments": [], "variables": {}, "environment": "test", "value_bytes": 4096, **changes}
        answer, printed = tmp_path / ".answer", tmp_path / ".printed"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                out = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.chdir(tmp_path)
                sys.stdin = open(os.devnull)
                sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)
                sys.stderr = sys.__stderr__ = open(2, "w", closefd=False)
                answer.write_text(json.dumps(execution.execute(request)))
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        return json.loads(answer.read_text()), printed.read_text()

    return start


@pytest.mark.parametrize(
    "code",
    [
        "6 * 7",
        "x = 1\n",
        "x = 1\nx\n\n",
        "\n\nx = 1\n  \nx ; \n",
        "x = 1\r\nx\r\n",
        "if True:\n  x = 1\nx + 1 # said",
        "if True:\n  x = 1\n  x",
        "x = (1 +\n2)",
        "(1,\n2,\n)",
        "x = 5 \\\n-3",
        "x = 1; \\\nx",
        "x = '''\nx\n'''",
        "x = '''a\n1\n2'''\nx",
        "'''about'''\n1",
        "x\n# nothing\n1",
        "from __future__ import annotations\nx: y = 1\nx",
        "def f():\n  return 1\n@f",
        "for x in range(3):\n  pass\nelse:\n  x\nx",
        "[x\nfor x in y]",
        "lambda: (\nyield)",
        "x = 1\n\x0cx",
        "x = 1\nx\x1f",
        "x\xa0",
        "x\ny = 1",
        "x\nawait y",
        "x\n*y, z",
        "x\ny := 1",
        "f\n(1)",
    ],
)
def test_short_ways_to_compile_are_what_the_tree_says(code):
    """Lines and all: code objects are equal when all of that is."""

    def parts(function):
        try:
            return function(code, "main.py")
        except SyntaxError as error:
            return str(error)

    assert parts(execution.compile_parts) == parts(execution.compile_tree)


@pytest.mark.parametrize(
    "code, value",
    [
        ("6 * 7", "42"),
        ("x = 1", None),
        ("None", None),
        ("'a\\x00\\ud800'", "'a\\x00\\ud800'"),
        ("x = [1, 2]\nx", "[1, 2]"),
        ("if True:\n    3", None),
        ("__name__", "'__main__'"),
        ("import sys; sys.argv", "['main.py']"),
        ("import sys; sys.modules['__main__'].__name__", "'__main__'"),
    ],
)
def test_value_of_the_last_expression(run, code, value):
    result, _ = run(code)
    assert result == {**QUIET, "value": value and {"text/plain": value}}


def test_a_long_value_is_cut_in_the_middle(run):
    result, _ = run("'é' * 100_000", value_bytes=1000)
    text = result["value"]["text/plain"]
    assert len(text.encode()) <= 1000
    assert text.startswith("'éé") and text.endswith("éé'") and "bytes left out" in text
    assert result["warnings"] == ["the value is cut: it is longer than 1000 bytes (value_bytes)"]


@pytest.mark.parametrize(
    "code, exit_code, error_type",
    [
        ("import sys; sys.exit()", 0, None),
        ("import sys; sys.exit(0)", 0, None),
        ("import sys; sys.exit(3)", 3, "SystemExit"),
        ("raise SystemExit(256)", 0, None),
        ("raise SystemExit(-1)", 255, "SystemExit"),
        ("raise SystemExit('sorry')", 1, "SystemExit"),
        ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
        ("class E(BaseException): pass\nraise E", 1, "E"),
        ("def f(): f()\nf()", 1, "RecursionError"),
    ],
)
def test_exit_codes(run, code, exit_code, error_type):
    result, _ = run(code)
    assert result["exit_code"] == exit_code
    assert (result["error"] or {"type": None})["type"] == error_type


def test_a_text_given_to_exit_is_printed(run):
    assert run("raise SystemExit('sorry')")[1] == "sorry\n"


def test_traceback_names_the_users_lines_and_counts_the_librarys(run):
    error = run("import json\ndef load(text):\n    return json.loads(text)\nload('{')")[0]["error"]
    assert error["type"] == "JSONDecodeError" and error["line"] == 3
    assert 'File "main.py", line 4' in error["traceback"] and "return json.loads(text)" in error["traceback"]
    assert "frames inside json]" in error["traceback"]
    assert str(RUNNER) not in error["traceback"] and "decoder.py" not in error["traceback"]


def test_syntax_error_has_no_frames(run):
    error = run("x = (\n")[0]["error"]
    assert error["type"] == "SyntaxError" and error["line"] == 1
    assert error["traceback"].startswith('  File "main.py", line 1')


def test_cause_is_kept_and_inner_library_errors_are_not(run):
    error = run("try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('bad') from e")[0]["error"]
    assert "ZeroDivisionError" in error["traceback"] and "direct cause" in error["traceback"]
    error = run("import configparser\nconfigparser.ConfigParser()['x']")[0]["error"]
    assert error["traceback"].count("Traceback") == 1


def test_exception_whose_str_fails(run):
    code = "class E(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise E()"
    assert run(code)[0]["error"]["message"] == "<the exception's own __str__ failed>"


def test_message_with_nul_and_lone_surrogate_is_clean(run):
    assert run("raise ValueError('a\\x00b\\ud800c')")[0]["error"]["message"] == "a\ufffdb\ufffdc"


def test_threads_and_exit_handlers_finish_first(run):
    code = """
import atexit, threading, time
atexit.register(print, "handler")
release = threading.Event()
def late():
    release.wait()
    print("thread")
threading.Thread(target=late).start()
print("main")
threading.Timer(0.05, release.set).start()
"""
    assert run(code)[1] == "main\nthread\nhandler\n"


def test_failing_exit_handler_does_not_hide_the_error(run):
    code = "import atexit\natexit.register(lambda: 1 / 0)\nraise ValueError('first')"
    assert run(code)[0]["error"]["type"] == "ValueError"


def test_workspace_modules_and_variables(run, tmp_path):
    (tmp_path / "helper.py").write_text("def answer():\n    return 42\n")
    result, _ = run("import helper, os, sys\n(helper.answer(), os.environ['MODE'], sys.argv[1:])", variables={"MODE": "test"}, arguments=["-x"])
    assert result["value"]["text/plain"] == "(42, 'test', ['-x'])"


@pytest.mark.parametrize(
    "error, words",
    [
        (ModuleNotFoundError("No module named 'x'"), "not in the environment"),
        (OSError(97, "Address family not supported"), "no network"),
        (OSError(30, "Read-only file system"), "Only /work"),
        (OSError(28, "No space left on device"), "workspace is full"),
        (MemoryError(), "memory_bytes"),
        (RuntimeError("can't start new thread"), "pids"),
        (EOFError("EOF when reading a line"), "Standard input is empty"),
        (FileNotFoundError(2, "No such file", "/home/x/data.csv"), "no directory '/home/x'"),
        (FileNotFoundError(2, "No such file", "/proc/loadavg"), "do without it"),
        (PermissionError(13, "Permission denied", "/dev/kmsg"), "do without it"),
        (FileNotFoundError(2, "No such file", "/process/data.csv"), "no directory '/process'"),
        (ValueError("plain"), None),
    ],
)
def test_hints(error, words):
    hint = hints.find(error, str(error))
    assert hint is None if words is None else words in hint


@pytest.mark.parametrize(
    "filename, library",
    [
        ("/usr/lib/python3/dist-packages/pandas/core/frame.py", "pandas"),
        ("/venv/lib/python3.11/site-packages/six.py", "six"),
        (f"/usr/lib/python{sys.version_info.major}.{sys.version_info.minor}/json/decoder.py", "json"),
        ("<frozen importlib._bootstrap>", "importlib"),
        ("pandas/_libs/index.pyx", "pandas"),
        ("/opt/app/tool.py", "tool"),
    ],
)
def test_library_names(filename, library):
    assert tracebacks.library_of(filename) == library


def test_files_are_closed_and_finalizers_run_at_the_end(run, tmp_path):
    code = """
class Last:
    def __del__(self):
        print("finalized")
ring = [Last()]
ring.append(ring)
file = open("kept.txt", "w")
file.write("kept")
"""
    assert run(code)[1] == "finalized\n"
    assert (tmp_path / "kept.txt").read_text() == "kept"


def test_files_of_workspace_modules_are_closed_too(run, tmp_path):
    (tmp_path / "log.py").write_text("file = open('log.txt', 'w')\nfile.write('kept')\n")
    run("import log")
    assert (tmp_path / "log.txt").read_text() == "kept"


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.modules.pop('__main__')",
        "import sys\nsys.modules['__main__'] = 5",
        "import sys\nsys.modules.clear()",
        "import sys\nclass Odd:\n    __file__ = 5\nsys.modules['odd'] = Odd()",
    ],
)
def test_code_may_leave_anything_among_the_modules(run, code):
    message, printed = run(code + "\nprint('here')")
    assert (message["exit_code"], message["error"], printed) == (0, None, "here\n")


def test_closed_standard_output_is_no_error(run):
    assert run("import sys; print('a'); sys.stdout.close()") == (QUIET, "a\n")


@pytest.mark.parametrize("code, answer", [("raise MemoryError", True), ("raise OSError(12, 'x')", True), ("1 / 0", False)])
def test_out_of_memory(run, code, answer):
    assert run(code)[0]["out_of_memory"] is answer


def test_byte_order_mark(run):
    assert run("\ufeff6 * 7")[0]["value"] == {"text/plain": "42"}


def test_daemon_threads_are_not_disturbed_and_files_are_flushed(run, tmp_path):
    code = """
import threading
started = threading.Event()
def spin():
    started.set()
    while started.is_set():
        len(str(started))
threading.Thread(target=spin, daemon=True).start()
started.wait()
file = open("kept.txt", "w")
file.write("kept")
"""
    assert run(code)[1] == ""
    assert (tmp_path / "kept.txt").read_text() == "kept"


@pytest.mark.parametrize(
    "code, noted, met",
    [
        ("raise OSError(28, 'No space left on device')", [], ["workspace_bytes"]),
        ("raise OSError(28, 'No space left on device', '/dev/shm/x')", [], ["shm_bytes"]),
        ("raise OSError(27, 'File too large')", [], ["file_bytes"]),
        ("raise OSError(24, 'Too many open files', '/etc/passwd')", [], ["open_files"]),
        ("raise RuntimeError(\"can't start new thread\")", [], ["pids"]),
        ("raise OSError(97, 'Address family not supported')", [("network", "[Errno 97] Address family not supported")], []),
        ("raise PermissionError(1, 'Operation not permitted')", [("call", "raise PermissionError(1, 'Operation not permitted')")], []),
        ("raise OSError(30, 'Read-only file system', '/usr/x')", [("write", "write /usr/x")], []),
        ("open('/home/no-such-user/data.csv')", [("file", "read /home/no-such-user/data.csv")], []),
        ("try:\n    open('/home/no-such-user/x')\nexcept OSError:\n    raise ValueError", [("file", "read /home/no-such-user/x")], []),
        ("try:\n    open('/etc/no-such-file')\nexcept OSError:\n    raise ValueError", [], []),
        ("open('missing.csv')", [], []),
        ("open('/usr/share/no-such-file')", [], []),
        ("raise BlockingIOError(11, 'Resource temporarily unavailable')", [], []),
        ("class E(OSError):\n    filename = property(lambda self: 1 / 0)\nraise E", [], []),
        ("e = ValueError()\ne.__cause__ = e\nraise e", [], []),
    ],
)
def test_what_an_uncaught_exception_tells(run, code, noted, met):
    result, _ = run(code)
    assert [(each["kind"], each["detail"]) for each in result["denials"]] == noted
    assert result["limits_met"] == met


def test_denials_are_few_short_and_different():
    denials.start("main.py")
    for index in range(50):
        denials.note("file", f"{index // 2}" + "\ud800" * 1000)
    assert len(denials.noted) == denials.MOST
    assert all(len(entry["detail"]) == denials.LENGTH and "\ud800" not in entry["detail"] for entry in denials.noted)
    denials.start("main.py")
    assert denials.collect() == {"denials": [], "limits_met": []}


@pytest.mark.parametrize("event, arguments", [("open", (b"/\0x", "r", 0)), ("open", ("/x" * 5000, None, 1)), ("os.mkdir", (None,)), ("socket.getaddrinfo", (3,)), ("no.such", ())])
def test_odd_arguments_of_events_are_no_matter(event, arguments):
    denials.start("main.py")
    denials.audit(event, arguments)
    assert all(len(entry["detail"]) <= denials.LENGTH for entry in denials.noted)


def test_a_rehearsal_ends_well_and_leaves_no_trace(run, capfd):
    before = sys.modules["__main__"], list(sys.argv), list(sys.path), dict(execution.linecache.cache)
    assert execution.rehearse() == QUIET
    assert (sys.modules["__main__"], sys.argv, sys.path, execution.linecache.cache) == before
    assert not (denials.noted or denials.met or any(capfd.readouterr()))
    message, printed = run("import atexit\natexit.register(print, 'end')\n'_' in globals()")
    assert (message["value"], printed) == ({"text/plain": "False"}, "end\n")


def test_what_threads_ask_for_at_the_end_is_done(run):
    code = "import threading\nthreading._register_atexit(print, 'of threads')\nimport atexit\natexit.register(print, 'of the process')"
    assert run(code)[1] == "of threads\nof the process\n"
    code = "import threading, time\nended = threading.Event()\n"
    code += "threading.Thread(target=lambda: (ended.wait(), time.sleep(0.1), print('thread'))).start()\nprint('end')\nended.set()"
    assert run(code)[1] == "end\nthread\n"
