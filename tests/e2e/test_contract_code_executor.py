# SPDX-License-Identifier: Apache-2.0
"""The contract of run_python of the toolset `code_executor`."""
import pytest

from harness import Tools

FIELDS = {"stdout", "stderr", "exit_code", "files", "run_id"}
ENDINGS = (
    "csv tsv json jsonl txt md html xml pdf png jpg jpeg svg gif webp xlsx parquet npy npz zip".split()
)


@pytest.fixture
def tools(adder):
    return Tools(adder, "code_executor")


@pytest.fixture
def run(tools):
    def call(code, status=0, *options, **arguments):
        reply = tools.call("run_python", {"code": code, **arguments}, *options, status=status)
        assert set(reply) == FIELDS, reply
        assert all(set(file) == {"filename", "url"} for file in reply["files"])
        return reply

    return call


def names(reply):
    return sorted(file["filename"] for file in reply["files"])


def test_its_parameters(tools):
    properties = tools.table["run_python"]["inputSchema"]["properties"]
    assert list(properties) == ["code", "timeout"]
    assert properties["timeout"]["default"] == 30 and properties["timeout"]["maximum"] == 60


@pytest.mark.quick
def test_the_reply(run):
    reply = run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert (reply["stdout"], reply["stderr"], reply["exit_code"], reply["files"]) == ("out\n", "err\n", 0, [])


def test_the_dotted_name(tools):
    assert tools.call("code_executor.run_python", {"code": "print(1)"})["stdout"] == "1\n"
    ended = tools.adder.call("call", "code_executor.run_python", '{"code": "print(1)"}')
    assert ended.returncode == 0 and '"stdout":"1\\n"' in ended.stdout


def test_an_exception(run):
    reply = run("1/0", 1)
    assert reply["exit_code"] == 1 and reply["stderr"].endswith("ZeroDivisionError: division by zero\n")
    assert run("import sys; sys.exit(7)", 1)["exit_code"] == 7


def test_time_out_is_minus_one(run):
    reply = run("print('before', flush=True)\nwhile True: pass", 1, timeout=1)
    assert reply["exit_code"] == -1 and reply["stdout"] == "before\n" and "1 s" in reply["stderr"]


def test_the_longest_time(tools, run):
    assert run("print(1)", timeout=60)["stdout"] == "1\n"
    assert "at most 60 s" in tools.refused("run_python", {"code": "1", "timeout": 61})


def test_text_is_cut_at_8000_characters(run):
    assert run("print('é' * 9000)")["stdout"] == "é" * 8000
    assert run("print('é' * 7999)")["stdout"] == "é" * 7999 + "\n"
    wrong = run("import sys\nsys.stderr.write('e' * 100000)\nraise ValueError('the reason')", 1)
    assert len(wrong["stderr"]) == 8000 and wrong["stderr"].endswith("ValueError: the reason\n")


def test_libraries(science, run):
    code = """
        import math, json, datetime, collections, itertools, re, statistics
        import numpy, pandas, matplotlib, requests, scipy, sympy
        print(matplotlib.get_backend().lower(), sympy.factorint(12))
    """
    reply = run("\n".join(line.strip() for line in code.splitlines()))
    assert reply["stdout"] == "agg {2: 2, 3: 1}\n", reply["stderr"]


def test_the_backend_of_matplotlib(run):
    assert run("import os; print(os.environ['MPLBACKEND'])")["stdout"] == "Agg\n"


@pytest.mark.parametrize("directory", ["/tmp", "/tmp/output"])
def test_files_come_back(run, directory):
    reply = run(f"for e in {ENDINGS!r}:\n    open('{directory}/made.' + e, 'w').write('x')")
    assert names(reply) == sorted(f"made.{ending}" for ending in ENDINGS)
    assert {file["url"] for file in reply["files"]} == {None}


def test_what_does_not_come_back(run):
    code = "for name in ('/tmp/a.exe', '/tmp/b', '/tmp/c.PNG', '/work/d.csv', '/tmp/.csv.swp'):\n    open(name, 'w').write('x')"
    assert names(run(code)) == ["c.PNG"]


def test_the_configuration_adds_endings(make_adder):
    adder = make_adder("[tools]\nfile_endings = docx sqlite\n")
    reply = Tools(adder, "code_executor").call(
        "run_python", {"code": "for n in ('a.docx', 'b.sqlite', 'c.csv', 'd.exe'): open('/tmp/' + n, 'w').write('x')"}
    )
    assert names(reply) == ["a.docx", "b.sqlite", "c.csv"]


def test_nothing_stays(run):
    run("open('/tmp/left.txt', 'w').write('x'); x = 1")
    assert run("import os; print(os.path.exists('/tmp/left.txt'), 'x' in globals())")["stdout"] == "False False\n"


def test_a_guest_may_call(run):
    assert run("print(1)", 0, "--role", "guest")["stdout"] == "1\n"


def test_the_network_is_refused_with_a_word(run):
    reply = run("import urllib.request\nurllib.request.urlopen('http://example.com', timeout=5)", 1)
    assert reply["exit_code"] == 1 and reply["stderr"]
