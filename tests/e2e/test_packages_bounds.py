# SPDX-License-Identifier: Apache-2.0
"""What callers who may ask for packages can fill, block or leave behind: the disk while pip runs, installations at once, sets that are
kept on disk and by a daemon."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import threading

import http_bed
import package_index
import pytest
from harness import wait_until
from package_index import kept, pools, refusal

MIB = 1 << 20


@pytest.fixture
def index():
    with contextlib.closing(package_index.Index()) as made:
        for name in ("one", "two", "three", "four"):
            made.add(name)
        yield made


@pytest.fixture
def make(make_adder, index):
    return package_index.adders(make_adder, index)


def left(adder):
    """What is on disk of packages."""
    return sorted((adder.state / "with").iterdir())


def packages(adder):
    """Of all sets that are kept."""
    return sorted(name for [name] in kept(adder).values())


def threads_named(adder, name):
    """How many of the daemon's go by NAME."""
    names = []
    for path in pathlib.Path(f"/proc/{adder.daemon()}/task").glob("*/comm"):
        with contextlib.suppress(OSError):  # it has ended
            names.append(path.read_text().strip())
    return names.count(name)


# ---- the disk, while pip runs ----


def test_an_installation_ends_when_it_is_too_large(make, index):
    """The index holds back the last package, so that pip would wait for as long as it may."""
    for name in ("aa", "bb"):
        index.add(name, files={f"{name}.bin": os.urandom(12 * MIB)})
    index.held.add("zz")
    adder = make("[packages]\nbuild_bytes = 16MiB\ninstall_ms = 1h\n")
    message = refusal(adder, "aa", "bb", "zz")
    assert message == (
        "cannot install aa, bb, zz: that needs more than 16 MiB on disk while it is installed ([packages] build_bytes)"
    )
    assert not left(adder)
    adder.stop()


def test_a_file_that_unpacks_to_too_much(make, index):
    index.add("bomb", files={"bomb.bin": bytes(100 * MIB)})
    assert len(index.files["bomb-1.0-py3-none-any.whl"]) < MIB
    adder = make("[packages]\nbuild_bytes = 16MiB\n")
    message = refusal(adder, "bomb")
    assert "more than 16 MiB" in message and str(adder.state) not in message
    assert not left(adder)
    adder.stop()


def test_empty_files_count(make, index):
    index.add("crumbs", files={f"crumbs/{n}.txt": "" for n in range(1000)})
    adder = make("[packages]\nenvironment_bytes = 3MiB\nbuild_bytes = 64MiB\n")
    assert "the packages have" in refusal(adder, "crumbs")
    adder.stop()


def test_deep_directories_are_removed(make, index):
    """With fewer descriptors than there are levels."""
    index.add("deep", files={"a/" * 900 + "deep.py": "", "deep.bin": os.urandom(3 * MIB)})
    adder = make("[packages]\nenvironment_bytes = 2MiB\nbuild_bytes = 64MiB\n")
    assert adder.run("1").outcome == "ok"
    resource.prlimit(adder.daemon(), resource.RLIMIT_NOFILE, (500, 500))
    assert "the packages have" in refusal(adder, "deep")
    assert not left(adder)
    adder.stop()


def test_what_pip_says_names_no_place_of_the_host(make, index):
    """Here that a file and a directory have one name."""
    index.add("first", files={"clash": "a file"})
    index.add("second", files={"clash/inside.py": ""})
    adder = make()
    message = refusal(adder, "first", "second")
    assert message.startswith("cannot install first, second: ") and str(adder.state) not in message, message
    adder.stop()


@pytest.mark.parametrize("place", ["bin/python", "pyvenv.cfg"])
def test_a_package_that_replaces_the_interpreter(make, index, place):
    index.add("usurper", files={"usurper.py": "", f"usurper-1.0.data/data/{place}": "#!/bin/sh\n"})
    adder = make()
    assert "a package replaces the interpreter" in refusal(adder, "usurper")
    assert not left(adder)
    adder.stop()


def test_what_a_killed_daemon_left_is_removed(make, index):
    adder = make()
    index.held.add("one")
    run = adder.start("1", "--with", "one")
    index.arrived.wait(adder.deadline)
    [folder] = left(adder)
    pid = adder.daemon()
    os.kill(pid, signal.SIGKILL)
    run.communicate(timeout=adder.deadline)
    wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the end of the daemon")
    assert left(adder) == [folder]
    assert adder.run("import two", "--with", "two").outcome == "ok"
    assert packages(adder) == ["two"] and len(left(adder)) == 1
    adder.stop()


