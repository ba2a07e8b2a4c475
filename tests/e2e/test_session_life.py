# SPDX-License-Identifier: Apache-2.0
"""How sessions end, what becomes of them with the daemon, and who may see them."""
import os
import pathlib
import signal
import subprocess
import time

import pytest

import harness
from harness import named, unique, wait_until, with_name


# ---- how sessions end ----


def refused_cell(sessions, session):
    """What a cell of a session that ended is told."""
    result = sessions.cell(session, "x = 1")
    assert result.outcome == "failed" and result.error["type"] == "SessionEnded"
    shown = sessions.show(session)
    assert shown["state"] == "ended" and shown["reason"]
    return shown["reason"]


def test_crash(sessions):
    session = sessions.new()
    sessions.cell(session, "x = 1")
    result = sessions.cell(session, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert result.outcome == "crashed" and result.signal == "SIGSEGV"
    reason = refused_cell(sessions, session)
    assert "SIGSEGV" in reason and "2" in reason
    told = sessions.adder.call("run", "--session", session, "-c", "1")
    assert told.returncode == 125 and "SIGSEGV" in told.stderr and told.stderr.count("\n") == 1


def test_death_between_cells(sessions):
    """A thread that goes on ends the process; nobody has to ask for it to be noticed."""
    session = sessions.new()
    sessions.cell(
        session,
        "import os, threading, signal\n"
        "threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()",
    )
    wait_until(lambda: sessions.show(session)["state"] == "ended", "the death to be noticed")
    assert refused_cell(sessions, session)


def test_memory(sessions):
    session = sessions.new("--memory", "256M")
    sessions.cell(session, "x = 1")
    result = sessions.cell(session, "held = []\nwhile True: held.append(b'x' * 10_000_000)")
    assert result.outcome == "memory_limit"
    if sessions.show(session)["state"] == "ended":
        assert "256 MiB" in refused_cell(sessions, session)
    else:
        assert sessions.cell(session, "x").text == "1", "a MemoryError: the session lives"


def test_idle(make_sessions):
    sessions = make_sessions("[sessions]\nidle_ms = 300ms\n")
    session = sessions.new()
    process = named(unique(), "1")
    sessions.cell(session, process)
    wait_until(lambda: sessions.show(session)["state"] == "ended", "the idle time to be over")
    assert "idle" in refused_cell(sessions, session)
    sessions.adder.stop()


def test_eleventh_session(make_sessions):
    sessions = make_sessions()
    made = [sessions.new() for _ in range(10)]
    sessions.cell(made[0], "x = 0")  # now the second is the one that is idle longest
    ended = sessions.adder.call("session", "new", "--env", "system")
    assert ended.returncode == 75 and "max_sessions_per_owner" in ended.stderr, ended
    assert {each["session_id"] for each in sessions.list() if each["state"] != "ended"} == set(made)
    eleventh = sessions.new("--evict")
    reason = refused_cell(sessions, made[1])
    assert "idle longest" in reason and "10" in reason
    assert sessions.cell(made[0], "x").text == "0"
    living = {each["session_id"] for each in sessions.list() if each["state"] != "ended"}
    assert living == set(made) - {made[1]} | {eleventh}
    sessions.adder.stop()


def test_bounds_that_are_configured(make_sessions):
    sessions = make_sessions("[sessions]\nmax_sessions = 2\n")
    one, two, three = (sessions.new("--evict") for _ in range(3))
    assert refused_cell(sessions, one)
    assert sessions.cell(two, "1").text == sessions.cell(three, "1").text == "1"
    sessions.adder.stop()


def test_ended_while_a_cell_runs(sessions):
    session, name = sessions.new(), unique()
    running = sessions.started(session, named(name))
    assert with_name(name)
    sessions.ask("rm", session)
    assert running.wait(harness.DEADLINE) == 130
    wait_until(lambda: not with_name(name), "its process to be gone")
    assert sessions.ask("rm", session)[0]["state"] == "ended", "ending twice is no error"


def test_several_are_ended_at_once(sessions):
    made = [sessions.new() for _ in range(3)]
    ended = sessions.adder.call("session", "rm", made[0], "no-such", made[1], made[2])
    assert ended.returncode == 125 and ended.stderr.count("\n") == 1 and "no-such" in ended.stderr
    assert all(sessions.show(session)["state"] == "ended" for session in made)


# ---- sessions and the daemon ----


def test_stop_asks_for_force(make_sessions):
    sessions = make_sessions()
    session, name = sessions.new(), unique()
    sessions.cell(session, named(name, "x = 42"))
    told = sessions.adder.call("serve", "stop")
    assert told.returncode == 75 and "1 session" in told.stderr and "--force" in told.stderr
    assert sessions.cell(session, "x").text == "42" and with_name(name)
    traces = sessions.adder.traces()
    forced = sessions.adder.call("serve", "stop", "--force")
    assert forced.returncode == 0 and "1 session" in forced.stdout
    traces.wait_gone()
    assert not with_name(name)


def test_killed_daemon_leaves_no_session(make_sessions):
    sessions = make_sessions()
    names = [unique() for _ in range(3)]
    for name in names:
        sessions.cell(sessions.new(), named(name, "import subprocess\nsubprocess.Popen(['sleep', '1000'])"))
    running = sessions.started(sessions.new(), harness.FOREVER, "--limit", "cpu_ms=10m", "--limit", "wall_ms=10m")
    traces = sessions.adder.traces()
    harness.Process(sessions.adder.daemon()).signal(signal.SIGKILL)
    traces.wait_gone()  # all that would end them otherwise is later than its deadline
    assert running.wait(harness.DEADLINE) == 125
    assert not any(map(with_name, names))
    assert sessions.ask("list") == {"sessions": []}


def test_idle_daemon_waits_for_its_sessions(make_sessions):
    """The daemon's idle time is far shorter than the session's: it ends after the session, and not before."""
    sessions = make_sessions("[daemon]\nidle_exit_ms = 100ms\n[sessions]\nidle_ms = 10s\n")
    session = sessions.new()
    pid = sessions.adder.daemon()
    time.sleep(1)  # ten times the daemon's idle time
    assert sessions.adder.daemon() == pid and sessions.cell(session, "x = 1; x").text == "1"
    wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "session and daemon to end")


