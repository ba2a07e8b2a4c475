# SPDX-License-Identifier: Apache-2.0
"""Daemons and those who come and go beside them: other builds, supervisors, changed configurations, removed sockets."""
import http.client
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

import harness
import http_bed
import ports
from harness import FOREVER, wait_until
from terminal import read_to_end


def http_socket(adder):
    return adder.socket.with_name("adder.http.sock")


def ask(adder, method, path, body=None, connection=None):
    connection = connection or http_bed.UnixConnection(http_socket(adder))
    text = None if body is None else json.dumps(body)
    connection.request(method, path, text, {} if body is None else {"Content-Type": "application/json"})
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read())


def addresses(adder):
    return adder.status()["http"]


def tcp(adder):
    return [url for url in addresses(adder) if url.startswith("http:")]


def certificate(adder, name):
    """The lines of adder.conf for a certificate of NAME, which is made."""
    made = http_bed.make_certificate(adder.scratch, name)
    for file in made:
        adder.own(file)
    return "certificate = {}\nkey = {}\n".format(*made)


def newer(adder):
    """`adder` of another build, which counts as newer."""
    prefix = adder.directory / "newer"
    shutil.copytree(adder.installation.prefix, prefix, symlinks=True)
    later = time.time() + 60
    os.utime(prefix / "bin/adder", (later, later))

    def call(*arguments):
        return subprocess.run(
            [*adder.user.prefix, prefix / "bin/adder", *arguments],
            env=adder.process_environment(),
            cwd=adder.scratch,
            capture_output=True,
            text=True,
            timeout=100,
        )

    return call


def serve(adder, *options):
    """A daemon in the foreground that serves."""
    before = adder.daemon()
    server = adder.popen("serve", *options)
    wait_until(lambda: server.poll() is not None or adder.daemon() not in (None, before), "the daemon to answer")
    assert server.poll() is None, server.communicate()
    return server


def end(server):
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=60)
    assert server.returncode == 0


# ---- its own HTTP socket


@pytest.mark.quick
@pytest.mark.both_users
def test_every_daemon_answers_http_at_its_own_socket(own_adder):
    own_adder.run("1")
    assert (os.stat(http_socket(own_adder)).st_mode & 0o777) == 0o600
    assert addresses(own_adder) == [f"unix:{http_socket(own_adder)}"]
    status, reply = ask(own_adder, "POST", "/v1/runs", {"code": "print(6 * 7)", "environment": "system"})
    assert (status, reply.get("stdout")) == (200, "42\n"), reply
    # Who asks is known without a token: by the account.
    status, runs = ask(own_adder, "GET", "/v1/records")
    assert status == 200 and {record["owner"] for record in runs["records"]} == {f"uid:{os.geteuid()}"}
    own_adder.stop()
    assert not http_socket(own_adder).exists()


def test_a_broken_http_setting_keeps_nobody_from_running_code(own_adder):
    tokens = own_adder.state / "tokens.json"
    tokens.write_text("{")
    own_adder.own(tokens)
    assert own_adder.run("print(1)").stdout == "1\n"
    assert ask(own_adder, "GET", "/healthz")[0] == 200
    refused = own_adder.call("serve", "--http=127.0.0.1:0", "--background")
    assert refused.returncode != 0 and "tokens.json" in refused.stderr
    own_adder.stop()


def test_a_path_that_is_too_long_for_it(own_adder):
    path = own_adder.scratch / ("s" * (100 - len(str(own_adder.scratch))) + ".sock")
    server = own_adder.popen("serve", f"--socket={path}")
    wait_until(path.exists, "the socket")
    server.send_signal(signal.SIGTERM)
    _, told = server.communicate(timeout=60)
    assert server.returncode == 0 and b"HTTP is not answered" in told


# ---- on and off


