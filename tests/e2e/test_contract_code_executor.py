# SPDX-License-Identifier: Apache-2.0
"""The contract of the toolset `code_executor`, whole, with what is kept on this machine and on servers."""
import hashlib
import json
import re
import urllib.parse

import pytest

from harness import Tools, schema_of, unique
from mcp_lines import Lines

RUN_FIELDS = {"stdout", "stderr", "exit_code", "files", "run_id"}
SHELL_FIELDS = {"stdout", "stderr", "exit_code", "run_id"}
ENDINGS = (
    "csv tsv json jsonl txt md html xml pdf png jpg jpeg svg gif webp xlsx parquet npy npz zip".split()
)
ID = "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
URL = re.compile(rf"/v1/files/({ID})/([^/?]+)\?expires=(\d+)&signature=([\w-]+)")


@pytest.fixture
def tools(kept_adder):
    return Tools(kept_adder, "code_executor")


@pytest.fixture
def run(tools):
    def call(code, status=0, *options, **arguments):
        reply = tools.call("run_python", {"code": code, **arguments}, *options, status=status)
        assert set(reply) == RUN_FIELDS, reply
        assert all(set(file) == {"filename", "url"} for file in reply["files"])
        return reply

    return call


@pytest.fixture
def shell(tools):
    def call(command, status=0, *options, **arguments):
        reply = tools.call("run_shell", {"command": command, **arguments}, *options, status=status)
        assert set(reply) == SHELL_FIELDS, reply
        return reply

    return call


@pytest.fixture
def conversation():
    """Options of the calls of one conversation."""
    return ("--conversation", f"conversation-{unique()}")


def names(reply):
    return sorted(file["filename"] for file in reply["files"])


def id_of(file):
    found = URL.fullmatch(file["url"])
    assert found and urllib.parse.unquote(found[2]) == file["filename"], file
    return found[1]



def content(adder, file_id):
    """The bytes of a stored file, as they come out again."""
    path = adder.scratch / f"{unique()}.got"
    ended = adder.call("file", "get", file_id, "--out", path)
    assert ended.returncode == 0, ended
    return path.read_bytes()


def put(adder, name, data):
    path = adder.file(f"{unique()}/{name}", data)
    ended = adder.call("file", "put", "--json", path)
    assert ended.returncode == 0, ended
    [file] = json.loads(ended.stdout)["files"]
    return file["file_id"]


# ---- run_python ----


def test_its_parameters(tools):
    properties = tools.table["run_python"]["inputSchema"]["properties"]
    assert list(properties) == ["code", "timeout"]
    assert properties["timeout"]["default"] == 30 and schema_of("integer", properties["timeout"])["maximum"] == 60


def test_the_tools_there_are(tools):
    assert set(tools.table) == {"run_python", "run_shell", "load_file", "list_files"}


@pytest.mark.quick
def test_the_reply(run):
    reply = run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert (reply["stdout"], reply["stderr"], reply["exit_code"], reply["files"]) == ("out\n", "err\n", 0, [])


def test_the_dotted_name(tools):
    assert tools.call("code_executor.run_python", {"code": "print(1)"})["stdout"] == "1\n"
    ended = tools.adder.call("tool", "call", "code_executor.run_python", '{"code": "print(1)"}')
    assert ended.returncode == 0 and '"stdout":"1\\n"' in ended.stdout


def test_names_of_the_file_manager(kept_adder, tools, conversation):
    """Through the toolset, by the command without it, and over MCP."""
    file_id = put(kept_adder, "numbers.txt", "1\n")
    arguments = {"file_manager.list_files": {}, "file_manager.load_file": {"file_id": file_id}}

    def check(listed, loaded):
        assert file_id in [file["file_id"] for file in listed["files"]]
        assert (loaded["local_path"], loaded["filename"]) == ("/tmp/numbers.txt", "numbers.txt")

    check(*(tools.call(name, given, *conversation) for name, given in arguments.items()))
    ended = [kept_adder.call("tool", "call", name, json.dumps(given), *conversation) for name, given in arguments.items()]
    assert [one.returncode for one in ended] == [0, 0], ended
    check(*(json.loads(one.stdout) for one in ended))
    for options in ([], ["--toolset", "code_executor"]):
        with Lines(kept_adder, *options) as lines:
            check(*(lines.call(name, given)["structuredContent"] for name, given in arguments.items()))


