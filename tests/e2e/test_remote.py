# SPDX-License-Identifier: Apache-2.0
"""The command line with a daemon elsewhere (--url, ADDER_URL): the same commands print the same, what cannot travel says so, and
what is no daemon of ours does no harm."""
import contextlib
import http.server
import json
import os
import re
import signal
import threading

import harness
import http_bed
import pytest
from harness import wait_until

OWNERS = re.compile(r"uid:\d+|token:tester")
IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|[0-9a-f]{8}-[0-9a-f]{4}\b|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?")
NUMBERS = re.compile(r"(?<![\w.])\d+(\.\d+)? (ms|s|min|h|bytes|[KM]iB)(?!\w)|(?<=ID)\.\d+Z")


def usual(text):
    for pattern, word in ((IDS, "ID"), (NUMBERS, "N"), (OWNERS, "OWNER")):
        text = pattern.sub(word, text)
    return re.sub(" +", " ", text)  # columns are as wide as what stands in them


class Remote:
    """One daemon, asked by two: HERE by its socket, AWAY by HTTP, whose owner is another."""

    def __init__(self, installation, user, directory, environment="system"):
        os.chmod(directory, 0o755)
        self.here = harness.Adder(
            installation, user, harness.new_directory(directory, "here"), f"[environment]\ndefault = {environment}\n"
        )
        self.bed = http_bed.Served(self.here)
        self.away = harness.Adder(installation, user, harness.new_directory(directory, "away"), variables=self.variables())

    def variables(self, **more):
        return {"ADDER_URL": f"http://127.0.0.1:{self.bed.port}", "ADDER_TOKEN": self.bed.secret, **more}

    def both(self, *arguments, status=0, **options):
        """What both print, without what is never the same."""
        said = []
        for adder in (self.here, self.away):
            ended = adder.call(*arguments, **options)
            assert ended.returncode == status, (arguments, ended)
            said.append([usual(text) for text in (ended.stdout, ended.stderr)])
        return said

    def same(self, *arguments, **options):
        here, away = self.both(*arguments, **options)
        assert here == away, arguments
        return here

    def refused(self, *arguments, **variables):
        adder = self.away
        kept, adder.variables = adder.variables, {**adder.variables, **variables}
        try:
            ended = adder.call(*arguments)
        finally:
            adder.variables = kept
        assert ended.returncode == 125 and ended.stdout == "" and ended.stderr.count("\n") == 1, ended
        return ended.stderr


@pytest.fixture(scope="module")
def remote(installation, user, common_directory):
    directory = harness.new_directory(common_directory, "remote-" + user.name)
    remote = Remote(installation, user, directory)
    yield remote
    remote.bed.stop()
    assert remote.away.daemon() is None, "who asks elsewhere needs no daemon here"


@pytest.mark.quick
def test_a_run_prints_the_same(remote):
    for code, status in {
        "print('out'); import sys; print('err', file=sys.stderr); 6 * 7": 0,
        "1/0": 1,
        "raise SystemExit(9)": 9,
        "open('kept.txt', 'w').write('x' * 9)": 0,
        "open('/etc/shadow')": 1,
    }.items():
        remote.same("run", "-c", code, status=status)
    results = [adder.run("print(1); display(3); open('x', 'w').write('y'); 2") for adder in (remote.here, remote.away)]
    assert results[0].stdout == results[1].stdout == "1\n" and results[0].value == results[1].value
    assert results[0].displays == results[1].displays == [{"text/plain": "3"}]
    for adder, result in zip((remote.here, remote.away), results):
        record = harness.strict_json(adder.call("history", "show", result.run_id, "--json").stdout)
        assert [file["name"] for file in record["more"]["files"]] == ["x"]
    assert list(results[0].fields) == list(results[1].fields)