def test_tcp_is_enabled_in_a_running_daemon_and_disabled(own_adder):
    own_adder.run("1")
    pid = own_adder.daemon()
    enabled = own_adder.call("serve", "--http=127.0.0.1:0", "--background")
    assert enabled.returncode == 0, enabled
    port, token = re.search(r"HTTP: http://127\.0\.0\.1:(\d+)\n.*\n(adder_\S+)\n", enabled.stdout).groups()

    def come(secret):
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
        connection.request("GET", "/v1/runs", headers={"Authorization": f"Bearer {secret}"})
        return connection, connection.getresponse()

    kept, reply = come(token)
    assert reply.status == 200 and reply.read()
    assert come("adder_wrong")[1].status == 401
    # It is wanted now, by its asker: no command replaces it, and it does not end by itself.
    status = own_adder.status()
    assert status["pid"] == pid and status["idle_exit_ms"] == 0
    again = own_adder.call("serve", f"--http=127.0.0.1:{port}", "--background")
    assert again.returncode == 0 and token in again.stdout and tcp(own_adder) == [f"http://127.0.0.1:{port}"]
    off = own_adder.call("serve", "--http=off")
    assert off.returncode == 0 and "127.0.0.1" not in off.stdout and token not in off.stdout
    assert tcp(own_adder) == [] and own_adder.daemon() == pid
    with pytest.raises(ConnectionRefusedError):
        come(token)
    # Who was there is hung up on.
    wait_until(lambda: own_adder.status()["http_connections"] == 0, "the connections to be closed")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError, BrokenPipeError)):
        kept.request("GET", "/v1/runs", headers={"Authorization": f"Bearer {token}"})
        kept.getresponse()
    assert ask(own_adder, "GET", "/healthz")[0] == 200
    own_adder.stop()


def test_an_address_that_is_taken_changes_nothing(own_adder):
    own_adder.run("1")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = own_adder.call("serve", f"--http=127.0.0.1:{taken.getsockname()[1]}", "--background")
        assert refused.returncode != 0 and "--http=127.0.0.1:PORT" in refused.stderr
        assert tcp(own_adder) == []
        own_adder.stop()
        # One that was started for it goes again.
        refused = own_adder.call("serve", f"--http=127.0.0.1:{taken.getsockname()[1]}", "--background")
        assert refused.returncode != 0 and own_adder.daemon() is None


# ---- who may end it


def test_a_daemon_that_somebody_started_is_never_replaced(own_adder):
    call = newer(own_adder)
    server = serve(own_adder, "--http=127.0.0.1:0")
    listens = tcp(own_adder)
    pid = own_adder.daemon()
    ran = call("run", "--env", "system", "-c", "print(1)")
    assert (ran.stdout, ran.stderr) == ("1\n", "")
    assert own_adder.daemon() == pid and tcp(own_adder) == listens
    end(server)
    assert own_adder.call("serve", "--background").returncode == 0
    pid = own_adder.daemon()
    assert call("run", "--env", "system", "-c", "print(1)").stdout == "1\n" and own_adder.daemon() == pid
    own_adder.stop()


def test_a_daemon_outlives_the_upgrade_of_its_program(own_adder):
    call = newer(own_adder)
    assert call("serve", "--background").returncode == 0
    program = own_adder.directory / "newer/bin/adder"
    before = call("serve", "status", "--json").stdout
    shutil.copy2(program, program.with_name("adder.new")).replace(program)
    listed = call("profile", "list").stdout
    ran = call("run", "--env", "system", "--profile", "standard", "-c", "print(1)")
    after = call("serve", "status", "--json").stdout
    assert call("serve", "stop").returncode == 0
    assert json.loads(after)["pid"] == json.loads(before)["pid"], "it is the same daemon"
    assert "standard" in listed and (ran.stdout, ran.stderr) == ("1\n", "")


def test_an_upgrade_is_told_to_those_who_have_sessions(own_adder):
    call = newer(own_adder)
    assert call("serve", "--background").returncode == 0
    assert own_adder.call("session", "new", "--env", "system", "--name", "kept").returncode == 0
    token = own_adder.call("token", "new", "anna").stdout.strip()
    after = ask(own_adder, "GET", "/v1/events")[1]["next"]
    assert not own_adder.status()["program_replaced"]
    program = own_adder.directory / "newer/bin/adder"
    # A file beside it is none of the daemon's business.
    own_adder.own(shutil.copy2(program, program.with_name("adder.new"))).rename(program.with_name("other"))
    assert not own_adder.status()["program_replaced"]
    # As dpkg does it.
    shutil.copy2(program, program.with_name("adder.new")).replace(program)
    waits = f"/v1/events?after={after}&wait_ms=60000&kinds=daemon"
    connection = http_bed.UnixConnection(http_socket(own_adder))
    connection.request("GET", waits, headers={"Authorization": f"Bearer {token}"})
    (event,) = json.loads(connection.getresponse().read())["events"]
    assert (event["kind"], event["change"], event["id"]) == ("daemon", "changed", "daemon")
    assert event["object"] == {"version": own_adder.status()["version"], "program_replaced": True}
    assert own_adder.status()["program_replaced"]
    assert "the program was replaced" in own_adder.call("serve", "status").stdout
    assert own_adder.call("run", "--session", "kept", "-c", "print(6 * 7)").stdout == "42\n"
    assert call("serve", "stop", "--force").returncode == 0



