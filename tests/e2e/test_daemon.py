# SPDX-License-Identifier: Apache-2.0
"""The daemon's life: started on demand, stopped, killed, idle; and what Ctrl-C leaves, which is nothing."""
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time

import pytest

import harness
from harness import FOREVER, named, unique, wait_until, with_name

pytestmark = pytest.mark.both_users


def daemons(adder):
    """Processes that serve this runtime directory."""
    found = []
    for process in adder.installation.processes():
        try:
            variables = pathlib.Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"ADDER_RUNTIME_DIR={adder.runtime}".encode() in variables and b"serve" in process.arguments():
            found.append(process)
    return found


def outside(adder):
    """Processes of the installation that no daemon has. Those of the shared ones come when their pools are filled again."""
    found = set(adder.installation.processes())
    serving = {process for process in found if b"serve" in process.arguments()}
    return found.difference(serving, *(harness.descendants(process.pid) for process in serving))


@pytest.mark.quick
def test_starts_by_itself_and_stops(own_adder):
    assert own_adder.daemon() is None
    assert own_adder.run("print(1)").stdout == "1\n"
    pid = own_adder.daemon()
    assert pid and stat.S_IMODE(os.stat(own_adder.socket).st_mode) == 0o600
    assert own_adder.run("print(2)").stdout == "2\n" and own_adder.daemon() == pid
    own_adder.stop()
    assert own_adder.run("print(3)").stdout == "3\n" and own_adder.daemon() != pid
    own_adder.stop()


def test_daemon_in_the_background_holds_nothing_of_its_starter(own_adder):
    own_adder.run("1")
    pid = own_adder.daemon()
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.getsid(pid) != os.getsid(0)
    for number in (0, 1, 2):
        link = os.readlink(f"/proc/{pid}/fd/{number}")
        assert not link.startswith("pipe:"), "the pipes of the command that started it"
    own_adder.stop()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_starter_with_closed_streams(own_adder, closed):
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *own_adder.command("run", "-c", "1")]
    subprocess.run(shell, env=own_adder.process_environment(), cwd=own_adder.scratch, timeout=60)
    assert own_adder.daemon() is not None
    assert own_adder.run("print(1)").stdout == "1\n"
    own_adder.stop()


@pytest.mark.quick
def test_commands_at_once_start_one_daemon(own_adder):
    running = [own_adder.start(f"print({index})") for index in range(6)]
    assert [process.communicate(timeout=100)[0] for process in running] == [
        b"%d\n" % index for index in range(6)
    ]
    # A child that it starts has its name until it calls exec.
    wait_until(lambda: len(daemons(own_adder)) == 1, "one daemon alone")
    own_adder.stop()


def test_stop_ends_runs_under_way(own_adder):
    run = own_adder.start(FOREVER, "--timeout", "100", json_reply=True)
    wait_until(lambda: own_adder.daemon(), "a daemon")
    name = unique()
    other = own_adder.start(named(name), "--timeout", "100")
    assert other.stdout.readline() == b"started\n"
    wait_until(lambda: own_adder.status()["engine"]["running"] == 2, "both to run")
    own_adder.stop()
    run.communicate(timeout=60)
    other.communicate(timeout=60)
    assert run.returncode in (130, 125) and other.returncode in (130, 125)
    assert not with_name(name)


def test_killed_daemon_leaves_nothing(own_adder):
    name = unique()
    run = own_adder.start(named(name), "--timeout", "100")
    assert run.stdout.readline() == b"started\n"
    assert with_name(name)
    traces = own_adder.traces()
    assert len(traces.processes) > 3
    harness.Process(own_adder.daemon()).signal(signal.SIGKILL)
    _, err = run.communicate(timeout=60)
    assert (
        run.returncode == 125 and len(err.splitlines()) == 1
    ), "the command says in a sentence what happened"
    traces.wait_gone()
    assert not with_name(name)
    mounts = [line for line in harness.host_mounts() if str(own_adder.directory) in line]
    assert mounts == []

    # What the dead one left in the cgroup tree, where it had one, goes with the next.
    pid = traces.processes[0].pid
    assert own_adder.run("print(1)").stdout == "1\n"
    own_adder.stop()
    assert [path for path in harness.host_cgroups() if f"adder-{pid}-" in path] == []


def test_cgroups_go_with_the_daemon(own_adder):
    level = own_adder.run("1").isolation["level"]
    name = f"adder-{own_adder.daemon()}-"

    def groups():
        return [path for path in harness.host_cgroups() if name in path]

    if level == 3:
        assert groups(), "the groups of this daemon are there to be seen"
    own_adder.stop()
    assert not groups()


