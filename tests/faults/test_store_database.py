# SPDX-License-Identifier: Apache-2.0
"""The plug of the database is pulled: a run's result comes back whole, says what was not kept, and what was said to be kept is
there when the database is back."""
import concurrent.futures
import pathlib
import signal
import sqlite3
import subprocess
import threading

import pytest

import harness
import store_world
from harness import strict_json, unique, wait_until

LOST = "the run is not on record"
FILE = "open('/tmp/made.txt', 'w').write('made'); print('done')"


@pytest.fixture(scope="module")
def postgres():
    if not store_world.programs():
        pytest.skip("there is no PostgreSQL on this host (the package postgresql)")
    world = store_world.Postgres()
    yield world
    world.end()


@pytest.fixture
def server(postgres):
    """Up and awake, before the test and after it."""
    yield postgres
    if postgres.server is None:
        postgres.up()
    postgres.thaw()


def config(url, timeout="20s"):
    return f"[pool]\nparked = 2\n\n[store]\nrecords = {url}\ntimeout_ms = {timeout}\n"


def lost(result):
    """The warning that nothing was kept; nothing of the result says otherwise."""
    warnings = [text for text in result.warnings if LOST in text]
    if not warnings:
        return None
    assert len(warnings) == 1, result.warnings
    assert all(file["file_id"] is None and file["url"] is None for file in result.files), result.files
    return warnings[0]


def recorded(adder):
    """The ids of all runs on record."""
    ended = adder.call("history", "list", "--all", "--json")
    assert ended.returncode == 0, ended
    return [record["run_id"] for record in strict_json(ended.stdout)["records"]]


def run_kept(adder, code=FILE):
    """Runs until one is kept again: it may take a second after the database is back."""

    def kept():
        result = adder.run(code)
        assert result.outcome == "ok"
        return None if lost(result) else result

    return wait_until(kept, "a run to be kept")


def check_kept(adder, results):
    """All of RESULTS are on record, once, and their files can be had."""
    ids = recorded(adder)
    for result in results:
        assert ids.count(result.run_id) == 1, (result.run_id, ids)
        for file in result.files:
            got = adder.call("file", "get", file["file_id"], "--out", "-")
            assert got.returncode == 0 and got.stdout == "made", got
    verified = adder.call("history", "verify")
    assert verified.returncode == 0, verified


def waiting_run(adder):
    """A run that has begun, and the function that lets it end and gives its result."""
    folder = adder.folder(unique())
    code = (
        "import os, time\nopen('/tmp/made.txt', 'w').write('made')\nopen('/work/begun', 'w')\n"
        "while not os.path.exists('/work/go'): time.sleep(0.01)\nprint('done')"
    )
    process = adder.start(code, "--workdir", f"{folder}:rw", json_reply=True)
    wait_until(lambda: process.poll() is not None or (folder / "begun").exists(), "the run to begin")

    def go():
        (folder / "go").write_text("")
        out, err = process.communicate(timeout=120)
        harness.gathered.append((process.args, process.returncode, "", ""))
        return adder.parse(out.decode(), err.decode(), process.returncode)

    return go


# ---- PostgreSQL ----


def unnoticed(run):
    """The result of RUN, which restarts the server. The store looks at it too, a second after its first use and then each minute:
    when it did so meanwhile, the next second's runs are not kept, and this is tried again."""
    for _ in range(3):
        result = run()
        if not lost(result):
            break
    return result


@pytest.mark.parametrize("how", (signal.SIGQUIT, signal.SIGINT), ids=("crash", "shutdown"))
def test_restarted_between_runs(make_adder, server, how):
    """Nobody notices."""
    adder = make_adder(config(server.new()))
    results = [run_kept(adder)]

    def run():
        server.down(how)
        server.up()
        return adder.run(FILE)

    results.append(unnoticed(run))
    assert results[-1].warnings == [] and results[-1].files[0]["file_id"]
    check_kept(adder, results)


def test_restarted_in_mid_run(make_adder, server):
    adder = make_adder(config(server.new()))
    first = run_kept(adder)

    def run():
        go = waiting_run(adder)
        server.down()
        server.up()
        return go()

    result = unnoticed(run)
    assert result.outcome == "ok" and result.stdout == "done\n" and result.warnings == []
    check_kept(adder, [first, result])