def test_what_is_given_travels(remote):
    text, data = remote.away.file("in.txt", "first\nsecond\n"), remote.away.file("in.bin", bytes(range(256)))
    code = "import sys, os\nprint(input(), sys.argv[1:], os.environ['A'], v, len(open('b', 'rb').read()), os.environ.get('HERE'))"
    told = remote.away.json(
        *("--file", text, "--file", f"{data}:b", "--stdin", text, "--set-env", "A=1", "--value", "v=[1, null]", "-c", code, "--", "x", "y z"),
        env={**remote.away.process_environment(), "HERE": "not for others"},
    )
    assert told.stdout == "first ['x', 'y z'] 1 [1, None] 256 None\n", told
    script = remote.away.file("s.py", "def f():\n    1/0\nf()\n")
    ended = remote.away.call("run", script)
    assert ended.returncode == 1 and 'File "s.py", line 2, in f' in ended.stderr
    limited = remote.away.json("--limit", "pids=9", "--timeout", "7", "-c", "1")
    assert limited.limits["pids"] == 9 and limited.limits["wall_ms"] == 7000


def test_standard_input_stays_here_unless_it_is_asked_for(remote):
    code = "import sys\nprint(repr(sys.stdin.read()))"
    for options, out, said in (((), "''\n", True), (("--stdin", "-"), "'text'\n", False), (("--stdin", "/dev/null"), "''\n", False)):
        ended = remote.away.call("run", *options, "-c", code, stdin=open(remote.away.file("in.txt", "text")))
        assert (ended.stdout, "--stdin - sends it" in ended.stderr) == (out, said), ended


def test_files_are_saved_here(remote):
    out = remote.away.folder("out")
    ended = remote.away.call("run", "--out", out, "-c", "import os; os.mkdir('d'); open('d/.x', 'w').write('1'); open('y', 'w').write('22')")
    assert ended.returncode == 0 and (out / "y").read_text() == "22", ended
    assert sorted(path.name for path in out.rglob("*")) == ["_x", "d", "y"], "the names are made fit"
    again = remote.away.call("run", "--out", out, "-c", "open('y', 'w').write('3'); open('z', 'w').write('4')")
    assert again.returncode == 125 and "--force" in again.stderr and not (out / "z").exists() and (out / "y").read_text() == "22"
    assert remote.away.call("run", "--out", out, "--force", "-c", "open('y', 'w').write('3')").returncode == 0
    assert (out / "y").read_text() == "3"
    assert not list(remote.away.scratch.glob("adder-*"))


def test_a_session_from_its_making_to_its_end(remote):
    here, away = remote.both("session", "new", "--name", "s")
    assert here == away
    remote.same("run", "--session", "s", "-c", "x = 5")
    remote.same("run", "--session", "s", "-c", "x / 0", status=1)
    assert remote.same("run", "--session", "s", "-c", "x")[0] == "5\n"
    for arguments in (["vars", "s"], ["vars", "s", "x"], ["history", "s"], ["checkpoint", "s", "mark"], ["list"], ["show", "s"]):
        remote.same("session", *arguments)
    assert "there is no variable" in remote.same("session", "vars", "s", "no", status=125)[1]
    remote.same("run", "--session", "s", "-c", "x = 6")
    remote.same("session", "rollback", "s", "mark")
    assert remote.same("run", "--session", "s", "-c", "x")[0] == "5\n"
    remote.same("session", "branch", "s", "--count", "2")
    told = remote.same("session", "replay", "s", "--name", "t", status=1)
    assert "ZeroDivisionError" in told[1]
    assert "nothing has changed" in remote.same("session", "replay", "s", "--stop", "--name", "u", status=125)[1]
    remote.same("session", "reset", "s")
    remote.same("session", "interrupt", "s")
    remote.same("session", "rm", "s", "t")
    assert 'there is no session "no"' in remote.same("session", "show", "no", status=125)[1]


