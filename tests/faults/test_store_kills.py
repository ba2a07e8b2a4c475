# SPDX-License-Identifier: Apache-2.0
"""The daemon is killed again and again while clients run code, read its long output and put files in. What a client was told
is kept, is there afterwards, whole; and what is there, is all that there is."""
import collections
import hashlib
import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest

import harness
import stored
from harness import wait_until

CLIENTS = 4
CONFIG = """
[environment]
default = system

[pool]
parked = 2
"""

# Two files of a size that follows from the seed, and with every third run more output than a reply holds.
CODE = """
import random, sys
seed = {seed}
chance = random.Random(seed)
open('/tmp/output/first.bin', 'wb').write(chance.randbytes(chance.randrange(1, 300_000)))
open('second.txt', 'w').write(f'run {{seed}}\\n' * chance.randrange(1, 2_000))
open('same.txt', 'w').write('the same in every run')
print(f'{{seed}} of ' * 40_000 if seed % 3 == 0 else seed)
"""


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Load:
    """Clients of ADDER, each a thread that starts one command after the other. `kept` is what they were told is kept."""

    def __init__(self, adder, first=0):
        self.adder = adder
        self.changed = threading.Condition()
        self.over = False
        self.runs, self.files, self.outputs = [], {}, {}
        self.told = 0
        self.ended = collections.Counter()
        self.problems = []
        self.threads = [threading.Thread(target=self.client, args=(first + number,)) for number in range(CLIENTS)]
        for thread in self.threads:
            thread.start()

    def call(self, *arguments):
        return subprocess.run(
            self.adder.command(*arguments),
            env=self.adder.process_environment(),
            cwd=self.adder.scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=harness.DEADLINE * 2,
        )

    def client(self, number):
        seed = number
        try:
            while not self.over:
                (self.put if seed // CLIENTS % 4 == 3 else self.run)(seed)
                seed += CLIENTS
        except Exception as error:
            self.problems.append(error)

    def tell(self, kind, files, run_id=None, output=None):
        with self.changed:
            self.ended[kind] += 1
            self.files.update(files)
            if run_id:
                self.runs.append(run_id)
            if output:
                self.outputs[run_id] = output
            self.told += 1
            self.changed.notify_all()

    def run(self, seed):
        ended = self.call("run", "--json", "-c", CODE.format(seed=seed))
        if not ended.stdout.endswith(b"}\n"):
            self.ended["no answer"] += 1
            return
        result = json.loads(ended.stdout)
        if result["outcome"] != "ok":
            self.ended[result["outcome"]] += 1
            return
        assert len(result["files"]) == 3, result
        files = {file["file_id"]: file["sha256"] for file in result["files"]}
        if result["warnings"]:
            self.ended["warned: " + result["warnings"][0][:200]] += 1
            return
        assert None not in files and all(file["url"] for file in result["files"]), result
        output = None
        if seed % 3 == 0:
            assert result["truncated"] and result["result_id"] == result["run_id"], result
            output = f"{seed} of " * 40_000 + "\n"
        self.tell("run", files, result["run_id"], output)

    def put(self, seed):
        content = random.Random(seed).randbytes(1 + seed * 7919 % 500_000)
        path = self.adder.file(f"put-{seed}.bin", content)
        ended = self.call("file", "put", "--json", path)
        path.unlink()
        if ended.returncode != 0:
            self.ended["not put"] += 1
            return
        [file] = json.loads(ended.stdout)["files"]
        self.tell("put", {file["file_id"]: sha256(content)})

    def wait_for(self, more):
        """Until MORE commands were told that what they made is kept."""
        with self.changed:
            goal = self.told + more
            assert self.changed.wait_for(lambda: self.told >= goal or self.problems, harness.DEADLINE * 2), self.ended
        assert not self.problems, self.problems

    def end(self):
        self.over = True
        for thread in self.threads:
            thread.join(harness.DEADLINE * 3)
            assert not thread.is_alive()
        assert not self.problems, self.problems


def kill_daemon(adder):
    pid = wait_until(adder.daemon, "a daemon to kill")
    process = harness.Process(pid)
    process.signal(signal.SIGKILL)
    wait_until(lambda: not process.alive(), f"{process} to be dead")


def check(adder, *options):
    ended = adder.call("doctor", "store", "--check", "--json", *options)
    assert ended.returncode == 0, ended
    report = json.loads(ended.stdout)
    assert report["healthy"], report
    return report


def look_at_all(store, load):
    """Every row has its file and every file its row, by what the database and the place of files say themselves."""
    rows, blobs = store.rows(), store.blobs()
    assert {row["blob"] for row in rows} == set(blobs)
    assert len({row["state"] for row in rows}) <= 1, "none is half written, or half removed"
    for row in rows:
        content = blobs[row["blob"]]
        assert (len(content), sha256(content)) == (row["bytes"], row["sha256"]), row
    known = {row["id"]: row["sha256"] for row in rows}
    assert {name: known.get(name) for name in load.files} == load.files
    records = store.run_ids()
    assert len(set(records)) == len(records) and set(load.runs) <= set(records)
    assert {row["run_id"] for row in rows if row["run_id"]} <= set(records), "no file of a run that is not on record"


def ask_for_some(adder, load, most=20):
    """The same as somebody sees it who asks."""
    chance = random.Random(0)
    for run_id in chance.sample(load.runs, min(most, len(load.runs))):
        ended = adder.call("history", "show", run_id, "--json")
        assert ended.returncode == 0 and json.loads(ended.stdout)["run_id"] == run_id, ended
    folder = adder.folder("got")
    for name in chance.sample(sorted(load.files), min(most, len(load.files))):
        ended = adder.call("file", "get", name, "--out", folder / name)
        assert ended.returncode == 0, ended
        assert sha256((folder / name).read_bytes()) == load.files[name]
    for run_id in chance.sample(sorted(load.outputs), min(most, len(load.outputs))):
        ended = adder.call("history", "output", run_id)
        assert ended.stdout == load.outputs[run_id], ended.stderr


def kill_under_load(adder, store, times):
    chance = random.Random(times)
    load = Load(adder)
    try:
        for _ in range(times):
            load.wait_for(chance.randrange(1, CLIENTS + 1))
            time.sleep(chance.uniform(0, 0.05))  # not always when a client was just answered
            kill_daemon(adder)
        load.wait_for(1)
    finally:
        load.end()
    print(dict(load.ended))
    check(adder)
    again = check(adder, "--deep")
    found = {name: again[name] for name in ("lost", "forgotten", "unknown", "unknown_removed", "swept", "problems")}
    assert not any(found.values()), f"what the first has put right stays right: {found}"
    assert adder.call("history", "verify").returncode == 0
    ask_for_some(adder, load)
    adder.stop()
    look_at_all(store, load)


@pytest.mark.quick
@pytest.mark.both_users
def test_a_few_kills(make_adder, user):
    if user.name == "nobody":
        pytest.skip("many times as nobody, below")
    adder = make_adder(CONFIG)
    kill_under_load(adder, stored.Local(None, user.uid).of(adder), 3)


# --deep: a hundred of each; ADDER_KILLS=N is so many.
KILLS = {("sqlite-directory", "root"): 20, ("sqlite-directory", "nobody"): 10, ("postgres-s3", "root"): 15}


@pytest.mark.slow
@pytest.mark.both_users
def test_nothing_that_was_told_is_lost(make_adder, make_store, store_kind, user, request):
    if (store_kind, user.name) not in KILLS:
        pytest.skip("servers do not know who kills their client: once is enough")
    store = make_store()
    adder = make_adder(CONFIG + store.config)
    times = 100 if request.config.getoption("deep") else KILLS[store_kind, user.name]
    kill_under_load(adder, store.of(adder), int(os.environ.get("ADDER_KILLS", times)))


SHARED = 1_000_000  # seeds of the second one's runs


@pytest.mark.slow
def test_one_that_is_killed_takes_nothing_of_another(make_adder, make_store, store_kind):
    """Two daemons, each with a state directory of its own, as those of two users are, and one store."""
    store = make_store()
    first = make_adder(CONFIG + store.config)
    adders = [first, make_adder(CONFIG + store.of(first).shared_config())]
    chance = random.Random(7)
    loads = [Load(adder, first) for adder, first in zip(adders, (0, SHARED))]
    try:
        for _ in range(10):
            loads[1].wait_for(1)
            time.sleep(chance.uniform(0, 0.05))
            kill_daemon(adders[1])
            loads[0].wait_for(1)
            check(adders[0])
    finally:
        for load in loads:
            load.end()
    assert set(loads[0].ended) == {"run", "put"}, "the other has not lost a thing meanwhile"
    check(adders[1])
    for adder in adders:
        adder.stop()
    loads[0].runs += loads[1].runs
    loads[0].files.update(loads[1].files)
    look_at_all(store, loads[0])
