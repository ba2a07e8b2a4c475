# SPDX-License-Identifier: Apache-2.0
"""The HTTP server itself: where it listens, how it begins and ends, how many it bears, and what it says that no handler
says."""
import array
import concurrent.futures
import fcntl
import http.client
import json
import os
import re
import resource
import signal
import socket
import ssl
import stat
import subprocess
import termios

import harness
import http_bed
import pytest
from harness import wait_until

STREAMS = 1000
CLIENTS = 200


@pytest.fixture(scope="module")
def served(installation, user, common_directory):

    directory = harness.new_directory(common_directory, "http-" + user.name)
    os.chmod(directory, 0o755)
    lines = "[environment]\ndefault = system\n[http]\nconcurrent = 4000\nmax_connections = 1500\n"
    bed = http_bed.Served(harness.Adder(installation, user, directory, lines + "max_connections_per_client = 1200\n"))
    yield bed
    bed.stop()


def problem(reply, status, words=""):
    assert reply.status == status, reply
    assert reply.headers["Content-Type"] == "application/problem+json", reply
    told = reply.json()
    assert set(told) == {"type", "title", "status", "detail", "instance", "code"}, told
    assert told["status"] == status and words in told["detail"], told
    return told


# ---- what is asked of any server ----


@pytest.mark.quick
def test_advice_for_a_terminal_stays_there(served):
    """Commands that help are told to people who are at one, and nobody else."""
    sessions = {"environment": "nowhere"}
    for reply, status, words, command, advice in (
        (served.post("/v1/tools/nothing.at_all", {"arguments": {}}), 404, "there is no tool", ["tool", "call", "nothing.at_all"], "adder tool list lists"),
        (served.post("/v1/sessions", sessions), 404, 'there is no environment "nowhere"', ["session", "new", "--env", "nowhere"], "adder env new nowhere"),
    ):  # fmt: skip
        told = problem(reply, status, words)["detail"]
        assert "adder " not in told, told
        ended = served.adder.call(*command)
        said = ended.stdout + ended.stderr
        assert ended.returncode != 0 and words in said and advice in said, ended


@pytest.mark.quick
def test_what_it_says_of_itself(served):
    assert served.get("/healthz", secret="").json() == {"status": "ok"}
    wait_until(lambda: served.get("/readyz", secret="").status == 200, "the first sandbox")
    assert "adder_" in served.get("/metrics").body.decode()
    status = json.loads(served.adder.call("serve", "status", "--json").stdout)
    assert status["http"][1:] == [f"http://127.0.0.1:{served.port}"]