def test_records_results_and_files(remote):
    assert remote.same("run", "-c", "print('y' * 3000000)")[0]
    for adder in (remote.here, remote.away):
        (record, *_) = harness.strict_json(adder.call("history", "list", "--limit", "1", "--json").stdout)["records"]
        assert adder.call("history", "show", record["run_id"]).returncode == 0
        count = harness.strict_json(adder.call("history", "stats", "--json").stdout)["records"]
        for form in ("jsonl", "csv"):
            path = adder.scratch / f"records.{form}"
            ended = adder.call("history", "export", "--format", form, "--out", path)
            assert ended.stdout == f"{count} record{'s' if count > 1 else ''}\n" and path.stat().st_size > 0, (count, ended)
    content = b"\0some\r\nbytes\xff" * 100000
    for adder in (remote.here, remote.away):
        path, name = adder.file("put.bin", content), 'a "name"; with=signs\u00e9.bin'
        put = harness.strict_json(adder.call("file", "put", path, "--name", name, "--conversation", "talk", "--json").stdout)
        (file,) = put["files"]
        assert file["name"] == name and file["conversation"] == "talk" and file["bytes"] == len(content), file
        out = adder.scratch / "got.bin"
        assert adder.call("file", "get", file["file_id"], "--out", out).returncode == 0 and out.read_bytes() == content
        assert adder.call("run", "--file", f"@{file['file_id']}=z", "-c", "print(len(open('z', 'rb').read()))").stdout == "1300000\n"
        assert adder.call("file", "show", file["file_id"]).returncode == 0
        assert adder.call("file", "rm", file["file_id"]).returncode == 0
        assert adder.call("file", "get", file["file_id"]).returncode == 125
    piped = remote.away.call("file", "put", "-", "--name", "piped", "--json", input="through a pipe")
    assert harness.strict_json(piped.stdout)["files"][0]["bytes"] == 14, piped


def test_tools(remote):
    for adder in (remote.here, remote.away):
        ended = adder.call("tool", "call", "run_python", '{"code": "1 + 1"}')
        assert ended.returncode == 0 and harness.strict_json(ended.stdout)["value"] == "2", ended
        failed = adder.call("tool", "call", "run_python", '{"code": "1 / 0"}')
        assert failed.returncode == 1 and harness.strict_json(failed.stdout)["outcome"] == "error", failed
    wrong = remote.away.call("tool", "call", "run_python", '{"cod": "1 / 0"}')
    assert wrong.returncode == 125 and "did you mean code?" in harness.strict_json(wrong.stdout)["error"], wrong
    told = remote.away.call("tool", "call", "run_python", '{"code": "1"}', "--role", "guest")
    assert told.returncode == 125 and "the token identifies the caller" in told.stdout


def test_what_the_daemon_has(remote):
    for arguments in (["profile", "list"], ["profile", "list", "--names"], ["profile", "list", "--json"], ["profile", "show"],
                      ["profile", "show", "compute", "--json"], ["env", "list"], ["env", "list", "--json"]):
        remote.same(*arguments)
    for arguments in (["doctor", "store"], ["doctor", "store", "--check", "--deep"], ["doctor", "store", "--check", "--json"]):
        remote.same(*arguments)
    for arguments in (["tool", "list"], ["tool", "list", "--toolset", "compute"], ["tool", "list", "--format", "openai"],
                      ["tool", "list", "--format", "mcp", "--toolset", "workbench"]):
        remote.same(*arguments)
    path = remote.here.config / "models.conf"
    path.write_text("[models]\ndefault = local\n\n[local]\nbase_url = http://127.0.0.1:1/v1\nmodel = tiny\ninput_price = 0.15\n")
    path.chmod(0o600)
    remote.here.own(path)
    for arguments in (["model", "list"], ["model", "list", "--names"], ["model", "show", "local"], ["model", "show", "local", "--json"]):
        remote.same(*arguments)
    assert "there is no profile" in remote.same("profile", "show", "no", status=125)[1]

    def alone(adder):
        told = harness.strict_json(adder.call("serve", "status", "--json").stdout)
        return told if told["connections"] == 0 else None

    # Without who asks; that of the command before may take a moment to close.
    here, away = (wait_until(lambda: alone(adder), "no other connections") for adder in (remote.here, remote.away))
    assert list(here) == list(away) and here["pid"] == away["pid"] and here["http"] == away["http"]
    assert "engine:" in remote.away.call("serve", "status").stdout