def test_killed_zygote_is_replaced(own_adder):
    own_adder.run("1")
    pid = own_adder.daemon()
    killed = [process for process in harness.descendants(pid) if process.parent == pid]
    assert killed
    for process in killed:
        process.signal(signal.SIGKILL)
    # While they are dying, a run may still be given to one and say so in its result.
    wait_until(lambda: not any(process.alive() for process in killed), "them to be dead")
    assert own_adder.run("print(1)").stdout == "1\n"
    assert own_adder.daemon() == pid
    wait_until(lambda: not any(process.alive() for process in killed), "the killed ones to be reaped")
    own_adder.stop()


def test_zygote_killed_during_a_run(own_adder):
    run = own_adder.start(FOREVER, "--timeout", "100", json_reply=True)
    pid = wait_until(own_adder.daemon, "a daemon")
    other = own_adder.start(FOREVER, "--timeout", "100")
    assert other.stdout.readline() == b"started\n"
    killed = [process for process in harness.descendants(pid) if process.parent == pid]
    for process in killed:
        process.signal(signal.SIGKILL)
    other.communicate(timeout=60)
    assert other.returncode == 125
    wait_until(lambda: not any(process.alive() for process in killed), "them to be dead")
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert own_adder.run("print(1)").stdout == "1\n" and own_adder.daemon() == pid
    own_adder.stop()


def test_stopped_zygote_is_given_up(make_adder):
    """One that no longer answers (here: SIGSTOP) must not hold runs for ever."""
    adder = make_adder("[pool]\nparked = 1\nzygote_start_ms = 2s\n")
    wait_until(lambda: adder.run("1").outcome == "ok", "a zygote that starts in time")
    pid = adder.daemon()
    stopped = [process for process in harness.descendants(pid) if process.parent == pid]
    for process in stopped:
        process.signal(signal.SIGSTOP)
    wait_until(
        lambda: adder.run("print(1)").outcome == "ok"
        and adder.run("print(1)").outcome == "ok"
        and adder.run("print(1)").outcome == "ok",
        "runs to be served by another",
    )
    for process in stopped:
        process.signal(signal.SIGCONT)
    wait_until(lambda: adder.run("print(1)").outcome == "ok", "runs to be served as before")
    adder.stop()


def test_idle_daemon_ends(make_adder):
    adder = make_adder("[daemon]\nidle_exit_ms = 700ms\n")
    adder.run("1")
    adder.traces().wait_gone()
    adder.wait_ended()
    assert adder.daemon() is None and not adder.socket.exists()
    assert adder.run("print(1)").stdout == "1\n"


def test_busy_daemon_is_not_idle(make_adder):
    adder = make_adder("[daemon]\nidle_exit_ms = 300ms\n")
    result = adder.run("import time\ntime.sleep(1.5)\nprint('done')")
    assert (result.outcome, result.stdout) == ("ok", "done\n")


def test_no_daemon(own_adder):
    result = own_adder.run("print(2**32)", "--no-daemon")
    assert result.stdout == "4294967296\n" and result.isolation["level"] in (2, 3)
    assert own_adder.daemon() is None and not own_adder.socket.exists()
    assert not daemons(own_adder)


def test_no_daemon_leaves_nothing(own_adder):
    before = outside(own_adder)
    name = unique()
    ended = own_adder.call(
        "run",
        "--no-daemon",
        "--env",
        "system",
        "-c",
        named(name, "import os\n" "if os.fork() == 0:\n" "    while True: pass"),
    )
    assert ended.returncode == 0
    wait_until(lambda: not with_name(name), "its processes to be gone")
    wait_until(lambda: outside(own_adder) <= before, "its inits to be gone")


@pytest.mark.quick
@pytest.mark.parametrize("options", [[], ["--no-daemon"]], ids=["daemon", "no daemon"])
def test_interrupt_cancels(own_adder, options):
    name = unique()
    run = own_adder.start(named(name), "--timeout", "100", *options)
    assert run.stdout.readline() == b"started\n"
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130 and out == b""
    wait_until(lambda: not with_name(name), "the run's processes to be gone")
    own_adder.stop()


@pytest.mark.parametrize("options", [[], ["--no-daemon"]], ids=["daemon", "no daemon"])
def test_interrupt_with_json(own_adder, options):
    name = unique()
    code = "print('started', flush=True)\n" + named(name, "while True: pass")
    run = own_adder.start(code, "--timeout", "100", *options, json_reply=True)
    wait_until(lambda: with_name(name), "the run to be under way")
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    harness.gathered.append((run.args, run.returncode, out, err))
    result = harness.Adder.parse(out.decode(), err.decode(), run.returncode)
    assert (result.outcome, result.exit_status) == ("cancelled", 130) and result.stdout == "started\n"
    wait_until(lambda: not with_name(name), "the run's processes to be gone")
    own_adder.stop()