# ---- installations at once ----


class Asking:
    """Runs over HTTP of SECRET's owner, each in a thread."""

    def __init__(self, served):
        self.served = served
        self.threads = concurrent.futures.ThreadPoolExecutor(16)

    def begin(self, name, secret=None):
        return self.threads.submit(self.ask, name, secret)

    def ask(self, name, secret=None):
        return self.served.post("/v1/runs", {"code": f"import {name}", "packages": [name], "profile": "open"}, secret=secret)

    @contextlib.contextmanager
    def waiting(self, name):
        """A run that waits for its turn; it ends when its caller goes away."""
        body = json.dumps({"code": f"import {name}", "packages": [name], "profile": "open", "stream": True}).encode()
        head = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        with self.served.connect() as connection:
            connection.sendall(self.served.head("POST", "/v1/runs", *head, secret=None) + body)
            http_bed.read_until(connection, b"waiting until fewer packages are being installed")
            yield connection


@pytest.fixture
def asking(make, index):
    """Two installations at once, one of an owner, one more of whom may wait."""
    lines = "[packages]\nbuilds = 2\nbuilds_per_owner = 1\nbuilds_waiting_per_owner = 1\n"
    with package_index.served(make(lines)) as bed:
        asks = Asking(bed)
        yield asks
        index.release()
        asks.threads.shutdown()


def asked(index, name):
    return f"/simple/{name}/" in index.asked


def ok(reply):
    return reply.status == 200 and reply.json()["outcome"] == "ok"


def test_few_are_installed_at_once(asking, index):
    """One is, the next waits, a third is refused with advice; who asks for the same, or is another owner, is held up by none."""
    index.held.add("one")
    first = asking.begin("one")
    wait_until(lambda: asked(index, "one"), "pip")
    with asking.waiting("two") as connection:
        assert not asked(index, "two")
        busy = asking.ask("three")
        assert busy.status == 429 and busy.json()["code"] == "busy" and "ask again" in busy.json()["detail"], busy
        session = asking.served.post("/v1/sessions", {"packages": ["three"], "profile": "open"})
        assert session.status == 429, session
        same = asking.begin("one")
        other = asking.served.token("other", "--role", "user")
        assert ok(asking.ask("four", secret=other)), "it does not wait for the first"
        assert not asked(index, "two") and not first.done() and not same.done()
        index.release()
        http_bed.read_until(connection, b'"outcome":"ok"')
    assert ok(first.result()) and ok(same.result()) and ok(asking.ask("three"))


def test_what_nobody_waits_for_is_not_begun(asking, index):
    index.held.add("one")
    first = asking.begin("one")
    wait_until(lambda: asked(index, "one"), "pip")
    with asking.waiting("two"):
        pass
    wait_until(lambda: asking.served.get("/v1/status").json()["running"] == 1, "the end of the run that waited")
    with asking.waiting("three"):  # its place in line was free
        index.release()
        assert ok(first.result())
        wait_until(lambda: asked(index, "three"), "the next in line")
    assert not asked(index, "two")


def test_those_who_hang_up_leave_no_threads_behind(asking, index):
    index.held.add("one")
    first = asking.begin("one")
    wait_until(lambda: asked(index, "one"), "pip")
    for number in range(12):
        with asking.waiting(f"junk{number}"):
            pass
        wait_until(lambda: asking.served.get("/v1/status").json()["running"] == 1, "the end of the run that waited")
    with asking.waiting("two"):
        wait_until(lambda: threads_named(asking.served.adder, "adder-packages") == 2, "those that nobody waits for to end")
    index.release()
    assert ok(first.result())


# ---- sets ----


def test_the_least_recently_used_set_makes_room(make):
    """On disk and in the daemon, whose threads and interpreters go with it."""
    adder = make("[packages]\nsets = 2\nwarm = 1\n")
    for name in ("one", "two", "one", "three", "four"):
        assert adder.run(f"import {name}", "--with", name).outcome == "ok"
        wait_until(lambda: len(pools(adder)) <= 2, "the set that was used least to end")
    assert packages(adder) == ["four", "three"]
    assert {pool["environment"] for pool in pools(adder)} == set(kept(adder))
    wait_until(lambda: threads_named(adder, "adder-pool") <= 4, "their threads, and one of each that others wait for")
    adder.stop()


