# SPDX-License-Identifier: Apache-2.0
"""Limits and outcomes: each is told from facts, with the number that was reached, and the exit code of the table."""
import signal

import pytest

import harness

pytestmark = pytest.mark.both_users

BUSY = "while True: pass"


@pytest.mark.quick
@pytest.mark.parametrize("option", [["--timeout", "4"], ["--limit", "wall_ms=3700"]])
def test_timeout(adder, option):
    result = adder.run("import time\nprint('started', flush=True)\ntime.sleep(1000)", *option)
    assert (result.outcome, result.exit_status) == ("timeout", 124)
    assert result.stdout == "started\n"
    assert result.usage["wall_ms"] >= result.limits["wall_ms"]


def test_timeout_of_code_that_sleeps(adder):
    assert adder.run("import time\ntime.sleep(1000)", "--limit", "wall_ms=500").outcome == "timeout"


def test_timeout_names_its_number(adder):
    result = adder.run(BUSY, "--limit", "wall_ms=700")
    assert "0.7" in str(result.error) or "700" in str(result.error)


@pytest.mark.quick
def test_cpu_limit(adder):
    result = adder.run(BUSY, "--limit", "cpu_ms=400", "--timeout", "60")
    assert (result.outcome, result.exit_status) == ("cpu_limit", 137)
    assert result.usage["cpu_ms"] >= 350


def test_cpu_limit_of_all_processes_together(adder):
    code = "import os\nfor i in range(3): os.fork()\n" + BUSY
    result = adder.run(code, "--limit", "cpu_ms=1500", "--timeout", "60")
    assert result.outcome == "cpu_limit"


def test_sleep_costs_no_processor_time(adder):
    result = adder.run("import time\ntime.sleep(0.8)", "--limit", "cpu_ms=500")
    assert result.outcome == "ok"


@pytest.mark.quick
def test_memory_limit(adder):
    result = adder.run(
        "b = []\n" "while True: b.append(b'x' * 1_000_000)", "--memory", "100M", "--timeout", "60"
    )
    assert (result.outcome, result.exit_status) == ("memory_limit", 137)


def test_memory_within_the_limit(adder):
    result = adder.run("b = bytearray(b'x') * 70_000_000\nprint(len(b))", "--memory", "100M")
    assert (result.outcome, result.stdout) == ("ok", "70000000\n")


@pytest.mark.parametrize(
    "code, outcome", [("print(1)", "ok"), ("b = []\nwhile True: b.append(b'x' * 1_000_000)", "memory_limit")]
)
def test_the_least_memory(adder, code, outcome):
    """What a sandbox holds before its code runs fits into the least limit, in whichever sandbox the run is."""
    least = adder.run("1", "--limit", "memory_bytes=1").error["message"].split()[-2] + "M"
    outcomes = [adder.run(code, "--limit", f"memory_bytes={least}").outcome for _ in range(60)]
    assert set(outcomes) == {outcome}


@pytest.mark.parametrize(
    "size, count", [("100M", 100 << 20), ("0.5G", 1 << 29), ("67108864", 1 << 26), ("1GiB", 1 << 30)]
)
def test_sizes(adder, size, count):
    result = adder.run("pass", "--memory", size)
    assert result.outcome == "failed" or result.limits["memory_bytes"] == count


@pytest.mark.quick
def test_output_limit(adder):
    result = adder.run("while True: print('x' * 1000)", "--limit", "output_bytes=100000")
    assert (result.outcome, result.exit_status) == ("output_limit", 137)
    assert result.stdout_bytes >= 100000 and result.stdout.startswith("xxx")


def test_output_limit_counts_both_streams(adder):
    result = adder.run(
        "import sys\n" "for i in range(100): sys.stdout.write('x' * 600); sys.stderr.write('x' * 600)",
        "--limit",
        "output_bytes=100000",
    )
    assert result.outcome == "output_limit"


def test_output_within_the_limit(adder):
    result = adder.run("import sys\nsys.stdout.write('x' * 100000)", "--limit", "output_bytes=100000")
    assert (result.outcome, result.stdout_bytes) == ("ok", 100000)


@pytest.mark.parametrize(
    "name", ["SIGSEGV", "SIGABRT", "SIGTERM", "SIGKILL", "SIGBUS", "SIGFPE", "SIGILL", "SIGUSR1", "SIGSYS"]
)
def test_crashes(adder, name):
    number = getattr(signal, name)
    result = adder.run(
        "import os\n"
        "print('before', flush=True)\n"
        f"os.kill(os.getpid(), {int(number)})\n"
        "while True: pass"
    )
    assert result.outcome == "crashed" and result.stdout == "before\n"
    assert result.exit_status == 128 + number and result.signal == name
    assert str(int(number)) in result.error["message"]