def test_tokens_are_made_elsewhere(remote):
    told = remote.away.call("token", "new", "made-elsewhere", "--role", "guest", "--expires", "1d")
    assert (told.returncode, told.stderr) == (0, "") and told.stdout.startswith("adder_")
    shown = json.loads(remote.here.call("token", "show", "made-elsewhere", "--json").stdout)
    assert shown["role"] == "guest" and shown["expires"]
    again = remote.away.call("token", "new", "made-elsewhere")
    assert again.returncode == 125 and "already" in again.stderr
    assert remote.away.call("token", "rm", "made-elsewhere").returncode == 0


def test_tokens_are_taken_back_from_elsewhere(remote):
    for name in ("one", "two"):
        assert remote.here.call("token", "new", name, "--profiles", "compute", "--expires", "1d").returncode == 0
    for arguments in (["token", "list"], ["token", "list", "--json"], ["token", "list", "--names"], ["token", "show", "one"]):
        remote.same(*arguments)
    told = remote.away.call("token", "rm", "one", "three")
    assert told.returncode == 125 and 'there is no token "three"' in told.stderr
    assert remote.here.call("token", "show", "one").returncode == 0, "none ends unless all are there"
    assert remote.away.call("token", "rm", "one", "two").returncode == 0
    assert "one" not in remote.same("token", "list", "--names")[0].split()


@pytest.fixture
def remote_science(installation, user, common_directory):
    remote = Remote(installation, user, harness.new_directory(common_directory, "science-" + user.name), "science")
    yield remote
    remote.bed.stop()


def test_data_sets(remote_science):
    remote = remote_science
    if not remote.here.has_environment("science"):
        harness.skip_without("science")
    for adder in (remote.here, remote.away):
        table = adder.file("table.csv", "a,b\n1,x\n2,y\n")
        made = adder.call("data", "import", table, "--name", "t")
        assert made.returncode == 0 and made.stdout == "t:1\t2 rows\n", made
        out = adder.scratch / "t.json"
        assert adder.call("data", "export", "t", "--format", "json", "--out", out).returncode == 0 and out.stat().st_size > 0
    for arguments in (["list"], ["show", "t"], ["head", "t", "-n", "1"]):
        remote.same("data", *arguments)
    for adder in (remote.here, remote.away):
        assert adder.call("data", "rm", "t").returncode == 0
    remote.same("data", "show", "t", status=125)


def test_ctrl_c_cancels_and_the_result_comes(remote):
    with remote.away.start("print('begun', flush=True)\nwhile True: pass", "--timeout", "300") as process:
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=2 * remote.away.deadline)
    assert process.returncode == 130 and b"cancelled" in err, (out, err)
    listed = lambda: remote.bed.get("/v1/runs").json()["runs"]
    wait_until(lambda: not listed(), "the run to be gone")


def test_ctrl_c_interrupts_a_cell(remote):
    assert remote.away.call("session", "new", "--name", "kept").returncode == 0
    with remote.away.popen("run", "--session", "kept", "-c", "x = 1\nprint('begun', flush=True)\nwhile True: pass") as process:
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=2 * remote.away.deadline)
    assert b"KeyboardInterrupt" in err, err
    assert remote.away.call("run", "--session", "kept", "-c", "x").stdout == "1\n"
    assert remote.away.call("session", "rm", "kept").returncode == 0


def test_a_client_that_is_killed_ends_its_run(remote):
    with remote.away.start("print('begun', flush=True)\nwhile True: pass", "--timeout", "300") as process:
        assert process.stdout.readline() == b"begun\n"
        process.kill()
        process.communicate()
    wait_until(lambda: not remote.bed.get("/v1/runs").json()["runs"], "the run to be cancelled")


