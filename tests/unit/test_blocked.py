# SPDX-License-Identifier: Apache-2.0
"""What the user's own code may not ask for, and that nobody else notices, in a forked process of this interpreter."""

import shutil

import pytest

from test_runner import run  # noqa: F401 - a fixture

pytestmark = pytest.mark.quick

RULES = {
    "calls": ["os.system", "os.popen", "os.exec*", "os.spawn*", "os.posix_spawn*", "shutil.rmtree", "pty.spawn", "asyncio.create_subprocess_*", "no_such_module.x", "os.no_such_name"],
    "modules": ["subprocess", "importlib", "wave"],
}
PROGRAMS = "no other programs can be started here"

# Each asks for the name before the colon in its own way.
ASKING = [
    ("subprocess", "import subprocess"),
    ("subprocess", "import json, subprocess as s"),
    ("subprocess", "from subprocess import run"),
    ("subprocess", "__import__('subprocess')"),
    ("subprocess", "name = 'sub'\n__import__(name + 'process')"),
    ("subprocess", "import builtins\nbuiltins.__import__('subprocess')"),
    ("subprocess", "exec('import subprocess')"),
    ("subprocess", "exec('import subprocess', {})"),
    ("subprocess", "eval(\"__import__('subprocess')\")"),
    ("subprocess", "import sys\nsys.modules['subprocess'].run(['true'])"),
    ("subprocess", "import sys\ngetattr(sys.modules['subprocess'], 'run')"),
    ("subprocess", "import sys\nvars(sys.modules['subprocess'])"),
    ("subprocess", "def f():\n    import subprocess\n[f() for _ in range(1)]"),
    ("subprocess", "open('part.py', 'w').write('import subprocess')\nimport part"),
    ("subprocess", "open('part.py', 'w').write('import subprocess')\nimport runpy\nrunpy.run_path('part.py')"),
    ("subprocess", "import threading\nseen = []\ndef f():\n    try:\n        import subprocess\n    except Exception as error:\n        seen.append(error)\nt = threading.Thread(target=f)\nt.start(); t.join()\nraise seen[0]"),
    ("importlib", "import importlib"),
    ("importlib", "import importlib.util"),
    ("importlib", "from importlib import import_module"),
    ("importlib", "import sys\nsys.modules['importlib'].import_module('json')"),
    ("wave", "import wave"),
    ("os.system", "import os\nos.system('true')"),
    ("os.system", "from os import system\nsystem('true')"),
    ("os.system", "from os import *\nsystem('true')"),
    ("os.system", "import os\ns = os.system\ns('true')"),
    ("os.system", "import os\ngetattr(os, 'sys' + 'tem')('true')"),
    ("os.system", "import os\nvars(os)['system']('true')"),
    ("os.system", "import sys\nsys.modules['os'].system('true')"),
    ("os.system", "import posix\nposix.system('true')"),
    ("os.system", "import os\nlist(map(os.system, ['true']))"),
    ("os.system", "import os, functools\nfunctools.partial(os.system, 'true')()"),
    ("os.system", "import os\nfrom concurrent.futures import ThreadPoolExecutor as T\nT(1).submit(os.system, 'true').result()"),
    ("os.system", "import os\nclass A:\n    go = staticmethod(os.system)\nA.go('true')"),
    ("os.system", "import os\nsorted(['true'], key=os.system)"),
    ("os.popen", "import os\nos.popen('true').read()"),
    ("os.execv", "import os\nos.execv('/bin/true', ['true'])"),
    ("os.execvpe", "import os\nos.execvpe('true', ['true'], {})"),
    ("os.spawnlp", "import os\nos.spawnlp(os.P_WAIT, 'true', 'true')"),
    ("os.posix_spawn", "import os\nos.posix_spawn('/bin/true', ['true'], {})"),
    ("pty.spawn", "import pty\npty.spawn('true')"),
    ("asyncio.create_subprocess_exec", "import asyncio\nasyncio.run(asyncio.create_subprocess_exec('true'))"),
    ("asyncio.create_subprocess_shell", "from asyncio.subprocess import create_subprocess_shell as s\nimport asyncio\nasyncio.run(s('true'))"),
    ("shutil.rmtree", "import shutil, os\nos.mkdir('d')\nshutil.rmtree('d')"),
    ("shutil.rmtree", "import shutil\nshutil.rmtree('d', ignore_errors=True)"),
    ("shutil.rmtree", "from shutil import rmtree as gone\ngone('d')"),
]


@pytest.mark.parametrize("name,code", ASKING)
def test_own_code_may_not(run, name, code):  # noqa: F811
    message, printed = run(code, blocked=RULES)
    assert message["error"] and message["error"]["type"] == "PermissionError", (message, printed)
    assert message["error"]["message"].startswith(name + " is blocked for code that runs with this profile: ")
    assert "blocked.py" not in message["error"]["traceback"]
    assert message["error"]["line"] or "exec(" in code or "eval(" in code or "part" in code or "Thread" in code