def test_down_in_mid_run(make_adder, server):
    """The run is what it was, and says what was not kept; then all goes on."""
    adder = make_adder(config(server.new()))
    first = run_kept(adder)
    go = waiting_run(adder)
    server.down()
    result = go()
    assert result.outcome == "ok" and result.stdout == "done\n"
    assert "the database postgresql://" in lost(result)
    more = [adder.run("print(1)") for _ in range(5)]
    assert all(lost(each) and each.stdout == "1\n" for each in more)
    server.up()
    last = run_kept(adder)
    ids = recorded(adder)
    assert first.run_id in ids and last.run_id in ids
    assert not {each.run_id for each in (result, *more)} & set(ids)
    check_kept(adder, [first, last])
    checked = adder.call("doctor", "store", "--check")
    assert checked.returncode == 0, checked


def test_down_from_the_beginning(make_adder, server):
    url = server.new()
    server.down()
    adder = make_adder(config(url))
    assert lost(adder.run(FILE))
    server.up()
    check_kept(adder, [run_kept(adder)])


def test_frozen_in_mid_run(make_adder, server):
    """A server that says nothing holds nobody up for long."""
    adder = make_adder(config(server.new(), "2s"))
    first = run_kept(adder)
    go = waiting_run(adder)
    server.freeze()
    try:
        result = go()
        assert result.outcome == "ok" and result.stdout == "done\n" and lost(result)
        assert all(lost(adder.run("print(1)")) for _ in range(20))
    finally:
        server.thaw()
    last = run_kept(adder)
    # What is asked of it from now on may take its time.
    adder.stop()
    adder.configure((adder.config / "adder.conf").read_text().replace("timeout_ms = 2s", "timeout_ms = 20s"))
    check_kept(adder, [first, last])


def test_connections_break_all_the_time(make_adder, server):
    """What was acknowledged is there."""
    adder = make_adder(config(server.new()))
    results = []
    for _ in range(10):
        result = adder.run(FILE)
        server.drop()
        if not lost(result):
            results.append(result)
    assert len(results) >= 5
    check_kept(adder, results)


def run_on(adder, stop, told):
    """Runs until STOP is set: (run_id, warnings, files) of each go to TOLD."""
    while not stop.is_set():
        process = adder.start(FILE, json_reply=True)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (process.returncode, out, err)
        result = strict_json(out.decode())
        told.append((result["run_id"], result["warnings"], [file["file_id"] for file in result["files"]]))


@pytest.mark.slow
def test_under_load(make_adder, server):
    """The server is bothered while many run code: no run is worse for it, nothing that was told is lost, and no row is without
    its file afterwards, nor the other way round."""
    adder = make_adder(config(server.new()))
    run_kept(adder)
    stop, told = threading.Event(), []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(run_on, adder, stop, told) for _ in range(4)]
        try:
            for bother in (server.drop, lambda: (server.down(), server.up()), server.drop) * 4:
                before = len(told)
                bother()
                wait_until(
                    lambda: any(client.done() for client in clients) or any(not row[1] for row in told[before:]),
                    "a run to be kept",
                )
        finally:
            stop.set()
        for client in clients:
            client.result()
    kept = {run_id: files for run_id, warnings, files in told if not warnings}
    assert all(files and all(files) for files in kept.values())
    assert set(kept) <= set(recorded(adder))
    checked = adder.call("doctor", "store", "--check", "--deep", "--json")
    assert checked.returncode == 0 and strict_json(checked.stdout)["lost_count"] == 0, checked
    for files in list(kept.values())[-10:]:
        got = adder.call("file", "get", files[0], "--out", "-")
        assert got.returncode == 0 and got.stdout == "made", got
    verified = adder.call("history", "verify")
    assert verified.returncode == 0, verified


@pytest.mark.parametrize(
    "role, says",
    (
        ("powerless", "permission denied"),
        ("locked:wrong-word", "password authentication failed"),
        ("stranger", "does not exist"),
    ),
    ids=("no rights", "wrong password", "no such role"),
)
def test_nobody_is_let_in(make_adder, server, role, says):
    adder = make_adder(config(server.new().replace("//adder@", f"//{role}@")))
    result = adder.run(FILE)
    assert result.outcome == "ok" and result.stdout == "done\n"
    warning = lost(result)
    assert says in warning and "wrong-word" not in warning
    listed = adder.call("history", "list")
    assert listed.returncode == 125 and says in listed.stderr and "wrong-word" not in listed.stderr


# ---- SQLite ----


def database_of(adder):
    return pathlib.Path(adder.state) / "store/records.db"