def test_what_cannot_travel(remote):
    folder = remote.away.folder("folder")
    for arguments, words in {
        ("serve",): "works with the daemon of this machine alone",
        ("env", "show", "system"): "works with the daemon of this machine alone",
        ("profile", "check", folder): "works with the daemon of this machine alone",
        ("tool", "disable", "run_python"): "works with the daemon of this machine alone",
        ("tool", "list", "--prompt"): "--prompt is about the tools of this program",
        ("tool", "list", "--format", "markdown"): "that format is about the tools of this program",
        ("token", "rotate", "x"): "works with the daemon of this machine alone",
        ("model", "rm", "x"): "works with the daemon of this machine alone",
        ("mcp", "install", "--client", "cursor", "--url", "http://127.0.0.1:1"): "works with the daemon of this machine alone",
        ("run", "--workdir", folder, "-c", "1"): "--workdir and --review are about a directory of this machine",
        ("run", "--review", "-c", "1"): "--workdir and --review are about a directory of this machine",
        ("run", "--role", "guest", "-c", "1"): "--role is for a daemon of this machine",
        ("run", "--dangerously-accept-all", "-c", "1"): "--dangerously-accept-all is for a daemon of this machine",
        ("run", "--file", folder, "-c", "1"): "is a folder, which does not travel",
        ("run", "--no-daemon", "-c", "1"): "--no-daemon runs in this process",
        ("history", "list", "--no-daemon"): "--no-daemon runs in this process",
    }.items():
        assert words in remote.refused(*arguments), arguments
    ended = remote.away.call("run", "--stdin", remote.away.file("no.txt", b"\xff"), "-c", "1")
    assert ended.returncode == 125 and "standard input is text over HTTP" in ended.stderr


def test_the_address_and_the_token(remote):
    for url, words in {
        "ftp://127.0.0.1": "is not one of http://HOST:PORT, https://HOST:PORT and unix:/PATH",
        "127.0.0.1:7117": "is not one of",
        "http://me:secret@127.0.0.1": "is not one of",
        "http://127.0.0.1:1/?a=1": "is not one of",
        "unix:relative": "needs an absolute path",
        "unix:/no/such": "no daemon answers at unix:/no/such",
        "http://192.0.2.1": "would show ADDER_TOKEN to the network on the way: use https",
        "http://127.0.0.1:1": "no daemon answers at http://127.0.0.1:1: ",
    }.items():
        for said in (remote.refused("run", "-c", "1", ADDER_URL=url), remote.refused("session", "list", ADDER_URL=url)):
            assert words in said and "secret@" not in said.replace(url, ""), (url, said)
    assert "wants a token: set ADDER_TOKEN" in remote.refused("run", "-c", "1", ADDER_TOKEN="")
    assert "ADDER_TOKEN is not a token" in remote.refused("run", "-c", "1", ADDER_TOKEN="a\r\nX: b")
    assert "token" in remote.refused("run", "-c", "1", ADDER_TOKEN="adder_wrong")
    chosen = remote.away.call("--url", remote.away.variables["ADDER_URL"], "run", "-c", "print(1)", env={**remote.away.process_environment(), "ADDER_URL": ""})
    assert chosen.stdout == "1\n", chosen
    behind = remote.refused("run", "-c", "1", ADDER_URL=remote.away.variables["ADDER_URL"] + "/prefix")
    assert "no such" in behind or "not" in behind


# ---- what is no daemon of ours ----


class Stranger:
    """A server that answers each request by METHOD, or below a PATH, with (status, type, bytes), or not at all (None)."""

    def __init__(self):
        stranger, self.asked, self.answers = self, [], {}
        self.release = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                stranger.asked.append((self.command, self.path))
                below = [answer for (method, path), answer in stranger.answers.items() if method == self.command and path and self.path.startswith(path)]
                status, kind, body, holds = (below or [stranger.answers[self.command, None]])[0]
                if status is None:
                    stranger.release.wait()
                    return
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.end_headers()
                    self.wfile.write(body)
                    self.wfile.flush()
                    if holds:
                        stranger.release.wait()

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def says(self, method, status, body=b"", kind="application/json", holds=False, path=None):
        self.answers[method, path] = (status, kind, body, holds)

    def events(self, *events, holds=False):
        text = "".join(f"event: {name}\ndata: {data if isinstance(data, str) else json.dumps(data)}\n\n" for name, data in events)
        self.says("POST", 200, text.encode(), "text/event-stream", holds)

    def close(self):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def stranger():
    stranger = Stranger()
    yield stranger
    stranger.close()