@pytest.mark.quick
def test_methods(served):
    with served.connection() as connection:
        reply = served.ask("OPTIONS", "/healthz", connection=connection)
        assert (reply.status, reply.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")
        reply = served.ask("DELETE", "/healthz", connection=connection)
        problem(reply, 405)
        assert reply.headers["Allow"] == "GET, HEAD, OPTIONS"
        whole, head = (served.ask(method, "/healthz", connection=connection) for method in ("GET", "HEAD"))
        assert head.body == b"" and head.headers["Content-Length"] == str(len(whole.body))
        problem(served.get("/nothing", connection=connection), 404, "/nothing")
        problem(served.get("/healthz", connection=connection, Accept="text/html"), 406)
        # All of it on one connection: nothing above ends one.
        assert served.get("/healthz", connection=connection).status == 200


@pytest.mark.quick
def test_all_that_is_wrong_is_told_at_once(served):
    told = problem(served.get("/healthz?first=1&second=2"), 400)
    assert "first" in told["detail"] and "second" in told["detail"]
    told = problem(served.ask("GET", "/healthz?third=1", {"fourth": 1}), 400)
    assert "third" in told["detail"] and "fourth" in told["detail"]
    for query in ("?a=%zz", "?a=%00", "?a=%ff", "?" + "&".join(f"a{i}=1" for i in range(70))):
        problem(served.get("/healthz" + query), 400)


def test_bodies(served):
    problem(served.ask("GET", "/healthz", b"{}", Content_Type="text/plain"), 415)
    deep = b"[" * 5000
    problem(served.ask("GET", "/healthz", b'{"a": ' + deep, Content_Type="application/json"), 400, "levels")
    problem(served.ask("GET", "/healthz", b"{} {}", Content_Type="application/json"), 400, "JSON")
    problem(served.ask("GET", "/healthz", b'{"a": 1, "a": 2}', Content_Type="application/json"), 400)
    problem(served.ask("GET", "/healthz", b" " * 10000 + b"{}", Content_Type="application/json"), 413)
    # 16 MiB of this would be more than a GiB.
    many = b'{"code": "1", "values": {"a": [' + b",".join([b"[]"] * 1500000) + b"]}}"
    problem(served.ask("POST", "/v1/runs", many, Content_Type="application/json"), 413, "too many values")
    with served.connect() as connection:
        connection.sendall(
            served.head("GET", "/healthz", "Expect: 100-continue", "Content-Type: application/json", "Content-Length: 2")
        )
        assert http_bed.read_until(connection, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert http_bed.read_until(connection, b"}").startswith(b"HTTP/1.1 200 ")


def test_what_the_library_would_say_is_a_problem_document(served):
    for sent, status in (
        (b"GET /healthz\r\n\r\n", 400),
        (b"GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (served.head("GET", "http://other.example/healthz"), 400),
        (served.head("GET", "/" + "a" * 100000), 414),
        (served.head("GET", "/healthz", "X-Long: " + "a" * 100000), 431),
        (served.head("GET", "/healthz", "Content-Length: -1"), 400),
        (served.head("GET", "/healthz", "Content-Type: application/json", "Transfer-Encoding: chunked") + b"zz\r\n", 400),
    ):
        ((seen, headers, body),) = http_bed.replies(served.exchange(sent, more=True))
        assert seen == status and ("Content-Type", "application/problem+json") in headers, (sent[:60], seen, headers)
        assert json.loads(body)["status"] == status


def test_two_hundred_clients_get_every_answer(served):
    def client(number):
        with served.connection() as connection:
            seen = []
            for turn in range(3):
                reply = served.ask("GET", f"/nothing/{number}-{turn}", connection=connection)
                seen.append(f"/nothing/{number}-{turn}" in reply.json()["detail"])
                reply = served.post("/v1/tools/run_python", {"arguments": {"code": ""}, "nothing": 1}, connection=connection)
                seen.append(reply.status in (400, 404))
            return all(seen)

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        assert all(pool.map(client, range(CLIENTS)))


# ---- streams ----


def listen(served):
    """A stream of MCP that has nothing to say."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, "notifications": {"toolsListChanged": True}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).encode()
    connection = served.connect()
    connection.sendall(
        served.head(
            "POST",
            "/mcp",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: subscriptions/listen",
            f"Content-Length: {len(body)}",
            secret=None,
        )
        + body
    )
    return connection


def own_bytes(pid):
    """Memory that is the process's own, by the kernel."""
    rollup = open(f"/proc/{pid}/smaps_rollup").read()
    return int(re.search(r"Anonymous:\s+(\d+)", rollup)[1]) * 1024


def test_a_thousand_idle_streams(served):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 16 * STREAMS:
        pytest.skip(f"the host lets a process have {hard} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4 * STREAMS), hard))
    pid = served.adder.daemon()
    before, descriptors = own_bytes(pid), len(os.listdir(f"/proc/{pid}/fd"))
    streams = []
    try:
        for _ in range(STREAMS):
            streams.append(listen(served))
        for stream in streams:
            seen = http_bed.read_until(stream, b"acknowledged")
            assert b"text/event-stream" in seen and b"X-Accel-Buffering: no" in seen
        taken = own_bytes(pid) - before
        assert taken < 100 * 1000 * 1000, taken
        assert served.get("/healthz").status == 200
    finally:
        for stream in streams:
            stream.close()
    # Each has a descriptor of its own: those of all are gone, and quickly. What is asserted is that they go.
    wait_until(lambda: len(os.listdir(f"/proc/{pid}/fd")) <= descriptors + 20, "the streams to be noticed as closed")


def test_signs_of_life(make_adder):
    bed = http_bed.Served(make_adder("[http]\nalive_ms = 50ms\n"))
    try:
        with listen(bed) as stream:
            http_bed.read_until(stream, b"acknowledged")
            assert b":\n\n" in http_bed.read_until(stream, b"\n\n\r\n")
    finally:
        bed.stop()


# ---- how many ----


def test_more_connections_than_are_taken(make_adder):
    bed = http_bed.Served(make_adder("[http]\nmax_connections_per_client = 16\n"))
    try:
        held = [bed.connect() for _ in range(16)]
        for connection in held:
            connection.sendall(bed.head())
            http_bed.read_until(connection, b"}")
        ((status, headers, body),) = http_bed.replies(bed.exchange(b"", more=True))
        assert status == 503 and dict(headers)["Retry-After"] and b"of this client" in body
        held.pop().close()
        wait_until(lambda: b"HTTP/1.1 200" in bed.exchange(bed.head()), "a place")
        for connection in held:
            connection.close()
    finally:
        bed.stop()


# ---- beginning and end ----


def fails_to_start(adder, lines, words, listen="127.0.0.1:0"):
    adder.configure("[environment]\ndefault = system\n" + lines)
    ended = adder.call("serve", f"--http={listen}")
    assert ended.returncode != 0 and words in ended.stderr, ended


@pytest.mark.quick
@pytest.mark.both_users
def test_what_cannot_be_is_said_at_the_start(make_adder, tmp_path):
    adder = make_adder()
    fails_to_start(adder, "", "no address", "nonsense:x")
    fails_to_start(adder, "", "must be a number", "example.invalid:80")
    fails_to_start(adder, "", "adder token new", "0.0.0.0:0")
    fails_to_start(adder, "", "needs [http] certificate", "https://127.0.0.1:0")
    fails_to_start(adder, "[http]\ncertificate = /nowhere\n", "together")
    fails_to_start(adder, "[http]\ncertificate = /nowhere\nkey = /nowhere\n", "/nowhere")
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    (certificate, _key), (_certificate, key) = http_bed.make_certificate(one), http_bed.make_certificate(two)
    for file in (certificate, key):
        os.chmod(file, 0o644)
    for folder in (tmp_path, one, two):
        os.chmod(folder, 0o755)
    if adder.user.name == "root":
        fails_to_start(adder, f"[http]\ncertificate = {certificate}\nkey = {key}\n", "cannot be used")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        fails_to_start(adder, "", "in use", f"127.0.0.1:{taken.getsockname()[1]}")


def test_a_certificate_that_does_not_fit_is_invalid(make_adder):
    """The module that speaks TLS says so: its errors are those of the program that loaded it."""
    adder = make_adder("[environment]\ndefault = system\n")
    bed = http_bed.Served(adder)
    for name in ("one", "two"):
        (adder.scratch / name).mkdir()
        for file in http_bed.make_certificate(adder.scratch / name):
            os.chmod(file, 0o644)
            adder.own(file)
        os.chmod(adder.scratch / name, 0o755)
    certificate, key = (adder.scratch / "one" / "certificate.pem", adder.scratch / "two" / "key.pem")
    before = (adder.config / "adder.conf").read_text()
    adder.configure(before + f"[http]\nlisten = https://127.0.0.1:0\ncertificate = {certificate}\nkey = {key}\n")
    assert problem(bed.post("/v1/daemon/reload", {}), 400, "do not match")["code"] == "invalid"
    adder.configure(before)
    bed.stop()


def test_tls(make_adder, common_directory):
    folder = common_directory / "tls"
    folder.mkdir(exist_ok=True)
    adder = make_adder()
    certificate, key = http_bed.make_certificate(folder)
    own = adder.scratch / "key.pem"
    own.write_bytes(key.read_bytes())
    chain = adder.scratch / "certificate.pem"
    chain.write_bytes(certificate.read_bytes())
    for file in (own, chain):
        os.chmod(file, 0o644)
    bed = http_bed.Served(adder, f"[http]\ncertificate = {chain}\nkey = {own}\n")
    try:
        context = ssl.create_default_context(cafile=certificate)
        connection = http.client.HTTPSConnection("localhost", bed.port, context=context, timeout=harness.DEADLINE)
        for _ in range(2):
            connection.request("GET", "/metrics", headers=bed.headers())
            with connection.getresponse() as reply:
                assert reply.status == 200 and b"adder_" in reply.read()
        # Also what the library would say itself.
        with context.wrap_socket(bed.connect(), server_hostname="localhost") as stream:
            assert stream.version() == "TLSv1.3"
            stream.sendall(b"GET /healthz HTTP/2.0\r\nHost: localhost\r\n\r\n")
            assert b"application/problem+json" in stream.recv(4096)
        connection.close()
        # Plain HTTP to this port hears of it.
        assert b"uses HTTPS" in bed.exchange(bed.head(), more=True)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with context.wrap_socket(bed.connect(), server_hostname="localhost") as stream:
            assert stream.version() == "TLSv1.2"
        old = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{bed.port}", "-tls1_1", "-cipher", "ALL@SECLEVEL=0"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        assert b"Cipher is (NONE)" in old.stdout or old.returncode != 0
    finally:
        bed.stop()


def test_a_unix_socket(make_adder):
    adder = make_adder()
    path = adder.scratch / "http.sock"
    bed = http_bed.Served(adder, listen=f"unix:{path}", token=False)
    command = ["curl", "-sS", "--unix-socket", str(path), "http://localhost/healthz"]
    try:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert json.loads(subprocess.check_output(command)) == {"status": "ok"}
        # What a killed daemon leaves is replaced.
        bed.process.send_signal(signal.SIGKILL)
        bed.process.wait()
        assert path.exists()
        bed.process.stdout.close()
        bed.process.stderr.close()
        bed.log.clear()
        bed.start()
        assert json.loads(subprocess.check_output(command)) == {"status": "ok"}
        other = make_adder().call("serve", f"--http=unix:{path}")
        assert other.returncode != 0 and f"serves {path} already" in other.stderr
        assert json.loads(subprocess.check_output(command)) == {"status": "ok"}
    finally:
        bed.stop()
    assert not path.exists()


def test_the_end_closes_what_is_idle_and_answers_what_is_not(make_adder):
    bed = http_bed.Served(make_adder())
    try:
        idle = bed.connect()
        idle.sendall(bed.head())
        http_bed.read_until(idle, b"}")
        running = bed.connect()
        body = b'{"code": "import time; time.sleep(600)"}'
        lines = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        running.sendall(bed.head("POST", "/v1/runs", *lines, secret=None) + body)
        wait_until(
            lambda: json.loads(bed.adder.call("serve", "status", "--json").stdout)["engine"]["running"] > 0, "the run"
        )
        bed.process.send_signal(signal.SIGTERM)
        ((status, _headers, said),) = http_bed.replies(http_bed.read_all(running))
        assert status == 200 and json.loads(said)["outcome"] == "cancelled", said
        assert idle.recv(1) == b""
        assert bed.process.wait(timeout=harness.DEADLINE) == 0
        for connection in (idle, running):
            connection.close()
    finally:
        bed.stop()


def test_both_doors_close_before_anybody_is_waited_for(make_adder):
    """A client of the local socket who does not take what is sent to them is waited for; those of HTTP are not kept by
    them, and nobody comes in meanwhile."""
    bed = http_bed.Served(make_adder())
    slow = bed.adder.popen("run", "-c", "while True:\n    print('x' * 8192, flush=True)")

    def is_full():
        held = array.array("i", [0])
        fcntl.ioctl(slow.stdout, termios.FIONREAD, held)
        return held[0] >= 32768

    try:
        idle = bed.connect()
        idle.sendall(bed.head())
        http_bed.read_until(idle, b"}")
        wait_until(is_full, "the client to wait for us")
        bed.process.send_signal(signal.SIGTERM)
        assert idle.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            bed.connect()
        assert slow.poll() is None
        # They had not been given up.
        _, problem = slow.communicate()
        assert b"the run was cancelled" in problem, problem
        assert bed.process.wait(timeout=harness.DEADLINE) == 0
        idle.close()
    finally:
        slow.kill()
        bed.stop()


def test_a_connection_keeps_a_daemon_from_ending_for_idleness(make_adder):
    adder = make_adder("[http]\nlisten = 127.0.0.1:0\n")
    bed = http_bed.Served(adder, start=False)
    bed.process = adder.popen("serve", "--idle-exit=6s")  # in which we connect
    bed.threads = []
    line = ""
    while "http: listens" not in line:
        line = bed.process.stderr.readline().decode()
        assert line, "it ended"
    bed.port = int(re.search(r":(\d+)\s*$", line)[1])
    with bed.connect() as connection:
        connection.sendall(bed.head())
        http_bed.read_until(connection, b"}")
        with pytest.raises(subprocess.TimeoutExpired):
            bed.process.wait(timeout=7)
        connection.sendall(bed.head())
        http_bed.read_until(connection, b"}")
    assert bed.process.wait(timeout=harness.DEADLINE) == 0
    bed.process.stdout.close()
    bed.process.stderr.close()


def test_the_background_makes_no_token_and_waits_for_one(make_adder):
    adder = make_adder()
    path = adder.runtime / "http.sock"
    adder.configure((adder.config / "adder.conf").read_text() + f"[http]\nlisten = 127.0.0.1:0 unix:{path}\n")
    started = adder.call("serve", "--background", "--idle-exit=0")
    assert started.returncode == 0 and "adder_" not in started.stdout, started
    log = (adder.runtime / "adder.log").read_text()
    assert "http: listens on" in log and log.count("adder token new") == 1
    assert not re.search(r"adder_[A-Za-z0-9_-]{20}", log)
    bed = http_bed.Served(adder, token=False, start=False)
    bed.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", log)[1])
    for _ in range(2):
        reply = bed.get("/v1/runs", secret="")
        assert reply.status == 401 and "there is no token yet" in reply.json()["detail"], reply
    assert bed.get("/healthz", secret="").status == 200
    with socket.socket(socket.AF_UNIX) as local:
        local.connect(str(path))
        local.sendall(bed.head("GET", "/v1/runs", "Connection: close"))
        assert http_bed.replies(http_bed.read_all(local))[0][0] == 200
    secret = bed.token("first")
    assert bed.run("print(1)", secret)["outcome"] == "ok"
    reply = bed.get("/v1/runs", secret="")
    assert reply.status == 401 and "adder token new" not in reply.json()["detail"], reply
    assert (adder.runtime / "adder.log").read_text().count("adder token new") == 1
    adder.stop()