def test_damaged_file(make_adder):
    """It is left as it is, and a new one is begun where somebody moves it away."""
    adder = make_adder()
    run_kept(adder)
    adder.stop()
    path = database_of(adder)
    for beside in path.parent.glob("records.db-*"):
        beside.unlink()
    content = b"no database at all" * 1000
    path.write_bytes(content)
    result = adder.run(FILE)
    assert result.stdout == "done\n" and "damaged" in lost(result)
    assert path.read_bytes() == content
    path.rename(path.with_suffix(".broken"))
    check_kept(adder, [run_kept(adder)])


def test_removed_file(make_adder):
    """Under a daemon that has it open."""
    adder = make_adder()
    first = run_kept(adder)
    database_of(adder).unlink()
    last = adder.run(FILE)
    assert last.warnings == []
    assert recorded(adder) == [last.run_id] != [first.run_id]


def test_newer_tables(make_adder):
    adder = make_adder()
    first = run_kept(adder)
    adder.stop()
    with sqlite3.connect(database_of(adder)) as database:
        ((ours,),) = database.execute("SELECT version FROM schema_version")
        database.execute("UPDATE schema_version SET version = 1000")
    assert "a newer Adder wrote it" in lost(adder.run(FILE))
    with sqlite3.connect(database_of(adder)) as database:
        database.execute("UPDATE schema_version SET version = ?", (ours,))
    check_kept(adder, [first, run_kept(adder)])


def test_locked_by_another_program(make_adder):
    adder = make_adder(config("sqlite", "500ms"))
    first = run_kept(adder)
    other = sqlite3.connect(database_of(adder), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    result = adder.run(FILE)
    assert result.stdout == "done\n" and "another program" in lost(result)
    assert first.run_id in recorded(adder)
    other.execute("ROLLBACK")
    other.close()
    check_kept(adder, [first, run_kept(adder)])


def test_no_state_directory(make_adder):
    """One that cannot be written to."""
    adder = make_adder()
    subprocess.run(["chmod", "0777", adder.state], check=True)
    result = adder.run(FILE)
    assert result.stdout == "done\n" and "the state directory" in lost(result)
    subprocess.run(["chmod", "0700", adder.state], check=True)
    check_kept(adder, [run_kept(adder)])


@pytest.mark.both_users
def test_full_disk(make_adder, user):
    """The daemon's state directory is a small disk of its own."""
    if user.uid != 0:
        pytest.skip("only root mounts a disk that its daemon's sandboxes bear")
    adder = make_adder("[pool]\nparked = 2\n")
    state = adder.state
    adder.wrapper = [
        "unshare", "--mount", "--propagation", "private", "sh", "-c",
        f'mount -t tmpfs -o size=3m,mode=700 none "{state}" && exec "$0" "$@"',
    ]  # fmt: skip
    daemon = adder.popen("serve", start_new_session=True)
    adder.wrapper = []
    wait_until(lambda: daemon.poll() is not None or adder.daemon(), "the daemon to answer")
    enter = ["nsenter", f"--mount=/proc/{adder.daemon()}/ns/mnt"]
    first = run_kept(adder)
    subprocess.run([*enter, "sh", "-c", f'cat /dev/zero >"{state}/much" 2>/dev/null || true'], check=True)
    code = "print('x' * 1000)\n#" + "y" * 90000
    results = [adder.run(code) for _ in range(10)]
    assert all(result.outcome == "ok" and result.stdout == "x" * 1000 + "\n" for result in results)
    assert any("no space" in (lost(result) or "").lower() for result in results), [r.warnings for r in results]
    subprocess.run([*enter, "rm", f"{state}/much"], check=True)
    last = run_kept(adder)
    kept = [result for result in results if not lost(result)]
    check_kept(adder, [first, *kept, last])


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://adder:s%zzQUIET@127.0.0.1:1/db",
        "postgresql://adder:QUIET/s@127.0.0.1:1/db",
        "postgresql://adder:QUIET?s@127.0.0.1:1/db",
        "postgresql://adder:s@QUIET@127.0.0.1:1/db",
        "postgresql://adder@127.0.0.1:1/db?password=QUIET%zz",
        "postgresql://adder@127.0.0.1:1?password=s@QUIET",
    ],
)
def test_a_password_that_the_url_does_not_escape_is_told_nobody(make_adder, url):
    if not store_world.programs():
        pytest.skip("there is no PostgreSQL on this host (the package postgresql)")
    adder = make_adder(config(url))
    result = adder.run("print(1)")
    assert lost(result) and "QUIET" not in repr(result)
    for command in ("serve", "status", "--json"), ("doctor", "store"), ("doctor", "store", "--json"), ("history", "list"):
        ended = adder.call(*command)
        assert "QUIET" not in ended.stdout + ended.stderr, command