def test_segmentation_fault(adder):
    result = adder.run("import ctypes\nctypes.string_at(0)")
    assert (result.outcome, result.exit_status) == ("crashed", 139)


def test_abort(adder):
    result = adder.run("import os\nos.abort()")
    assert (result.outcome, result.exit_status) == ("crashed", 134)


def test_a_child_that_crashes_is_the_codes_own_matter(adder):
    result = adder.run(
        "import os\n"
        "pid = os.fork()\n"
        "if pid == 0: os.kill(os.getpid(), 11)\n"
        "print(os.waitpid(pid, 0)[1])"
    )
    assert (result.outcome, result.stdout) == ("ok", "11\n")


def test_killed_by_itself_is_not_out_of_memory(adder):
    """The kernel's count decides, not the signal."""
    result = adder.run(
        "import os\n" "b = bytearray(b'x') * 50_000_000\n" "os.kill(os.getpid(), 9)", "--memory", "100M"
    )
    assert result.outcome == "crashed" and result.signal == "SIGKILL"


def test_pids(adder):
    code = """
import os
children = 0
try:
    while True:
        if os.fork() == 0:
            while True: os.read(0, 1) or __import__("signal").pause()
        children += 1
except OSError as error:
    print(children, error.errno)
"""
    for pids in (5, 20):
        result = adder.run(code, "--limit", f"pids={pids}")
        assert result.outcome == "ok"
        children, errno = map(int, result.stdout.split())
        assert errno == 11 and pids - 4 <= children <= pids + 1


def test_threads_count(adder):
    code = """
import threading
gate, count = threading.Event(), 0
try:
    while True:
        threading.Thread(target=gate.wait, daemon=True).start()
        count += 1
except RuntimeError:
    print(count)
"""
    result = adder.run(code, "--limit", "pids=20")
    assert result.outcome == "ok" and 14 <= int(result.stdout) <= 20


def test_open_files(adder):
    code = (
        "import os\n"
        "count = 0\n"
        "try:\n"
        "    while True: os.dup(0); count += 1\n"
        "except OSError as e: print(count, e.errno)"
    )
    result = adder.run(code, "--limit", "open_files=32")
    count, errno = map(int, result.stdout.split())
    assert errno == 24 and 32 - 8 <= count <= 32


def test_shared_memory_size(adder):
    code = (
        "f = open('/dev/shm/x', 'wb')\n"
        "try:\n"
        "    while True: f.write(bytes(65536)); f.flush()\n"
        "except OSError as e: print(e.errno, f.tell() >> 20)"
    )
    result = adder.run(code, "--limit", "shm_bytes=2M")
    assert result.outcome == "ok" and result.stdout.split()[0] == "28" and int(result.stdout.split()[1]) <= 2


def test_workspace_file_count(adder):
    code = (
        "count = 0\n"
        "try:\n"
        "    while True: open(str(count), 'w').close(); count += 1\n"
        "except OSError as e: print(count, e.errno)"
    )
    result = adder.run(code, "--limit", "workspace_files=100", "--limit", "files=0")
    count, errno = map(int, result.stdout.split())
    assert errno == 28 and 80 <= count <= 100