@pytest.fixture
def asking(make_adder, stranger):
    adder = make_adder()
    adder.variables = {"ADDER_URL": stranger.url, "ADDER_TOKEN": "x", "http_proxy": "http://127.0.0.1:9", "all_proxy": "http://127.0.0.1:9"}
    return adder


STARTED = ("started", {"run_id": "01a2009a-0000-7000-8000-000000000000"})


@pytest.mark.parametrize("members, status", [
    ({"exit_code": -1}, 0), ({"exit_code": 256}, 0), ({"outcome": "failed", "exit_code": 0}, 125), ({"outcome": "error", "exit_code": 0}, 1),
    ({"outcome": "new", "exit_code": 3}, 3), ({"outcome": "timeout", "exit_code": 300}, 124),
])  # fmt: skip
def test_an_exit_code_that_is_none_is_the_outcomes(remote, asking, stranger, members, status):
    real = remote.away.run("print(1)").fields
    stranger.events(STARTED, ("result", {**real, **members}))
    for options in ((), ("--json",)):
        ended = asking.call("run", *options, "-c", "1")
        assert ended.returncode == status, ended


@pytest.mark.parametrize("wrong", ["bytes", "sha256"])
def test_a_file_that_is_cut_is_not_saved(remote, asking, stranger, wrong):
    real = remote.away.run("open('kept', 'w').write('x' * 400)").fields
    (file,) = real["files"]
    stranger.events(STARTED, ("result", real))
    stranger.says("GET", 200, b"x" * (400 if wrong == "sha256" else 2), "text/plain")
    if wrong == "sha256":
        file["sha256"] = "0" * 64
        stranger.events(STARTED, ("result", real))
    out = asking.folder("out")
    ended = asking.call("run", "--out", out, "-c", "1")
    assert ended.returncode == 125 and "is not that file" in ended.stderr and not list(out.iterdir()), ended


@pytest.mark.parametrize("name", ["started", "stdout", "stderr", "display", "progress", "result", "replay", "end"])
@pytest.mark.parametrize("data", ["{}", "[]", "null", "5", '"text"', '{"text": 5}', '{"data": [1]}', '{"outcome": 5}', "{", '{"run_id": {}, "files": [null], "exit_code": -1}'])
def test_an_event_that_is_none_ends_nothing(asking, stranger, name, data):
    stranger.events(STARTED, (name, data))
    for command in (("run", "-c", "1"), ("run", "--json", "-c", "1"), ("session", "replay", "s")):
        ended = asking.call(*command)
        assert ended.returncode == 125, (command, ended)


@pytest.mark.parametrize("json_option", [(), ("--json",)])
def test_a_replay_without_a_session_is_none(asking, stranger, json_option):
    session = {"session_id": "x", "name": None}
    plan = ("replay", {"session": session, "cells": [], "left_out": []})
    for events in ([("replay", {"session": None, "cells": [], "left_out": []})], [plan, ("end", {"session": None, "cells": [], "left_out": []})]):
        stranger.events(*events)
        ended = asking.call("session", "replay", "s", *json_option)
        assert ended.returncode == 125 and ended.stdout == "", ended