def test_interrupt_of_the_whole_group(own_adder):
    """A terminal sends it to every process of the group: the daemon and the sandbox are not in it."""
    own_adder.run("1")
    pid = own_adder.daemon()
    run = own_adder.start(FOREVER, "--timeout", "100", start_new_session=True)
    assert run.stdout.readline() == b"started\n"
    os.killpg(run.pid, signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode == 130 and own_adder.daemon() == pid
    own_adder.stop()


def test_interrupt_of_the_command_that_started_the_daemon(own_adder):
    run = own_adder.start(FOREVER, "--timeout", "100", start_new_session=True)
    assert run.stdout.readline() == b"started\n"
    pid = own_adder.daemon()
    os.killpg(run.pid, signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode == 130 and own_adder.daemon() == pid
    assert own_adder.run("print(1)").stdout == "1\n"
    own_adder.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("options", [[], ["--no-daemon"]], ids=["daemon", "no daemon"])
def test_command_that_is_killed(own_adder, number, options):
    name = unique()
    run = own_adder.start(named(name), "--timeout", "100", *options)
    assert run.stdout.readline() == b"started\n"
    run.send_signal(number)
    run.communicate(timeout=60)
    assert run.returncode != 0
    wait_until(lambda: not with_name(name), "the run's processes to be gone")
    if options:
        wait_until(
            lambda: not [p for p in harness.processes() if p.parent == run.pid], "nothing of it to be left"
        )
    else:
        assert own_adder.run("print(1)").stdout == "1\n"
    own_adder.stop()


def test_serve_in_the_foreground(own_adder):
    server = own_adder.popen("serve")
    wait_until(own_adder.daemon, "the socket to answer")
    assert own_adder.daemon() == server.pid or own_adder.user.prefix
    assert own_adder.run("print(1)").stdout == "1\n"
    traces = own_adder.traces()
    server.send_signal(signal.SIGTERM)
    _, err = server.communicate(timeout=60)
    assert server.returncode == 0
    traces.wait_gone()
    assert not own_adder.socket.exists()


def test_log_has_no_code_and_no_data(own_adder):
    server = own_adder.popen("serve")
    wait_until(own_adder.daemon, "the socket to answer")
    own_adder.run(
        "secret_name = 1\n" "print('secret_output')\n" "raise ValueError('secret_message')",
        "--set-env",
        "SECRET=secret_value",
    )
    server.send_signal(signal.SIGTERM)
    out, err = server.communicate(timeout=60)
    for word in (b"secret_name", b"secret_output", b"secret_message", b"secret_value"):
        assert word not in out + err


def test_second_server_is_refused(own_adder):
    assert own_adder.call("serve", "--background").returncode == 0
    pid = own_adder.daemon()
    ended = own_adder.call("serve")
    assert ended.returncode != 0 and len(ended.stderr.strip().splitlines()) == 1
    assert own_adder.daemon() == pid and own_adder.run("print(1)").stdout == "1\n"
    own_adder.stop()


def test_socket_left_by_a_dead_daemon(own_adder):
    own_adder.run("1")
    traces = own_adder.traces()
    harness.Process(own_adder.daemon()).signal(signal.SIGKILL)
    traces.wait_gone()
    assert own_adder.socket.exists(), "a killed one cannot tidy up"
    assert own_adder.run("print(1)").stdout == "1\n"
    own_adder.stop()


def test_file_in_the_place_of_the_socket(own_adder):
    own_adder.socket.write_text("not a socket")
    result = own_adder.run("print(1)")
    assert result.outcome == "ok" or str(own_adder.socket) in result.error["message"]
    own_adder.stop()


def test_daemon_needs_no_home(make_adder):
    adder = make_adder(variables={"HOME": "/nonexistent"})
    assert adder.run("print(1)").stdout == "1\n"
    adder.stop()


def test_daemon_outlives_the_directory_it_was_started_in(own_adder):
    directory = own_adder.folder("gone")
    own_adder.run("1", cwd=directory)
    directory.rmdir()
    assert own_adder.run("print(1)").stdout == "1\n"
    own_adder.stop()


@pytest.fixture
def loading_adder(adder, make_adder):
    """Its daemon loads modules when it starts."""
    if adder.environment != "science":
        pytest.skip("the environment science is not there")
    own = make_adder("[environment]\ndefault = science\n")
    own.environment = "science"
    return own


def test_first_runs_find_modules_that_they_name(loading_adder):
    """A daemon that has just started answers while it loads modules; who names one of them waits for it."""
    assert loading_adder.run("print(1)").stdout == "1\n"
    assert {type(pool["bare"]) for pool in loading_adder.status()["engine"]["pools"]} == {bool}
    result = loading_adder.run("import sys\nbefore = set(sys.modules)\nimport numpy\n'numpy' in before")
    assert result.value == {"text/plain": "True"}
    assert not any(pool["bare"] for pool in loading_adder.status()["engine"]["pools"])
    loading_adder.at_rest()
    loading_adder.stop()


def test_stopped_while_modules_are_loaded(loading_adder):
    before = outside(loading_adder)
    for _ in range(3):
        assert loading_adder.run("print(1)").stdout == "1\n"
        loading_adder.stop()
    wait_until(lambda: outside(loading_adder) <= before, "its zygotes to be gone")


def test_crashes_beyond_the_budget(make_adder):
    """A loop of segmentation faults costs new zygotes, not service."""
    adder = make_adder("[pool]\ncrash_budget = 3\n")
    for _ in range(12):
        assert adder.run("import os\nos.kill(os.getpid(), 11)").outcome == "crashed"
        assert adder.run("print(1)").stdout == "1\n"
    assert max(pool["starts"] for pool in adder.status()["engine"]["pools"]) > 1
    adder.stop()


def test_zygotes_are_replaced_after_so_many_runs(make_adder):
    adder = make_adder("[pool]\nzygote_runs = 5\n")
    assert [adder.run(f"print({index})").stdout for index in range(25)] == [
        f"{index}\n" for index in range(25)
    ]
    assert max(pool["starts"] for pool in adder.status()["engine"]["pools"]) > 1
    adder.at_rest()
    adder.stop()


def test_newer_command_replaces_an_idle_daemon(own_adder):
    """After an upgrade nobody has to think of the daemon; while it works it is left alone."""
    own_adder.run("1")
    old = harness.Process(own_adder.daemon())
    newer = own_adder.directory / "newer"
    shutil.copytree(own_adder.installation.prefix, newer, symlinks=True)
    later = time.time() + 60
    os.utime(newer / "bin/adder", (later, later))

    def run_newer(code):
        command = [*own_adder.user.prefix, newer / "bin/adder", "run", "--env", "system", "-c", code]
        return subprocess.run(
            command,
            env=own_adder.process_environment(),
            cwd=own_adder.scratch,
            capture_output=True,
            text=True,
            timeout=100,
        )

    working = own_adder.start("print('started', flush=True)\nwhile True: pass", "--timeout", "100")
    assert working.stdout.readline() == b"started\n"
    assert run_newer("print(1)").stdout == "1\n"
    assert old.alive() and working.poll() is None
    working.terminate()
    working.communicate(timeout=60)

    wait_until(lambda: own_adder.status()["running"] == 0, "the old daemon to be idle")
    assert run_newer("print(2)").stdout == "2\n"
    wait_until(lambda: not old.alive(), "the old daemon to end")
    stopped = subprocess.run(
        [*own_adder.user.prefix, newer / "bin/adder", "serve", "stop"], env=own_adder.process_environment(), timeout=60
    )
    assert stopped.returncode == 0


def test_interrupt_while_it_waits_for_a_sandbox(make_adder):
    adder = make_adder("[pool]\nmax_running = 1\n")
    adder.run("1")
    first = adder.start("print('started', flush=True)\nwhile True: pass", "--timeout", "100")
    assert first.stdout.readline() == b"started\n"
    second = adder.start("print(2)", "--timeout", "100", json_reply=True)
    wait_until(lambda: adder.status()["engine"]["waiting"] == 1, "the second to wait")
    second.send_signal(signal.SIGINT)
    out, err = second.communicate(timeout=60)
    assert second.returncode == 130 and harness.strict_json(out.decode())["outcome"] == "cancelled"
    assert first.poll() is None
    wait_until(lambda: adder.status()["engine"]["waiting"] == 0, "its place to be free")
    first.terminate()
    first.communicate(timeout=60)
    adder.stop()


def test_callers_that_are_killed_while_they_wait(make_adder):
    adder = make_adder("[pool]\nmax_running = 1\nmax_queued = 5\n")
    adder.run("1")
    first = adder.start("print('started', flush=True)\nwhile True: pass", "--timeout", "100")
    assert first.stdout.readline() == b"started\n"
    waiting = [adder.start("print(2)") for _ in range(4)]
    wait_until(lambda: adder.status()["engine"]["waiting"] == 4, "four to wait")
    for process in waiting:
        process.kill()
        process.communicate(timeout=60)
    wait_until(lambda: adder.status()["engine"]["waiting"] == 0, "their places to be free")
    first.terminate()
    first.communicate(timeout=60)
    assert adder.run("print(3)").stdout == "3\n"
    adder.stop()


def test_many_commands_at_once(adder):
    running = [adder.start(f"print({index})") for index in range(30)]
    assert [process.communicate(timeout=200)[0] for process in running] == [
        b"%d\n" % index for index in range(30)
    ]
    assert [process.returncode for process in running] == [0] * 30
