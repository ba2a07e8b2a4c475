# SPDX-License-Identifier: Apache-2.0
"""Who gets a sandbox when there are fewer than are asked for, and what callers see of zygotes that come and go: nothing."""
import os
import signal

import pytest

import harness
from harness import FOREVER, wait_until


@pytest.fixture
def make_neighbour(make_adder, user):
    """Makes a second user of an Adder's daemon. Root alone may use the daemon of another."""
    if os.geteuid() != 0 or user.uid == 0:
        pytest.skip("another owner can use the daemon of an ordinary user only, and only as root")

    def make(adder):
        neighbour = make_adder(f"[daemon]\nsocket = {adder.socket}\n[environment]\ndefault = system\n")
        neighbour.user = harness.User("root", 0, [])
        return neighbour

    return make


def ended(run):
    """The result of a run that was started with json_reply."""
    out, err = run.communicate(timeout=harness.DEADLINE)
    harness.gathered.append((run.args, run.returncode, out, err))
    return harness.Adder.parse(out.decode(), err.decode(), run.returncode)


def occupy(adder):
    """A run that stays."""
    run = adder.start(FOREVER, "--timeout", "100")
    assert run.stdout.readline() == b"started\n"
    return run


def leave(*runs):
    for run in runs:
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=harness.DEADLINE)


def wait_in_line(adder, count, code="print('served')", *options):
    """Runs that have to wait, one after the other, so that it is known who came first."""
    waiting = adder.status()["engine"]["waiting"]
    runs = []
    for index in range(1, count + 1):
        runs.append(adder.start(code, "--timeout", "100", *options, json_reply=True))
        wait_until(lambda: adder.status()["engine"]["waiting"] == waiting + index, "it to wait")
    return runs


@pytest.mark.quick
def test_who_fills_the_queue_makes_room_for_another(make_adder, make_neighbour):
    adder = make_adder("[pool]\nmax_running = 1\nmax_queued = 4\n")
    neighbour = make_neighbour(adder)
    adder.run("1")
    first = occupy(adder)
    flood = wait_in_line(adder, 4)
    late = adder.run("1")
    assert late.outcome == "busy" and "max_queued = 4" in late.error["message"]

    guest = neighbour.start("print('guest')", "--timeout", "100", json_reply=True)
    displaced = ended(flood.pop())
    assert displaced.outcome == "busy" and "took the place of the newest" in displaced.error["message"]
    assert guest.poll() is None and adder.status()["engine"]["waiting"] == 4

    leave(first)
    assert ended(guest).stdout == "guest\n"
    assert [ended(run).stdout for run in flood] == ["served\n"] * 3
    adder.stop()