# What Python's own libraries do for themselves, and what asks for nothing.
GOING_ON = [
    "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n    pass\nimport os\nprint(os.path.exists(d))",
    "import platform\nprint(bool(platform.platform()), platform.system() == '')",
    "import asyncio\nprint(asyncio.run(asyncio.sleep(0, 5)))",
    "import multiprocessing as m\np = m.Process(target=print, args=('child',))\np.start(); p.join()\nprint(p.exitcode)",
    "from concurrent.futures import ProcessPoolExecutor as P\nwith P(1) as p:\n    print(list(p.map(abs, [-1])))",
    "import ctypes.util\nctypes.util.find_library('c')\nprint(1)",
    "import webbrowser, pydoc, unittest, doctest, venv, pkgutil, inspect\nprint(len(list(pkgutil.iter_modules())) > 9)",
    "import pickle, os\nprint(pickle.loads(pickle.dumps(os.system)) is os.system)",
    "import sys\nprint(all(repr(m) for m in list(sys.modules.values())))",
    "import sys\nfor m in list(sys.modules.values()):\n    getattr(m, '__file__', None), hasattr(m, '__path__'), dir(m)\nprint(1)",
    "import inspect, json\nprint(inspect.getmodule(json.dumps).__name__)",
    "import copyreg, pickle\nclass A:\n    pass\nprint(type(pickle.loads(pickle.dumps(A()))).__name__)",
    "import shutil, os\nos.makedirs('a/b')\nshutil.move('a', 'c')\nshutil.copytree('c', 'd')\nprint(sorted(os.listdir('.'))[-2:])",
    "import os\nprint(os.system.__name__, os.system.__module__, callable(os.popen))",
    "from os import system\nfrom shutil import rmtree\nprint(1)",
    "import os\nos.remove(open('x', 'w').name)\nos.mkdir('y'); os.rmdir('y')\nprint(os.path.exists('x'))",
    "import collections, dataclasses, typing, enum\nN = collections.namedtuple('N', 'a')\nC = dataclasses.make_dataclass('C', ['a'])\nprint(N(1), C(2))",
    "import importlib_metadata_that_is_not_there",
    "import subprocesses",
]


@pytest.mark.parametrize("code", GOING_ON)
def test_everything_else_goes_on(run, tmp_path, code):  # noqa: F811
    with_rules = run(code, blocked=RULES)
    for entry in tmp_path.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    without = run(code)
    assert with_rules[1] == without[1]
    assert (with_rules[0]["exit_code"], with_rules[0]["error"] and with_rules[0]["error"]["message"]) == (
        without[0]["exit_code"],
        without[0]["error"] and without[0]["error"]["message"],
    )


def test_a_class_can_be_blocked(run):  # noqa: F811
    rules = {"calls": ["threading.Thread"], "modules": []}
    message, printed = run("import threading\nthreading.Thread(target=print)", blocked=rules)
    assert message["error"]["message"].startswith("threading.Thread is blocked")
    message, printed = run("from concurrent.futures import ThreadPoolExecutor as T\nprint(T(1).submit(abs, -1).result())", blocked=rules)
    assert printed == "1\n" and message["error"] is None


def test_a_module_of_a_package(run):  # noqa: F811
    rules = {"calls": [], "modules": ["xml.dom"]}
    assert run("import xml.etree.ElementTree as e\nprint(e.fromstring('<a/>').tag)", blocked=rules)[1] == "a\n"
    for code in ("import xml.dom.minidom", "from xml.dom import minidom", "import importlib\nimportlib.import_module('xml.dom.minidom')"):
        message, _ = run(code, blocked=rules)
        assert message["error"]["message"] == "xml.dom is blocked for code that runs with this profile: do without it", code


def test_the_message_says_what_to_do_instead(run):  # noqa: F811
    assert PROGRAMS in run("import subprocess", blocked=RULES)[0]["error"]["message"]
    assert "import statement" in run("import importlib", blocked=RULES)[0]["error"]["message"]
    assert "os.remove" in run("import shutil\nshutil.rmtree('x')", blocked=RULES)[0]["error"]["message"]


def test_code_may_catch_it_and_go_on(run):  # noqa: F811
    code = "try:\n    import subprocess\nexcept PermissionError as error:\n    print('no', error.errno)\nprint(6 * 7)"
    message, printed = run(code, blocked=RULES)
    assert (message["exit_code"], printed) == (0, "no None\n42\n")


def test_without_rules_nothing_is_blocked(run):  # noqa: F811
    message, printed = run("import subprocess, importlib, os\nprint(type(os.system).__name__, __import__.__name__)")
    assert (message["exit_code"], printed) == (0, "builtin_function_or_method __import__\n")