def test_versions_that_do_not_understand_each_other_say_both(own_adder):
    """A daemon that greets with another number, as one of another version does."""
    version = own_adder.call("--version").stdout.strip()
    for protocol, words in ((1, "restart it"), (1000, "newer command line")):
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(own_adder.socket))
            own_adder.own(own_adder.socket)
            listening.listen()
            run = own_adder.start("1")
            listening.settimeout(60)
            connection, _ = listening.accept()
            hello = json.dumps({"protocol": protocol, "version": "9.8.7", "pid": 1}).encode()
            connection.sendall((1).to_bytes(4, "little") + len(hello).to_bytes(4, "little") + hello)
            _, told = run.communicate(timeout=60)
            connection.close()
        own_adder.socket.unlink()
        assert run.returncode == 125
        for word in ("9.8.7", f"protocol {protocol})", version, words):
            assert word in told.decode(), told


# ---- a supervisor


def test_a_supervisor_takes_over_from_a_daemon_of_a_command(own_adder):
    """It has no terminal. What the daemon in between holds ends with it, and so the service is always back."""
    assert own_adder.call("session", "new", "--env", "system").returncode == 0
    old = harness.Process(own_adder.daemon())
    server = serve(own_adder)
    assert not old.alive() and own_adder.daemon() is not None
    end(server)


def test_the_background_takes_over_from_an_idle_daemon_of_a_command(own_adder):
    own_adder.run("1")
    old = harness.Process(own_adder.daemon())
    started = own_adder.call("serve", "--background", "--idle-exit=0")
    assert started.returncode == 0 and f"(process {old.pid}) was replaced" in started.stderr, started
    assert not old.alive() and own_adder.daemon() is not None
    # It is somebody's now, whatever comes.
    pid = own_adder.daemon()
    refused = own_adder.call("serve", "--background")
    assert refused.returncode != 0 and "adder serve stop" in refused.stderr and own_adder.daemon() == pid
    own_adder.stop()


def test_the_background_ends_no_session_by_the_way(own_adder):
    assert own_adder.call("session", "new", "--env", "system").returncode == 0
    pid = own_adder.daemon()
    refused = own_adder.call("serve", "--background")
    assert refused.returncode != 0 and "adder serve stop --force" in refused.stderr and own_adder.daemon() == pid
    own_adder.stop()


def test_a_person_does_not_end_sessions_by_the_way(own_adder):
    assert own_adder.call("session", "new", "--env", "system").returncode == 0
    pid = own_adder.daemon()

    def at_a_terminal(*arguments):
        ours, theirs = pty.openpty()
        started = own_adder.popen(*arguments, stderr=theirs)
        os.close(theirs)
        out, _ = started.communicate(timeout=60)
        told = read_to_end(ours).decode() if started.returncode else ""
        os.close(ours)
        return started.returncode, out.decode(), told

    code, _, told = at_a_terminal("serve")
    assert code != 0 and "adder serve stop --force" in told and own_adder.daemon() == pid
    code, out, _ = at_a_terminal("serve", "--http=127.0.0.1:0")
    assert code == 0 and "HTTP: http://127.0.0.1:" in out
    assert own_adder.daemon() == pid and own_adder.call("session", "list").stdout.count("\n") >= 1
    own_adder.stop()


def is_stopped(pid):
    """Each of its threads: one that still ran could make a socket again."""
    try:
        stats = [path.read_text() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
    except (FileNotFoundError, ProcessLookupError):  # one was ending, and has
        return False
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)