def test_a_set_in_use_stays(make):
    adder = make("[packages]\nsets = 2\nwarm = 1\n")
    for name in ("one", "two"):
        made = adder.call("session", "new", "--env", adder.environment, "--with", name, "--name", name)
        assert made.returncode == 0, made
    assert "in use" in refusal(adder, "three")
    assert packages(adder) == ["one", "two"]
    assert adder.call("session", "rm", "one").returncode == 0
    assert adder.run("import three", "--with", "three").outcome == "ok"
    assert packages(adder) == ["three", "two"]
    assert adder.call("run", "--session", "two", "-c", "import two; print(two.version)").stdout == "1.0\n"
    adder.stop()


def test_a_set_makes_room_when_its_use_has_ended(make, index):
    """Also where that is after room was first looked for."""
    for name in ("big", "large"):
        index.add(name, files={f"{name}.py": "", f"{name}.bin": os.urandom(3 * MIB)})
    adder = make("[packages]\ncache_bytes = 5MiB\n")
    with adder.start("import big\nprint('started', flush=True)\ninput()", "--with", "big", stdin=subprocess.PIPE) as using:
        assert using.stdout.readline() == b"started\n"
        run = adder.start("import large", "--with", "large", json_reply=True)
        wait_until(lambda: index.installs_of("large") and len(left(adder)) == 2, "pip")
        wait_until(lambda: not list((adder.state / "with").glob("*/tmp")), "the end of pip")
        using.stdin.write(b"\n")
        assert using.wait(adder.deadline) == 0
    out, _ = run.communicate(timeout=adder.deadline)
    assert json.loads(out)["outcome"] == "ok", out
    assert packages(adder) == ["large"]
    adder.stop()


def test_the_sets_of_an_owner_make_room_for_each_other(make):
    """Not those of another, though they were used before."""
    with package_index.served(make("[packages]\nsets_per_owner = 1\nwarm = 1\n")) as bed:
        asks = Asking(bed)
        other = bed.token("other", "--role", "user")
        assert ok(asks.ask("one", secret=other))
        for name in ("two", "three", "four"):
            assert ok(asks.ask(name))
        assert packages(bed.adder) == ["four", "one"]
        wait_until(lambda: {pool["environment"] for pool in pools(bed.adder)} == set(kept(bed.adder)), "the others to end")


def test_an_owner_of_many_sets_leaves_the_interpreters_of_others_ready(make):
    with package_index.served(make("[packages]\nwarm = 2\n")) as bed:
        asks = Asking(bed)
        other = bed.token("other", "--role", "user")
        assert ok(asks.ask("one", secret=other))
        [name] = kept(bed.adder)
        for package in ("two", "three", "four"):
            assert ok(asks.ask(package))
            wait_until(lambda: package_index.zygotes(bed.adder) == 2, "two interpreters")
        assert ok(asks.ask("one", secret=other))
        assert [pool["starts"] for pool in pools(bed.adder) if pool["environment"] == name] == [1]


def test_the_bytes_of_an_owner(make, index):
    for name in ("big", "huge", "large"):
        index.add(name, files={f"{name}.py": "", f"{name}.bin": os.urandom(3 * MIB)})
    with package_index.served(make("[packages]\ncache_bytes_per_owner = 5MiB\nwarm = 1\n")) as bed:
        asks = Asking(bed)
        other = bed.token("other", "--role", "user")
        assert ok(asks.ask("big", secret=other)) and ok(asks.ask("huge")) and ok(asks.ask("large"))
        assert packages(bed.adder) == ["big", "large"]


def test_many_sets_and_few_places(make, index):
    """Callers at once, each with a set of its own, while few may be there: each has an answer, and none hangs."""
    names = [f"many{n}" for n in range(6)]
    for name in names:
        index.add(name)
    adder = make("[packages]\nsets = 3\nwarm = 1\nbuilds_per_owner = 2\n")
    outcomes = []

    def ask(name):
        for _ in range(4):
            outcomes.append(adder.run(f"import {name}", "--with", name).outcome)

    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 24 and set(outcomes) <= {"ok", "busy", "failed"} and "ok" in outcomes
    assert len(kept(adder)) <= 3
    wait_until(lambda: adder.run("import one", "--with", "one").outcome == "ok", "a place")
    adder.stop()