# Limits that the kernel enforces while the run goes on: how to meet them, and what the result says of it.
MET = {
    "pids": (
        "pids=9",
        "import os\nwhile True:\n    if os.fork() == 0: __import__('signal').pause()",
        ("processes", "pids: 9 at once"),
    ),
    "pids, by threads": (
        "pids=9",
        "import threading\n"
        "while True: threading.Thread(target=threading.Event().wait, daemon=True).start()",
        ("processes", "pids: 9 at once"),
    ),
    "pids, by a program": (
        "pids=9",
        "import subprocess\nwhile True: subprocess.Popen(['sleep', '1000'])",
        ("processes", "pids: 9 at once"),
    ),
    "file_bytes": (
        "file_bytes=3M",
        "with open('x', 'wb') as f:\n    while True: f.write(bytes(1 << 20))",
        ("file_size", "file_bytes: 3 MiB reached by a file"),
    ),
    "file_bytes, by a child": (
        "file_bytes=3M",
        "import os\n"
        "if os.fork() == 0:\n    while True: os.write(os.open('x', os.O_WRONLY | os.O_CREAT | os.O_APPEND), bytes(1 << 20))\n"
        "raise SystemExit(os.wait()[1] == 0)",
        ("file_size", "file_bytes: 3 MiB reached by a file"),
    ),
    "open_files": (
        "open_files=32",
        "files = []\nwhile True: files.append(open('/dev/null'))",
        ("open_files", "open_files: 32 open at once"),
    ),
    "workspace_bytes": (
        "workspace_bytes=2M",
        "with open('x', 'wb') as f:\n    while True: f.write(bytes(1 << 16))",
        ("space", "workspace_bytes: 2 MiB used up"),
    ),
    "workspace_bytes, by /tmp": (
        "workspace_bytes=2M",
        "with open('/tmp/x', 'wb') as f:\n    while True: f.write(bytes(1 << 16))",
        ("space", "workspace_bytes: 2 MiB used up"),
    ),
    "workspace_files": (
        "workspace_files=50",
        "count = 0\nwhile True: open(str(count), 'w').close(); count += 1",
        ("space", "workspace_files: 50 used up"),
    ),
    "shm_bytes": (
        "shm_bytes=2M",
        "with open('/dev/shm/x', 'wb') as f:\n    while True: f.write(bytes(1 << 16))",
        ("space", "shm_bytes: 2 MiB used up"),
    ),
}


def names(result):
    return [(denial["kind"], denial["detail"]) for denial in result.denials]


@pytest.mark.parametrize("name", harness.quick(MET, "pids", "open_files", "workspace_bytes"))
def test_a_limit_that_is_met_is_told(adder, name):
    limit, code, expected = MET[name]
    result = adder.run(code, "--limit", limit)
    assert result.outcome == "error" and names(result) == [expected]


@pytest.mark.parametrize("name", [name for name in MET if name != "file_bytes, by a child"])
def test_a_limit_that_is_met_is_told_also_when_it_is_caught(adder, name):
    limit, code, expected = MET[name]
    caught = "try:\n" + "".join(f"    {line}\n" for line in code.split("\n")) + "except (OSError, RuntimeError): pass"
    result = adder.run(caught, "--limit", limit)
    assert result.outcome == "ok" and names(result) == [expected]


@pytest.mark.parametrize("name", ["pids", "workspace_bytes", "workspace_files"])
def test_a_limit_that_is_met_is_told_also_of_a_run_that_is_ended(adder, name):
    """What the runner would have said is lost; the workspace and the control group are the daemon's own to see."""
    limit, code, expected = MET[name]
    caught = "try:\n" + "".join(f"    {line}\n" for line in code.split("\n")) + "except OSError: pass\n"
    # Of the processor's time: however long a busy host makes it wait, it gets there.
    result = adder.run(caught + BUSY, "--limit", limit, "--limit", "cpu_ms=1s", "--timeout", "5min", "--limit", "files=0")
    if name == "pids" and result.isolation["level"] < 3:
        expected = None
    assert result.outcome == "cpu_limit" and names(result) == ([expected] if expected else [])


@pytest.mark.parametrize("name", MET)
def test_a_limit_that_is_not_met_is_not_told(adder, name):
    limit = MET[name][0]
    code = (
        "import subprocess, threading\n"
        "subprocess.run(['true'])\n"
        "t = threading.Thread(target=print); t.start(); t.join()\n"
        "for place in ('x', '/tmp/x', '/dev/shm/x'): open(place, 'wb').write(bytes(1 << 16))"
    )
    result = adder.run(code, "--limit", limit)
    assert result.outcome == "ok" and result.denials == []


BURN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def test_share_of_the_processors(adder):
    """A fifth of a processor takes five times as long; whatever else the host does, it only adds to that. Where no control
    group can hold it, it is refused rather than forgotten."""
    result = adder.run(BURN, "--limit", "cpu_percent=20")
    if adder.run("1").isolation["level"] < 3:
        assert result.outcome == "refused" and "cpu_percent needs control groups" in result.error["message"]
    else:
        assert result.outcome == "ok" and result.limits["cpu_percent"] == 20
        assert result.usage["wall_ms"] > 3 * result.usage["cpu_ms"] > 0


