# SPDX-License-Identifier: Apache-2.0
"""Sockets that a service manager opened: systemd's own program listens, and becomes `adder serve` when somebody connects."""
import contextlib
import http.client
import os
import pathlib
import re
import shutil
import socket
import stat

import pytest

import harness
import ports
from harness import wait_until

ACTIVATE = shutil.which("systemd-socket-activate")
pytestmark = pytest.mark.skipif(not ACTIVATE, reason="no systemd-socket-activate (package systemd)")


@contextlib.contextmanager
def listening(adder, *addresses, names=""):
    """systemd's program listens at ADDRESSES, as adder.socket would make it. What it becomes must end well."""
    variables = [f"--setenv={name}={value}" for name, value in adder.process_environment().items()]
    options = [word for address in addresses for word in ("-l", str(address))]
    adder.wrapper = [ACTIVATE, *options, *variables, *([f"--fdname={names}"] if names else [])]
    process = adder.popen("serve")
    adder.wrapper = []
    told = iter(process.stderr.readline, b"")
    for address in addresses:
        assert f"Listening on {address}" in next(told).decode()
    yield process
    process.communicate(timeout=60)
    assert process.returncode == 0


def inode_of(path):
    lines = pathlib.Path("/proc/net/unix").read_text(errors="replace").splitlines()
    return {line.split()[6] for line in lines if line.endswith(f" {path}")}


@pytest.mark.quick
@pytest.mark.both_users
def test_the_first_command_starts_it_and_the_socket_stays(own_adder):
    with listening(own_adder, own_adder.socket):
        file, inodes = os.stat(own_adder.socket), inode_of(own_adder.socket)
        code = "import os; print(6 * 7, [name for name in os.environ if name.startswith('LISTEN_')])"
        assert own_adder.run(code).stdout == "42 []\n"
        assert own_adder.status()["idle_exit_ms"] == 0
        # Only the daemon has it.
        below = [process.pid for process in harness.descendants(own_adder.daemon())]
        assert below
        for pid in below:
            assert not inodes & {link[len("socket:[") : -1] for link in harness.opened(pid) if link.startswith("socket:[")}
        assert own_adder.call("serve", "stop").returncode == 0
    left = os.stat(own_adder.socket)
    assert stat.S_ISSOCK(left.st_mode) and left.st_ino == file.st_ino, "systemd listens there, and makes the next one of it"
    assert not own_adder.socket.with_name("adder.http.sock").exists(), "that was the daemon's own"
    own_adder.socket.unlink()


def test_a_second_daemon_is_refused_while_one_serves(own_adder):
    with listening(own_adder, own_adder.socket):
        assert own_adder.run("1").outcome == "ok"
        refused = own_adder.call("serve")
        assert refused.returncode != 0 and "serves" in refused.stderr and "already" in refused.stderr
        assert own_adder.call("serve", "stop").returncode == 0
    own_adder.socket.unlink()


def test_a_socket_that_was_removed_is_made_again_and_is_the_daemons_then(own_adder):
    with listening(own_adder, own_adder.socket):
        assert own_adder.run("1").outcome == "ok"
        pid = own_adder.daemon()
        own_adder.socket.unlink()
        wait_until(lambda: own_adder.daemon() == pid, "the socket to be there again")
        assert own_adder.call("serve", "stop").returncode == 0
    assert not own_adder.socket.exists()


@pytest.mark.both_users
def test_http_is_answered_there_whatever_is_configured(own_adder):
    reserved = ports.reserve()
    port = ports.number_of(reserved)
    token = own_adder.call("token", "new", "me").stdout.strip()

    def ask(secret=token):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/v1/runs", headers={"Authorization": f"Bearer {secret}"})
        return connection.getresponse().status

    with listening(own_adder, f"127.0.0.1:{port}", names="http"):
        assert (ask(), ask("adder_wrong")) == (200, 401)
        there = f"http://127.0.0.1:{port}"
        assert there in own_adder.status()["http"]
        # It is systemd's to close.
        assert own_adder.call("serve", "--http=off").returncode == 0 and ask() == 200
        own_adder.configure(f"[http]\nlisten = 127.0.0.1:{port} 127.0.0.1:0\n")
        assert own_adder.call("serve", "reload").returncode == 0 and ask() == 200
        listens = own_adder.status()["http"]
        assert listens.count(there) == 1 and len(listens) == 3
        own_adder.configure("")
        assert own_adder.call("serve", "reload").returncode == 0 and ask() == 200
        assert own_adder.call("serve", "stop").returncode == 0
    reserved.close()


def test_http_at_a_unix_socket_of_any_name(own_adder):
    path = own_adder.scratch / "web.sock"
    with listening(own_adder, own_adder.socket, path, names="adder:http"):
        shown = own_adder.call("--url", f"unix:{path}", "serve", "status", "--json")
        assert shown.returncode == 0 and f"unix:{path}" in harness.strict_json(shown.stdout)["http"]
        assert own_adder.call("serve", "stop").returncode == 0
    assert path.exists()
    own_adder.socket.unlink()


def test_a_socket_where_no_command_would_look_is_refused(own_adder):
    other = own_adder.scratch / "other.sock"
    own_adder.wrapper = [ACTIVATE, "-l", str(other), *(f"--setenv={n}={v}" for n, v in own_adder.process_environment().items())]
    process = own_adder.popen("serve")
    own_adder.wrapper = []
    assert f"Listening on {other}" in process.stderr.readline().decode(), "its file is there before it listens"
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(other))
        _, told = process.communicate(timeout=60)
    assert process.returncode == 125
    assert re.search(rf"listens at unix:{other}, and the daemon's socket is {own_adder.socket}", told.decode())


def test_variables_for_another_process_are_ignored(own_adder):
    own_adder.variables = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
    server = own_adder.popen("serve")
    wait_until(lambda: own_adder.daemon() == server.pid, "the daemon to answer")
    assert own_adder.run("import os; print('LISTEN_FDS' in os.environ)").stdout == "False\n"
    own_adder.stop()
    server.communicate(timeout=60)
    assert server.returncode == 0
