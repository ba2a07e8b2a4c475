# SPDX-License-Identifier: Apache-2.0
"""What two sandboxes, or a sandbox and the daemon, do to each other that no case can tell: a case knows of its own run alone,
these compare two runs or look from outside."""
import harness
from harness import status_bytes, wait_until

LONG = ["--timeout", "100"]
# A bomb takes all processors; it shall not end before it is told to.
ENDLESS = ["--timeout", "600", "--limit", "cpu_ms=1h"]


def test_fork_bomb_does_not_starve_a_neighbour(adder):
    bomb = adder.start(
        "import os\n"
        "print('started', flush=True)\n"
        "while True:\n"
        "    try: os.fork()\n"
        "    except OSError: pass",
        *ENDLESS,
    )
    assert bomb.stdout.readline() == b"started\n"
    result = adder.run(
        "import subprocess\n" "print([subprocess.run(['echo', str(i)]).returncode for i in range(3)])", *LONG
    )
    assert result.outcome == "ok" and result.stdout.endswith("[0, 0, 0]\n")
    assert bomb.poll() is None, "it was still at it"
    bomb.terminate()
    bomb.communicate(timeout=60)


def test_fork_bomb_stays_within_its_number(adder):
    """Seen from outside, where the kernel shows every process."""
    before = len(harness.descendants(adder.at_rest()))
    bomb = adder.start(
        "import os\n"
        "print('started', flush=True)\n"
        "while True:\n"
        "    try: os.fork()\n"
        "    except OSError: pass",
        "--limit",
        "pids=30",
        *ENDLESS,
    )
    assert bomb.stdout.readline() == b"started\n"
    seen = [len(harness.descendants(adder.daemon())) for _ in range(30)]
    bomb.terminate()
    bomb.communicate(timeout=60)
    assert max(seen) <= before + 30 + 20, "thirty, and what the pool parks in the meantime"


def test_each_has_its_own_allowance_of_processes(adder):
    code = """
import os, signal
children = []
try:
    while True:
        pid = os.fork()
        if pid == 0: signal.pause()
        children.append(pid)
except OSError:
    pass
print(len(children), flush=True)
"""
    first = adder.start(code + "signal.pause()", *ENDLESS)
    there = int(first.stdout.readline())
    second = adder.run(code + "for pid in children: os.kill(pid, 9)", *LONG)
    assert first.poll() is None, "it still has them"
    first.terminate()
    first.communicate(timeout=60)
    assert second.outcome == "ok"
    assert there > 30 and int(second.stdout) > 30


def test_flood_of_large_displays(adder):
    """Seen from outside: what a daemon holds of them is given back."""
    pid = adder.daemon()
    before = status_bytes(pid, "VmRSS")
    result = adder.run(
        "import json, os, struct\n"
        "data = json.dumps({'text/plain': 'x' * (1 << 20)}).encode()\n"
        "while True: os.write(3, struct.pack('=II', 3, len(data)) + data)",
        *LONG,
    )
    assert result.outcome == "output_limit"
    wait_until(lambda: status_bytes(pid, "VmRSS") < before + (8 << 20), "the daemon to let go of them")