# Limits that end a run, or cut what comes back, and how the result says so; each with its number.
TOLD = {
    "wall_ms": (["wall_ms=600"], BUSY, "error", "600 ms (wall_ms)"),
    "cpu_ms": (["cpu_ms=400", "wall_ms=1min"], BUSY, "error", "400 ms (cpu_ms)"),
    "memory_bytes": (["memory_bytes=64M"], "b = []\nwhile True: b.append(b'x' * 1_000_000)", "error", "64 MiB (memory_bytes)"),
    "output_bytes": (["output_bytes=100K"], "while True: print('x' * 1000)", "error", "100 KiB (output_bytes)"),
    "code_bytes": (["code_bytes=10"], "print('hello, world')", "error", "10"),
    "value_bytes": (["value_bytes=1000"], "'x' * 10_000", "warnings", "1000 bytes (value_bytes)"),
    "reply_bytes": (["reply_bytes=1000"], "print('x' * 10_000)", "truncated", "True"),
    "files": (["files=1"], "for i in range(3): open(str(i), 'w').close()", "warnings", "1"),
    "files_bytes": (["files_bytes=1000"], "open('x', 'wb').write(bytes(2000))", "warnings", "1000 bytes"),
    "files_depth": (["files_depth=2"], "import os\nos.makedirs('a/b/c'); open('a/b/c/x', 'w').close()", "warnings", "2"),
}


# What has a test of its own here, in test_network.py, or in test_tables.py.
ELSEWHERE = {"stdin_bytes", "cpu_percent", "tables", "table_bytes", "spill_bytes"} | {name for name in harness.LIMITS if name.startswith("network_")}


def test_every_limit_is_told_somewhere():
    assert {name.partition(",")[0] for name in MET} | set(TOLD) | ELSEWHERE == harness.LIMITS


@pytest.mark.parametrize("name", TOLD)
def test_a_limit_is_told_with_its_number(adder, name):
    limits, code, field, words = TOLD[name]
    result = adder.run(code, *[word for limit in limits for word in ("--limit", limit)])
    told = result.fields[field]
    if field == "error" and told["type"] == "MemoryError":  # Python's own words; the number is in the hint
        assert "memory_bytes" in told["hint"]
    else:
        assert words in str(told)
    assert result.denials == []


def test_standard_input_over_its_limit(adder):
    result = adder.run("1", "--stdin", adder.file("x", bytes(2000)), "--limit", "stdin_bytes=1000")
    assert result.outcome == "failed" and "1000" in result.error["message"].replace(",", "")


def test_limits_cannot_be_raised_from_inside(adder):
    code = """
import resource
for name in ("RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_CORE", "RLIMIT_DATA"):
    soft, hard = resource.getrlimit(getattr(resource, name))
    if hard == resource.RLIM_INFINITY:
        continue
    try:
        resource.setrlimit(getattr(resource, name), (hard + 1, hard + 1))
        print("raised", name)
    except (ValueError, OSError):
        pass
"""
    result = adder.run(code)
    assert (result.outcome, result.stdout) == ("ok", "")


def test_no_core_files(adder):
    result = adder.run("import os, resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))\nos.abort()")
    assert result.stdout in ("(1, 1)\n", "") and result.files == []


@pytest.mark.parametrize("name", sorted(harness.LIMITS))
def test_every_limit_can_be_named(adder, name):
    limits = adder.run("pass").limits
    value = limits[name] // 2 if name not in ("code_bytes", "files_depth") else limits[name]
    result = adder.run("pass", "--limit", f"{name}={value}")
    assert result.outcome == "ok" and result.limits[name] == value


@pytest.mark.parametrize("name", sorted(harness.LIMITS))
def test_every_limit_has_a_maximum(adder, name):
    result = adder.run("pass", "--limit", f"{name}={1 << 50}")
    assert result.outcome == "failed" and name in result.error["message"]
    assert any(character.isdigit() for character in result.error["message"]), "it names the maximum"


@pytest.mark.quick
def test_busy(make_adder):
    adder = make_adder("[pool]\nmax_running = 1\nmax_queued = 1\nqueue_wait_ms = 2s\n")
    adder.run("1")
    first = adder.start("print('started', flush=True)\nwhile True: pass", "--timeout", "100")
    assert first.stdout.readline() == b"started\n"
    second = adder.run("1")
    assert (second.outcome, second.exit_status) == ("busy", 75)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)
    assert adder.run("1").outcome == "ok"
    adder.stop()


def test_queue_is_served(make_adder):
    adder = make_adder("[pool]\nmax_running = 2\n")
    running = [adder.start(f"print({index})") for index in range(12)]
    assert [process.communicate(timeout=100)[0] for process in running] == [
        b"%d\n" % index for index in range(12)
    ]
    adder.stop()