def test_the_lock_names_who_has_it(own_adder):
    server = serve(own_adder)
    pid = own_adder.daemon()
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: is_stopped(pid), "all threads to stop")
        own_adder.socket.unlink()
        ended = own_adder.run("1")
        assert f"process {pid}" in ended.error["message"], ended
    finally:
        os.kill(pid, signal.SIGCONT)
    end(server)


@pytest.mark.both_users
def test_sockets_that_are_removed_are_made_again(own_adder):
    server = serve(own_adder)
    pid = own_adder.daemon()
    for path in (own_adder.socket, http_socket(own_adder)):
        before = path.stat().st_ino
        path.unlink()
        wait_until(lambda: path.exists() and path.stat().st_ino != before, f"{path} to be there again")
    assert own_adder.run("print(1)").stdout == "1\n" and own_adder.daemon() == pid
    assert ask(own_adder, "GET", "/healthz")[0] == 200
    end(server)


# ---- the configuration


def test_reload_applies_what_it_can_and_names_the_rest(own_adder):
    conf = own_adder.config / "adder.conf"
    before = conf.read_text()
    server = serve(own_adder)
    pid = own_adder.daemon()
    assert own_adder.status()["config_changed"] is False
    own_adder.configure(before + "[sessions]\nmax_sessions_per_owner = 1\n[http]\nlisten = 127.0.0.1:0\n[pool]\nparked = 9\n")
    assert own_adder.status()["config_changed"] is True
    assert "adder serve reload" in own_adder.call("serve", "status").stdout
    told = json.loads(own_adder.call("serve", "reload", "--json").stdout)
    assert told["applied"] == ["[sessions] max_sessions_per_owner", "[http] listen"]
    assert told["restart"] == ["[pool] parked"]
    assert told["http"] == addresses(own_adder) and len(tcp(own_adder)) == 1
    assert own_adder.status()["config_changed"] is False and own_adder.daemon() == pid
    # A signal does the same.
    own_adder.configure(before)
    os.kill(pid, signal.SIGHUP)
    wait_until(lambda: tcp(own_adder) == [], "the signal to be taken")
    assert own_adder.status()["config_changed"] is False
    # And HTTP.
    own_adder.configure(before + "[sessions]\nmax_sessions = 7\n")
    status, told = ask(own_adder, "POST", "/v1/daemon/reload", {})
    assert (status, told["applied"]) == (200, ["[sessions] max_sessions"])
    end(server)


def test_a_mistake_is_told_by_its_line_and_stops_only_what_needs_the_setting(own_adder):
    conf = own_adder.config / "adder.conf"
    before = conf.read_text()
    own_adder.run("1")
    pid = own_adder.daemon()
    line = before.count("\n") + 3
    for text, words in (
        ("[sessions]\n\nmax_sesions = 1\n", "[sessions] max_sesions: there is no such key; did you mean max_sessions?"),
        ("\n\n[session]\nmax_sessions = 1\n", "there is no group [session]; did you mean [sessions]?"),
        ("[sessions]\n\nparkd = 1\n", "[sessions] parkd: there is no such key; did you mean parked?"),
        ("[sessions]\n\nmax_sessions = many\n", "[sessions] max_sessions: "),
        ("[sessions]\n\nmax_sessions\n", ""),
    ):
        own_adder.configure(before + text)
        place = f"{conf}:{line}: "
        for command in (["serve", "reload"], ["run", "-c", "1"]):
            ended = own_adder.call(*command)
            assert ended.returncode == 125 and place + words in ended.stderr, ended
        ended = own_adder.call("serve", "status", "--json")
        assert ended.returncode == 0 and place + words in ended.stderr and json.loads(ended.stdout)["pid"] == pid
        assert own_adder.call("doctor").stdout.startswith(place + words), "what is wrong comes first"
    stopped = own_adder.call("serve", "stop")
    assert stopped.returncode == 0 and own_adder.daemon() is None and place in stopped.stderr


def test_a_bad_address_leaves_the_rest_as_it_is(own_adder):
    conf = own_adder.config / "adder.conf"
    before = conf.read_text()
    server = serve(own_adder, "--http=127.0.0.1:0")
    listens = tcp(own_adder)
    own_adder.configure(before + "[http]\norigins = nonsense\n")
    refused = own_adder.call("serve", "reload")
    assert refused.returncode == 125 and "origins" in refused.stderr
    assert tcp(own_adder) == listens and own_adder.status()["config_changed"] is True
    end(server)