def test_what_is_not_shown_is_not_gathered(asking, stranger):
    """A server writes faster than anybody reads: the command line waits, and keeps no more than some of it."""
    text = json.dumps({"text": "x" * 1_000_000})
    stranger.events(STARTED, *[("stdout", text)] * 400)
    with asking.popen("run", "-c", "1") as process:
        os.read(process.stdout.fileno(), 1)
        seen = [0]

        def rests():
            with open(f"/proc/{process.pid}/status") as status:
                seen.append(next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")))
            return seen[-1] == seen[-2] and seen[-1] > 64_000

        wait_until(rests, "it to wait for who reads")
        process.kill()
        process.communicate()
    assert max(seen) < 300_000, seen


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"null", b'{"sessions": [{}]}', b'{"sessions": 5}', b"<html>", b'{"session_id": 5}'])
@pytest.mark.parametrize("status", [200, 201, 204, 302, 401, 500])
def test_an_answer_that_is_none_is_refused(asking, stranger, status, body):
    for method in ("GET", "POST", "DELETE"):
        stranger.says(method, status, b"" if status == 204 else body)
    put = asking.file("put", "x")
    for command in (
        ("session", "new"), ("session", "list"), ("session", "checkpoint", "s"), ("session", "branch", "s"), ("file", "put", put), ("file", "list"),
        ("approval", "list"), ("approval", "show", "x"), ("history", "stats"), ("tool", "call", "x", "{}"), ("run", "-c", "1"),
    ):  # fmt: skip
        ended = asking.call(*command)
        assert ended.returncode == 125 and "(null)" not in ended.stdout + ended.stderr, (command, ended)


EVIL = "\x1b]0;owned\x07\nadder: all is well\u202e"
LISTS = {
    ("profile", "list"): {"profiles": [{"name": EVIL, "role": EVIL, "title": EVIL}], "broken": [{"name": EVIL, "problem": EVIL}]},
    ("profile", "list", "--names"): {"profiles": [{"name": EVIL, "role": EVIL, "title": EVIL}], "broken": []},
    ("env", "list"): {"environments": [{"name": EVIL, "version": EVIL, "python": EVIL, "directory": None, "modules": [], "base": EVIL, "packages": [EVIL]}]},
    ("serve", "status",): {"daemon": True, "version": EVIL, "engine": {EVIL: {EVIL: EVIL}}},
    ("tool", "list",): {"toolset": EVIL, "toolsets": [EVIL], "tools": [{"name": EVIL, "title": EVIL, "_meta": {"adder/role": EVIL}}]},
}


@pytest.mark.parametrize("arguments", LISTS, ids=" ".join)
def test_what_another_machine_wrote_drives_no_terminal(asking, stranger, arguments):
    stranger.says("GET", 200, json.dumps(LISTS[arguments]).encode())
    ended = asking.call(*arguments)
    said = ended.stdout + ended.stderr
    assert ended.returncode in (0, 125) and "owned" in said and not set("\x1b\x07\u202e") & set(said), ended
    assert not any(line.startswith("adder: all is well") for line in said.splitlines()), ended


def evil(schema):
    """An answer that fits SCHEMA, with texts that would drive a terminal."""
    if "anyOf" in schema:
        return evil(schema["anyOf"][0])
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        made = {name: evil(each) for name, each in schema.get("properties", {}).items()}
        more = schema.get("additionalProperties")
        return {**made, EVIL: evil(more) if isinstance(more, dict) else EVIL} if made or more else {}
    if kind == "array":
        return [evil(schema.get("items", {}))]
    return {"string": EVIL, "integer": 1, "number": 1.5, "boolean": True, "null": None}[kind]


ID = "01a20000-0000-7000-8000-000000000000"
# Each command that shows an answer, and the operations that it asks for. `history peek` writes what code wrote, as it is.
SHOWN = {
    "session list": "listSessions", "session show s": "showSession", "session vars s": "listVariables",
    "session history s": "showHistory", "session checkpoint s": "makeCheckpoint", "session branch s": "branchSession",
    "history list": "listRecords", f"history show {ID}": "showRecord", "history stats": "countRecords", "history verify": "verifyRecords",
    "file list": "listFiles", f"file show {ID}": "showFile", "approval list": "listApprovals listReviews",
    f"approval show {ID}": "showApproval", "approval show OF-CHANGES": "showReview",
    "doctor store": "showStore", "doctor store --check": "checkStore", "token list": "listTokens", "token list --names": "listTokens",
    "token show t": "showToken", "model list": "listModels", "model show m": "showModel", "profile show standard": "showProfile",
}  # fmt: skip


