# SPDX-License-Identifier: Apache-2.0
"""A thousand runs in a row: nothing is left behind, and no two sandboxes are alike."""
import os

import pytest

import harness
from harness import wait_until

RUNS, SETTLED = 1000, 200

CODE = """
import os, random, sys, tempfile, uuid
numbers = [random.random(), uuid.uuid4(), os.urandom(8).hex(), next(tempfile._get_candidate_names()), random.SystemRandom().random()]
if "numpy" in sys.modules:
    import numpy
    numbers += [numpy.random.rand(), numpy.random.default_rng().random()]
print(*numbers)
"""


def zygote_held(adder):
    """Memory, shared with sandboxes or not, and descriptors of the one zygote that serves the environment."""
    pid = adder.at_rest()
    words = {b"--environment", adder.environment.encode()}
    [zygote] = [process for process in harness.descendants(pid) if process.parent == pid and words <= set(process.arguments())]
    return {
        "pid": zygote.pid,
        "memory": harness.status_bytes(zygote.pid, "RssAnon"),
        "descriptors": len(os.listdir(f"/proc/{zygote.pid}/fd")),
    }


@pytest.fixture(scope="session")
def thousand(shared_adder):
    """Runs them and tells what was seen; the tests below look at it from several sides."""
    shared_adder.stop()  # a fresh daemon has one zygote of the environment, whatever other tests asked for
    settings = shared_adder.config / "adder.conf"
    settings.write_text(settings.read_text() + "\n[daemon]\nevents = 16\n")  # full long before the memory is settled
    shared_adder.run("1")
    pid = shared_adder.daemon()
    lines, memory, before = [], {}, None
    for index in range(1, RUNS + 1):
        ended = shared_adder.call("run", *(["--env", shared_adder.environment]), "-c", CODE)
        harness.gathered.clear()
        assert ended.returncode == 0 and ended.stderr == "", ended
        lines.append(ended.stdout.split())
        if index == SETTLED:
            memory["settled"], before = harness.private_bytes(pid), harness.held(shared_adder, pid)
            memory["zygote, settled"] = zygote_held(shared_adder)
    memory["last"] = harness.private_bytes(pid)
    memory["zygote, last"] = zygote_held(shared_adder)
    return {"adder": shared_adder, "pid": pid, "lines": lines, "memory": memory, "before": before}


@pytest.mark.slow
def test_all_are_different(thousand):
    columns = list(zip(*thousand["lines"]))
    assert len(columns) >= 5 and all(len(line) == len(columns) for line in thousand["lines"])
    if thousand["adder"].environment == "science":
        assert len(columns) == 7, "numpy is loaded ahead"
    for column in columns:
        assert len(set(column)) == RUNS


@pytest.mark.slow
def test_memory_of_the_daemon_stays(thousand):
    grown = thousand["memory"]["last"] - thousand["memory"]["settled"]
    assert grown < 256 * 1024, thousand["memory"]


@pytest.mark.slow
def test_zygote_stays_as_it_is(thousand):
    settled, last = thousand["memory"]["zygote, settled"], thousand["memory"]["zygote, last"]
    assert last["pid"] == settled["pid"] and last["descriptors"] == settled["descriptors"]
    assert last["memory"] - settled["memory"] < 256 * 1024, (settled, last)


@pytest.mark.slow
def test_nothing_is_left(thousand):
    adder, pid, before = thousand["adder"], thousand["pid"], thousand["before"]
    assert adder.daemon() == pid, "the daemon is the same"

    def settled():
        now = harness.held(adder, pid)
        return all(now[name] <= before[name] for name in now)

    wait_until(settled, f"no more than {before} to be held")


@pytest.mark.slow
def test_memory_while_a_run_prints_a_gigabyte(adder):
    """The daemon keeps head and tail, not what lies between."""
    adder.run("1")
    pid = adder.daemon()
    before = harness.status_bytes(pid, "VmRSS")
    harness.forget_peak(pid)
    result = adder.run(
        "import os\n"
        "b = b'x' * (1 << 20)\n"
        "for i in range(1024):\n"
        "    n = 0\n"
        "    while n < len(b): n += os.write(1, b[n:])",
        "--limit",
        "output_bytes=2G",
        "--limit",
        "cpu_ms=300000",
        "--timeout",
        "300",
        timeout=400,
    )
    assert (result.outcome, result.stdout_bytes) == ("ok", 1 << 30)
    assert harness.status_bytes(pid, "VmHWM") - before < 32 << 20