def test_a_reload_that_fails_changes_nothing_and_can_be_tried_again(own_adder):
    before = (own_adder.config / "adder.conf").read_text()
    server = serve(own_adder, "--http=127.0.0.1:0")
    listens = tcp(own_adder)
    connection = http.client.HTTPConnection("127.0.0.1", int(listens[0].rsplit(":", 1)[1]), timeout=60)
    assert ask(own_adder, "GET", "/healthz", connection=connection)[0] == 200
    with socket.create_server(("127.0.0.1", 0)) as taken:
        own_adder.configure(
            before + f"[sessions]\nmax_sessions_per_owner = 1\n[http]\nlisten = 127.0.0.1:{taken.getsockname()[1]}\n"
        )
        for _ in range(2):
            refused = own_adder.call("serve", "reload")
            assert refused.returncode == 125 and "in use" in refused.stderr, refused
            assert tcp(own_adder) == listens and own_adder.status()["config_changed"] is True
        for _ in range(2):
            assert own_adder.call("session", "new", "--env", "system").returncode == 0
    assert ask(own_adder, "GET", "/healthz", connection=connection)[0] == 200, "the connection is the same"
    told = json.loads(own_adder.call("serve", "reload", "--json").stdout)
    assert told["applied"] == ["[sessions] max_sessions_per_owner", "[http] listen"]
    assert tcp(own_adder) == [f"http://127.0.0.1:{taken_port(told)}"] and tcp(own_adder) != listens
    end(server)


def test_an_address_takes_the_place_of_one_that_has_its_port(own_adder):
    own_adder.call("token", "new", "somebody")
    server = serve(own_adder, "--http=127.0.0.1:0")
    port = tcp(own_adder)[0].rsplit(":", 1)[1]
    for address in (f"127.0.0.2:{port}", f"0.0.0.0:{port}", f"127.0.0.1:{port}"):
        moved = own_adder.call("serve", f"--http={address}", "--background")
        assert moved.returncode == 0 and tcp(own_adder) == [f"http://{address}"], moved
    end(server)


def taken_port(told):
    return told["http"][-1].rsplit(":", 1)[1]


def test_the_token_of_the_start_is_for_this_machine_and_goes_unsaid_when_there_are_others(own_adder):
    own_adder.run("1")
    enabled = own_adder.call("serve", "--http=127.0.0.1:0", "--background")
    assert "adder_" in enabled.stdout
    refused = own_adder.call("serve", "--http=0.0.0.0:0", "--background")
    assert refused.returncode == 125 and "there is no token" in refused.stderr, refused
    assert len(tcp(own_adder)) == 1, "it listens where it did"
    own_adder.call("token", "new", "somebody")
    again = own_adder.call("serve", "--http=127.0.0.1:0", "--background")
    assert again.returncode == 0 and "adder_" not in again.stdout and "no token" not in again.stdout
    own_adder.stop()


def test_a_renewed_certificate_is_read(own_adder):
    def shown():
        port = addresses(own_adder)[-1].rsplit(":", 1)[1]
        text = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{port}"], input="", capture_output=True, text=True, timeout=60
        ).stdout
        return re.search(r"subject=CN ?= ?(\w+)", text)[1]

    lines = certificate(own_adder, "first")
    conf = own_adder.config / "adder.conf"
    own_adder.configure(conf.read_text() + f"[http]\n{lines}listen = 127.0.0.1:0\n")
    own_adder.call("token", "new", "somebody")
    server = serve(own_adder)
    listens = addresses(own_adder)
    assert shown() == "first"
    certificate(own_adder, "second")
    assert own_adder.call("serve", "reload").returncode == 0
    assert shown() == "second" and addresses(own_adder) == listens
    end(server)