def test_an_exception(run):
    reply = run("1/0", 1)
    assert reply["exit_code"] == 1 and reply["stderr"].endswith("ZeroDivisionError: division by zero\n")
    assert run("import sys; sys.exit(7)", 1)["exit_code"] == 7


def test_time_out_is_minus_one(run):
    reply = run("import time\nprint('before', flush=True)\ntime.sleep(1000)", 1, timeout=4)
    assert reply["exit_code"] == -1 and reply["stdout"] == "before\n" and "4 s" in reply["stderr"]


def test_the_longest_time(tools, run):
    assert run("print(1)", timeout=60)["stdout"] == "1\n"
    assert "at most 60 s" in tools.refused("run_python", {"code": "1", "timeout": 61})


def test_text_is_cut_at_8000_characters(run):
    assert run("print('é' * 9000)")["stdout"] == "é" * 8000
    assert run("print('é' * 7999)")["stdout"] == "é" * 7999 + "\n"
    wrong = run("import sys\nsys.stderr.write('e' * 100000)\nraise ValueError('the reason')", 1)
    assert len(wrong["stderr"]) == 8000 and wrong["stderr"].endswith("ValueError: the reason\n")


def test_libraries(kept_adder, run):
    if kept_adder.environment != "science":
        pytest.skip("no environment `science`")
    code = """
        import math, json, datetime, collections, itertools, re, statistics
        import numpy, pandas, matplotlib, requests, scipy, sympy
        print(matplotlib.get_backend().lower(), sympy.factorint(12))
    """
    reply = run("\n".join(line.strip() for line in code.splitlines()))
    assert reply["stdout"] == "agg {2: 2, 3: 1}\n", reply["stderr"]


def test_the_backend_of_matplotlib(run):
    assert run("import os; print(os.environ['MPLBACKEND'])")["stdout"] == "Agg\n"


def test_nothing_stays(run):
    run("open('/tmp/left.txt', 'w').write('x'); x = 1")
    assert run("import os; print(os.path.exists('/tmp/left.txt'), 'x' in globals())")["stdout"] == "False False\n"


def test_a_guest_may_call(run, shell, tools):
    assert run("print(1)", 0, "--role", "guest")["stdout"] == "1\n"
    assert shell("echo 1", 0, "--role", "guest")["stdout"] == "1\n"
    tools.call("list_files", {}, "--role", "guest")


def test_the_network_is_refused_with_a_word(run):
    reply = run("import urllib.request\nurllib.request.urlopen('http://example.com', timeout=5)", 1)
    assert reply["exit_code"] == 1 and reply["stderr"]
    reply = run("import requests\nrequests.get('http://example.com', timeout=5)", 1)
    assert reply["exit_code"] == 1 and reply["stderr"]


# ---- files of a run ----


@pytest.mark.parametrize("directory", ["/tmp", "/tmp/output"])
def test_files_come_back(run, directory):
    reply = run(f"for e in {ENDINGS!r}:\n    open('{directory}/made.' + e, 'w').write('x')")
    assert names(reply) == sorted(f"made.{ending}" for ending in ENDINGS)
    assert len({id_of(file) for file in reply["files"]}) == len(ENDINGS)


@pytest.mark.quick
def test_files_at_relative_paths_come_back(kept_adder, run):
    reply = run("import os\nos.mkdir('sub')\nfor n in ('plot.png', 'sub/sums.csv', 'raw'):\n    open(n, 'w').write(n)")
    assert names(reply) == ["plot.png", "sums.csv"]
    contents = {file["filename"]: content(kept_adder, id_of(file)) for file in reply["files"]}
    assert contents == {"plot.png": b"plot.png", "sums.csv": b"sub/sums.csv"}
    assert all(file["url"] in reply["stdout"] for file in reply["files"])