def spelled_out(value, schemas):
    """VALUE with each schema in the place of the references to it."""
    if isinstance(value, list):
        return [spelled_out(each, schemas) for each in value]
    if not isinstance(value, dict):
        return value
    kind, _, name = value.get("$ref", "").rpartition("/")
    if kind.endswith("/schemas"):
        return spelled_out(schemas[name], schemas)
    return {key: spelled_out(each, schemas) for key, each in value.items()}


@pytest.fixture(scope="module")
def described(remote):
    document = remote.bed.get("/openapi.json").json()
    document = spelled_out(document, document["components"]["schemas"])
    return {each["operationId"]: (method, each, path) for path, item in document["paths"].items() for method, each in item.items()}


@pytest.mark.parametrize("command", SHOWN)
def test_no_answer_drives_a_terminal(asking, stranger, described, command):
    stranger.says("GET", 404, b'{"status": 404, "title": "Not Found", "code": "not_found", "detail": "no"}', "application/problem+json")
    for name in SHOWN[command].split():
        method, operation, path = described[name]
        status, answer = next((int(code), each) for code, each in operation["responses"].items() if code.startswith("2"))
        body = json.dumps(evil(answer["content"]["application/json"]["schema"])).encode()
        stranger.says(method.upper(), status, body, path=path.partition("{")[0])
    ended = asking.call(*command.split())
    said = ended.stdout + ended.stderr
    assert "answered differently" not in said and not set("\x1b\x07\u202e") & set(said), ended
    if command != "session vars s":  # the lines of a value stay lines
        assert not any(line.startswith("adder: all is well") for line in said.splitlines()), ended


def test_no_error_drives_a_terminal(asking, stranger, described):
    stranger.events(("reply", {"reply": {"error": EVIL}, "is_error": True, "exit_code": 1}))
    listed = asking.call("data", "list")
    result = evil(described["run"][1]["responses"]["200"]["content"]["application/json"]["schema"])
    stranger.events(("started", {"run_id": ID}), ("result", {**result, "run_id": ID, "outcome": "refused", "exit_code": 126}))
    for ended in (listed, asking.call("run", "--check", "--profile", "compute", "-c", "1")):
        said = ended.stdout + ended.stderr
        assert ended.returncode != 0 and "owned" in said and not set("\x1b\x07\u202e") & set(said), ended


@pytest.mark.parametrize("toolsets", ["[null]", "[{}]", "[1]", "5", "null"])
def test_toolsets_that_are_none(asking, stranger, toolsets):
    stranger.says("GET", 200, f'{{"toolset": "a", "tools": [], "toolsets": {toolsets}}}'.encode())
    ended = asking.call("tool", "list")
    assert ended.returncode == 125 and "answered differently" in ended.stderr, ended


def test_the_token_goes_to_no_proxy(asking, stranger):
    stranger.says("GET", 200, b'{"sessions": []}')
    assert asking.call("session", "list").returncode == 0 and stranger.asked == [("GET", "/v1/sessions")]


@pytest.mark.parametrize("options", [(), ("--session", "s")], ids=["run", "cell"])
def test_ctrl_c_ends_it_where_nobody_answers(asking, stranger, options):
    stranger.events(STARTED, ("stdout", {"text": "begun\n"}), holds=True)
    stranger.says("DELETE", None)
    with asking.popen("run", *options, "-c", "1") as process:
        assert process.stdout.readline() == b"begun\n"
        for _ in range(3):
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=asking.deadline)
    assert process.returncode == 130


def test_ctrl_c_before_it_began(asking, stranger):
    stranger.events(holds=True)
    with asking.popen("run", "-c", "1") as process:
        wait_until(lambda: stranger.asked, "the request")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=asking.deadline)
    assert process.returncode == 130