def test_a_certificate_that_comes_or_goes_changes_what_the_port_speaks(own_adder):
    pair = certificate(own_adder, "it")
    reserved = ports.reserve()
    port = ports.number_of(reserved)
    before = (own_adder.config / "adder.conf").read_text() + f"[http]\nlisten = 127.0.0.1:{port}\n"
    own_adder.configure(before)
    own_adder.call("token", "new", "somebody")
    server = serve(own_adder)
    for lines, scheme, other in ((pair, "https", "http"), ("", "http", "https"), (pair, "https", "http")):
        own_adder.configure(before + lines)
        assert own_adder.call("serve", "reload").returncode == 0
        assert addresses(own_adder)[1:] == [f"{scheme}://127.0.0.1:{port}"]
        asked = ["curl", "-sk", "--max-time", "60", "-o", "/dev/null", "-w", "%{http_code}"]
        assert subprocess.run([*asked, f"{scheme}://127.0.0.1:{port}/healthz"], capture_output=True).stdout == b"200"
        assert subprocess.run([*asked, f"{other}://127.0.0.1:{port}/healthz"], capture_output=True).stdout != b"200"
    end(server)
    reserved.close()


def test_a_port_is_free_again_while_a_child_still_has_a_copy(own_adder):
    """A child that the daemon starts has copies of its descriptors until it calls exec: here, a copy is with us."""
    pair = certificate(own_adder, "it")
    reserved = ports.reserve()
    address = f"127.0.0.1:{ports.number_of(reserved)}"
    before = (own_adder.config / "adder.conf").read_text() + f"[http]\n{pair}"
    own_adder.configure(f"{before}listen = https://{address}\n")
    own_adder.call("token", "new", "somebody")
    server = serve(own_adder)
    assert addresses(own_adder)[1:] == [f"https://{address}"]
    copies = harness.copies_of_descriptors(own_adder.daemon())
    assert copies
    own_adder.configure(f"{before}listen = http://{address}\n")
    reloaded = own_adder.call("serve", "reload")
    assert reloaded.returncode == 0, reloaded.stderr
    assert tcp(own_adder) == [f"http://{address}"]
    for copy in copies:
        os.close(copy)
    end(server)
    reserved.close()


def test_a_unix_socket_is_free_again_while_a_child_still_has_a_copy(own_adder):
    """The same for its lock."""
    path = own_adder.runtime / "http.sock"
    without = (own_adder.config / "adder.conf").read_text()
    own_adder.configure(f"{without}[http]\nlisten = unix:{path}\n")
    server = serve(own_adder)
    wait_until(path.exists, "it to listen there")
    copies = harness.copies_of_descriptors(own_adder.daemon())
    for lines, is_there in (("", False), (f"[http]\nlisten = unix:{path}\n", True)):
        own_adder.configure(without + lines)
        reloaded = own_adder.call("serve", "reload")
        assert reloaded.returncode == 0 and path.exists() is is_there, reloaded.stderr
    for copy in copies:
        os.close(copy)
    end(server)


def test_a_wrong_address_costs_nobody_a_connection(own_adder):
    own_adder.run("1")
    own_adder.call("token", "new", "somebody")
    own_adder.call("serve", "--http=127.0.0.1:0", "--background")
    listens = tcp(own_adder)
    with socket.create_connection(("127.0.0.1", int(listens[0].rsplit(":", 1)[1]))) as kept:
        kept.settimeout(60)
        for wrong in ("bogus", "127.0.0.1:0 nowhere:7", "https://127.0.0.1:0"):
            refused = own_adder.call("serve", f"--http={wrong}", "--background")
            assert refused.returncode == 125 and tcp(own_adder) == listens, refused
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert kept.recv(12) == b"HTTP/1.1 200"
    own_adder.stop()


def test_hangup_ends_a_daemon_whose_terminal_is_gone(own_adder):
    ours, theirs = pty.openpty()
    server = own_adder.popen("serve", stderr=theirs)
    os.close(theirs)
    wait_until(own_adder.daemon, "the socket to answer")
    os.close(ours)
    os.kill(own_adder.daemon(), signal.SIGHUP)
    server.communicate(timeout=60)
    assert server.returncode == 0 and own_adder.daemon() is None


def test_runs_go_on_while_the_configuration_is_read(own_adder):
    server = serve(own_adder)
    working = own_adder.start(FOREVER, "--timeout", "100")
    assert working.stdout.readline() == b"started\n"
    for _ in range(20):
        assert own_adder.call("serve", "reload").returncode == 0
    assert working.poll() is None
    working.terminate()
    working.communicate(timeout=60)
    end(server)