def test_status_counts_sessions(sessions):
    before = sessions.adder.status()["engine"]["sessions"]["live"]
    session = sessions.new()
    assert sessions.adder.status()["engine"]["sessions"]["live"] == before + 1
    assert "sessions" in sessions.adder.call("serve", "status").stdout
    sessions.ask("rm", session)
    wait_until(
        lambda: sessions.adder.status()["engine"]["sessions"]["live"] == before, "the session to be gone"
    )


@pytest.mark.both_users
def test_another_user_does_not_see_them(installation, user, make_sessions):
    """root may talk to everybody's daemon, and has sessions of their own there."""
    if user.name != "nobody" or os.geteuid() != 0:
        pytest.skip("needs root, who may talk to the daemon of nobody")
    sessions = make_sessions()
    session = sessions.new("--name", "mine")
    sessions.cell(session, "x = 'secret'")
    own = sessions.adder.directory / "of-root"
    own.mkdir(mode=0o700)
    (own / "adder.conf").write_text(f"[daemon]\nsocket = {sessions.adder.socket}\n")
    variables = {
        **sessions.adder.process_environment(),
        "ADDER_RUNTIME_DIR": str(own),
        "ADDER_CONFIG_DIR": str(own),
    }

    def as_root(*arguments):
        command = [str(installation.program), *arguments]
        return subprocess.run(
            command, env=variables, capture_output=True, text=True, timeout=harness.DEADLINE
        )

    assert harness.strict_json(as_root("session", "list", "--json").stdout) == {"sessions": []}
    for arguments in (
        ["show", "mine"],
        ["show", session],
        ["vars", session, "x"],
        ["history", "mine"],
        ["interrupt", session],
        ["reset", session],
        ["rm", session],
        ["show", session[:13]],
    ):
        told = as_root("session", *arguments)
        assert told.returncode == 125 and "there is no session" in told.stderr, told
    told = as_root("run", "--session", "mine", "-c", "print(x)")
    assert told.returncode == 125 and "secret" not in told.stdout + told.stderr
    other = as_root("session", "new", "--name", "mine", "--env", "system")
    assert other.returncode == 0 and other.stdout.strip() != session, "names are each owner's own"
    assert sessions.cell("mine", "x").text == "'secret'"
    sessions.adder.stop()