@pytest.mark.quick
def test_a_file_is_stored_with_a_row_and_a_url(kept_adder, store, run):
    data = bytes(range(256)) * 100
    reply = run(f"print('made')\nopen('/tmp/output/a b.csv', 'wb').write(bytes(range(256)) * 100)")
    [file] = reply["files"]
    file_id = id_of(file)
    assert file["filename"] == "a b.csv" and content(kept_adder, file_id) == data
    assert reply["stdout"].startswith("made\n") and reply["stdout"].rstrip("\n").endswith(file["url"])
    [row] = [row for row in store.rows() if row["id"] == file_id]
    assert row["blob"] == f"generated/{file_id}_a b.csv" and row["run_id"] == reply["run_id"]
    assert (row["bytes"], row["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert store.blob(row["blob"]) == data


def test_urls_come_also_after_text_that_is_cut(run):
    reply = run("print('é' * 9000)\nopen('/tmp/made.txt', 'w').write('x')")
    assert reply["stdout"].startswith("é" * 7000) and len(reply["stdout"]) <= 8000
    assert reply["files"][0]["url"] in reply["stdout"]


def test_urls_are_signed_and_expire(run):
    first, second = (run("open('/tmp/made.txt', 'w').write('x')")["files"][0]["url"] for _ in range(2))
    one, two = URL.fullmatch(first), URL.fullmatch(second)
    assert one[1] != two[1] and one[4] != two[4] and len(one[4]) >= 32


def test_what_does_not_come_back(run):
    code = "for name in ('/tmp/a.exe', '/tmp/b', '/tmp/c.PNG', '/dev/shm/d.csv', '/tmp/.csv.swp'):\n    open(name, 'w').write('x')"
    assert names(run(code)) == ["c.PNG"]


def test_the_configuration_adds_endings(make_adder):
    adder = make_adder("[tools]\nfile_endings = docx sqlite\n")
    reply = Tools(adder, "code_executor").call(
        "run_python", {"code": "for n in ('a.docx', 'b.sqlite', 'c.csv', 'd.exe'): open('/tmp/' + n, 'w').write('x')"}
    )
    assert names(reply) == ["a.docx", "b.sqlite", "c.csv"]


@pytest.mark.parametrize("name", ["ünï cödé.txt", "-rf.txt", "a;b$(c).txt", "x" * 251 + ".txt"])
def test_strange_names(kept_adder, run, name):
    reply = run(f"open('/tmp/output/' + {name!r}, 'w').write('x')")
    [file] = reply["files"]
    shown = file["filename"]
    assert "/" not in shown and shown.endswith(".txt") and shown.isprintable()
    assert content(kept_adder, id_of(file)) == b"x"


# ---- load_file and list_files ----


@pytest.mark.quick
def test_a_file_of_one_run_is_loaded_into_the_next(tools, run, conversation):
    [file] = run("open('/tmp/output/data.csv', 'w').write('a,b\\n1,2\\n')", 0, *conversation)["files"]
    loaded = tools.call("load_file", {"file_id": id_of(file)}, *conversation)
    assert (loaded["local_path"], loaded["filename"]) == ("/tmp/data.csv", "data.csv")
    reply = run("print(open('/tmp/data.csv').read(), end='')", 0, *conversation)
    assert (reply["stdout"], reply["files"]) == ("a,b\n1,2\n", []), "what did not change does not come back"


def test_a_file_that_was_put_in(kept_adder, tools, run, conversation):
    file_id = put(kept_adder, "numbers.txt", "1\n2\n3\n")
    assert tools.call("load_file", {"file_id": file_id}, *conversation)["local_path"] == "/tmp/numbers.txt"
    assert run("print(sum(map(int, open('/tmp/numbers.txt'))))", 0, *conversation)["stdout"] == "6\n"


def test_a_loaded_file_can_be_changed_and_the_stored_one_cannot(kept_adder, tools, run, conversation):
    file_id = put(kept_adder, "notes.txt", "one\n")
    tools.call("load_file", {"file_id": file_id}, *conversation)
    reply = run("open('/tmp/notes.txt', 'a').write('two\\n'); print(open('/tmp/notes.txt').read())", 0, *conversation)
    assert reply["stdout"].startswith("one\ntwo\n")
    [changed] = reply["files"]
    assert content(kept_adder, id_of(changed)) == b"one\ntwo\n"
    assert content(kept_adder, file_id) == b"one\n"


def test_shell_has_loaded_files_too(kept_adder, tools, shell, conversation):
    file_id = put(kept_adder, "words.txt", "b\na\nb\n")
    tools.call("load_file", {"file_id": file_id}, *conversation)
    assert shell("sort /tmp/words.txt | uniq -c | tr -s ' '", 0, *conversation)["stdout"] == " 1 a\n 2 b\n"


def test_an_unknown_file(tools, conversation):
    said = tools.refused("load_file", {"file_id": "01890000-0000-7000-8000-000000000000"}, *conversation)
    assert "01890000-0000-7000-8000-000000000000" in said
    tools.refused("load_file", {"file_id": "../../etc/passwd"}, *conversation)


def test_list_files_shows_ids(kept_adder, tools, run, conversation):
    [file] = run("open('/tmp/output/listed.csv', 'w').write('x')", 0, *conversation)["files"]
    mine = put(kept_adder, "listed too.txt", "y")
    listed = {entry["file_id"]: entry for entry in tools.call("list_files", {}, *conversation)["files"]}
    assert listed[id_of(file)]["filename"] == "listed.csv" and listed[id_of(file)]["bytes"] == 1
    assert listed[mine]["filename"] == "listed too.txt"


# ---- run_shell ----


def test_parameters_of_run_shell(tools):
    properties = tools.table["run_shell"]["inputSchema"]["properties"]
    assert list(properties) == ["command", "timeout"]
    assert properties["timeout"]["default"] == 30 and schema_of("integer", properties["timeout"])["maximum"] == 60


@pytest.mark.quick
@pytest.mark.parametrize(
    "command, out",
    [
        ("echo a | wc -c", "2\n"),
        ("printf '3\\n1\\n2\\n' | sort | head -n 2", "1\n2\n"),
        ("echo '{\"a\": [1, 2]}' | jq -c '.a'", "[1,2]\n"),
        ("echo one two | cut -d ' ' -f 2", "two\n"),
        ("printf 'a\\nb\\n' | grep -c b; echo $?", "1\n0\n"),
        ("seq 1 5 | tail -n 1", "5\n"),
        ("for x in 1 2; do echo $x; done", "1\n2\n"),
    ],
)
def test_read_only_programs(shell, command, out):
    reply = shell(command)
    assert (reply["stdout"], reply["stderr"], reply["exit_code"]) == (out, "", 0)


@pytest.mark.parametrize(
    "program", "rm mkfs dd chmod chown docker sudo eval ssh nc mount kill reboot python3 bash".split()
)
def test_refused_programs(tools, program):
    reply = tools.call("run_shell", {"command": f"echo a; {program} x"}, status=126)
    assert program in json.dumps(reply)


def test_time_out_of_a_command_is_minus_one(shell):
    reply = shell("echo before; tail -f /dev/null", 1, timeout=4)
    assert reply["exit_code"] == -1 and reply["stdout"] == "before\n"


def test_the_exit_code_is_the_commands(shell):
    assert shell("echo a | grep b", 1)["exit_code"] == 1


def test_what_parsing_misses_the_kernel_stops(shell):
    reply = shell("""awk 'BEGIN { r = system("rm -rf /usr/bin/awk"); print r != 0 }' && awk 'BEGIN { print "there" }'""")
    assert reply["stdout"].endswith("there\n")


@pytest.mark.parametrize("command", ["curl -sS http://example.com", "wget -q -O - http://example.com"])
def test_without_a_network_programs_fail_at_once(tools, command):
    reply = tools.call("run_shell", {"command": command}, status=1)
    assert reply["exit_code"] not in (0, -1) and "Denied: network:" in reply["stderr"]
