# SPDX-License-Identifier: Apache-2.0
"""Code that takes all it can get: processes, memory, time, output, inodes, depth."""
import os

import pytest

import harness
from harness import quick

SHORT = ["--limit", "wall_ms=2000"]
LONG = ["--timeout", "60"]


# ---- processes ----

FORKS = {
    "as fast as it can": "while True:\n    try: os.fork()\n    except OSError: pass",
    "in children that exit": "while True:\n"
    "    try:\n"
    "        if os.fork() == 0: os._exit(0)\n"
    "    except OSError: pass",
    "orphans": "while True:\n"
    "    try:\n"
    "        if os.fork() == 0:\n"
    "            os.fork(); os._exit(0)\n"
    "    except OSError: pass",
    "with signals ignored": "import signal\n"
    "for n in range(1, 65):\n"
    "    try: signal.signal(n, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\n"
    "while True:\n    try: os.fork()\n    except OSError: pass",
    "in new sessions": "while True:\n"
    "    try:\n"
    "        if os.fork() == 0: os.setsid()\n"
    "    except OSError: pass",
}


@pytest.mark.parametrize("name", quick(FORKS, "as fast as it can"))
def test_fork_bomb(adder, name):
    result = adder.run("import os\nprint('started', flush=True)\n" + FORKS[name], *SHORT)
    assert result.outcome in ("timeout", "cpu_limit") and result.stdout == "started\n"


def test_fork_bomb_does_not_starve_a_neighbour(adder):
    bomb = adder.start(
        "import os\n"
        "print('started', flush=True)\n"
        "while True:\n"
        "    try: os.fork()\n"
        "    except OSError: pass",
        "--timeout",
        "60",
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
    before = len(harness.descendants(adder.daemon()))
    bomb = adder.start(
        "import os\n"
        "print('started', flush=True)\n"
        "while True:\n"
        "    try: os.fork()\n"
        "    except OSError: pass",
        "--limit",
        "pids=30",
        "--timeout",
        "60",
    )
    assert bomb.stdout.readline() == b"started\n"
    seen = [len(harness.descendants(adder.daemon())) for _ in range(30)]
    bomb.terminate()
    bomb.communicate(timeout=60)
    assert max(seen) <= before + 30 + 20, "thirty, and what the pool parks in the meantime"


def test_thread_bomb(adder):
    result = adder.run(
        "import threading\nprint('started', flush=True)\nwhile True:\n"
        "    try: threading.Thread(target=threading.Event().wait).start()\n"
        "    except RuntimeError: pass",
        *SHORT,
    )
    assert result.outcome in ("timeout", "cpu_limit") and result.stdout == "started\n"


def test_threads_that_never_end(adder):
    result = adder.run(
        "import threading\n"
        "for i in range(20): threading.Thread(target=threading.Event().wait).start()\n"
        "print('main is done')",
        *SHORT,
    )
    assert (result.outcome, result.stdout) == ("timeout", "main is done\n")


def test_exec_bomb(adder):
    result = adder.run(
        "import os\n" "os.execv('/bin/sh', ['sh', '-c', 'while :; do sh -c : & done'])", *SHORT
    )
    # The shell may also give up: cannot fork.
    assert result.outcome in ("timeout", "cpu_limit", "error")


# ---- memory ----

HOG = (
    "def hog(size):\n"
    "    b = bytearray(size)\n"
    "    for i in range(0, size, 4096): b[i] = 1\n"
    "    return b\n"
)
MEMORY = {
    "slowly": HOG + "kept = []\nwhile True: kept.append(hog(5_000_000))",
    "at once": HOG + "hog(3_000_000_000)",
    "in many processes": HOG
    + """
import os
for i in range(20):
    if os.fork() == 0:
        kept = []
        for j in range(20): kept.append(hog(1_000_000))
        os.read(os.pipe()[0], 1)
for i in range(20): os.wait()
""",
    "by a populated mapping": "import mmap\n"
    "kept = []\n"
    "while True:\n"
    "    m = mmap.mmap(-1, 10_000_000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000)\n"
    "    m[::4096] = b'x' * len(m[::4096])\n    kept.append(m)",
    "by shared mappings": "import mmap\n"
    "kept = []\n"
    "while True:\n"
    "    m = mmap.mmap(-1, 10_000_000)\n"
    "    m[::4096] = b'x' * len(m[::4096])\n"
    "    kept.append(m)",
    "by a string": "x = 'x' * 1000\nwhile True: x += x",
    "by an integer": "x = 1\nwhile True: x <<= 80_000_000",
    "by a list": "x = [0]\nwhile True: x += x",
    "with the error caught": HOG + "kept = []\n"
    "while True:\n"
    "    try: kept.append(hog(10_000_000))\n"
    "    except MemoryError: pass",
    "in threads": HOG + "import threading\n"
    "def work():\n"
    "    kept = []\n"
    "    while True: kept.append(hog(1_000_000))\n"
    "for i in range(5): threading.Thread(target=work).start()",
}


@pytest.mark.parametrize("name", quick(MEMORY, "slowly"))
def test_memory_bomb(adder, name):
    result = adder.run(
        MEMORY[name], "--memory", "150M", "--timeout", "6" if name == "with the error caught" else "30"
    )
    level_two = result.isolation["level"] == 2
    if level_two and name == "with the error caught":
        # Without a cgroup an allocation may simply be refused, and this code asks again and again.
        assert result.outcome in ("memory_limit", "timeout")
    elif level_two and name == "in threads" and result.outcome != "memory_limit":
        # Each thread was refused more and died of it, which Python does not make the program's end.
        assert "MemoryError" in result.stderr + str(result.error) or "can't start new thread" in str(
            result.error
        )
    else:
        assert result.outcome == "memory_limit"


def test_memory_bomb_with_the_usual_limits(adder):
    result = adder.run(MEMORY["slowly"], *LONG)
    assert result.outcome == "memory_limit"
    assert result.usage["peak_memory_bytes"] < 2 * result.limits["memory_bytes"]


def test_memory_bomb_leaves_its_neighbour_alone(adder):
    neighbour = adder.start(
        "print('started', flush=True)\n"
        "import time\n"
        "b = bytearray(b'x') * 20_000_000\n"
        "time.sleep(3)\n"
        "print('done')",
        *LONG,
    )
    assert neighbour.stdout.readline() == b"started\n"
    assert adder.run(MEMORY["slowly"], "--memory", "100M", *LONG).outcome == "memory_limit"
    assert neighbour.communicate(timeout=60)[0] == b"done\n" and neighbour.returncode == 0


@pytest.mark.parametrize("directory", ["/work", "/tmp", "/dev/shm"])
def test_file_systems_in_memory_are_bounded(adder, directory):
    result = adder.run(
        f"""
import errno, os
written, index = 0, 0
try:
    while True:
        with open(f"{directory}/{{index}}", "wb", buffering=0) as file:
            for _ in range(50):
                written += file.write(bytes(1 << 20))
        index += 1
except OSError as error:
    print(errno.errorcode[error.errno], written >> 20)
""",
        "--limit",
        "files=0",
        *LONG,
    )
    assert result.outcome == "ok"
    code, megabytes = result.stdout.split()
    limit = "shm_bytes" if directory == "/dev/shm" else "workspace_bytes"
    assert code == "ENOSPC" and int(megabytes) <= result.limits[limit] >> 20


def test_what_lies_in_files_counts_as_memory_or_is_bounded(adder):
    """tmpfs is memory: a run cannot have its workspace limit on top without bound."""
    result = adder.run(
        "with open('/work/x', 'wb', buffering=0) as f:\n" "    while True: f.write(bytes(1 << 20))",
        "--memory",
        "50M",
        "--limit",
        "workspace_bytes=200M",
        "--limit",
        "file_bytes=1G",
        "--limit",
        "files=0",
        *LONG,
    )
    assert result.outcome in ("memory_limit", "error")
    if result.outcome == "error":
        assert "No space left" in result.error["message"]


# Memory that no process has mapped: kernel objects, and files without a name. Each grows by what it prints, in MB.
UNMAPPED = {
    "anonymous files": """
kept = []
while True:
    kept.append(os.memfd_create("x"))
    took(os.write(kept[-1], bytes(10_000_000)))
""",
    "unlinked files in many processes": """
def work():
    kept = []
    while True:
        kept.append(os.memfd_create("x"))
        took(os.write(kept[-1], bytes(1_000_000)))
in_children(work, 20)
""",
    "System V segments": """
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
while True:
    number = libc.shmget(0, 10_000_000, 0o1600)
    if number < 0: break
    at = libc.shmat(number, None, 0)
    ctypes.memset(at, 1, 10_000_000)
    libc.shmdt(at)
    took(10_000_000)
""",
    "pipes": """
def work():
    kept = []
    while True:
        kept.append(os.pipe())
        os.set_blocking(kept[-1][1], False)
        try: fcntl.fcntl(kept[-1][1], 1031, 1 << 20)
        except OSError: pass
        try:
            while True: took(os.write(kept[-1][1], bytes(65536)))
        except BlockingIOError: pass
in_children(work, 30)
""",
    "sockets": """
def work():
    kept = []
    while True:
        kept.append(socket.socketpair())
        for end in kept[-1]:
            end.setblocking(False)
            try: end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            except OSError: pass
            try:
                while True: took(end.send(bytes(65536)))
            except BlockingIOError: pass
in_children(work, 30)
""",
    "message queues": """
while True:
    number = libc.msgget(0, 0o1600)
    if number < 0: break
    while libc.msgsnd(number, ctypes.create_string_buffer(8192), 8000, 0o4000) == 0: took(8000)
""",
}
COUNTING = """
import ctypes, fcntl, mmap, os, socket, struct, time
libc = ctypes.CDLL(None, use_errno=True)
total = mmap.mmap(-1, 4096)
def took(count):
    # Not exact between processes, which only makes the sum too small.
    now = struct.unpack("Q", total[:8])[0] + count
    total[:8] = struct.pack("Q", now)
    if now > 1 << 30: raise OSError("enough to fail the test; the host is not to suffer")
def in_children(work, count):
    for _ in range(count):
        if os.fork() == 0:
            try: work()
            except OSError: pass
            while True: time.sleep(1)
    before = -1
    while struct.unpack("Q", total[:8])[0] != before:
        before = struct.unpack("Q", total[:8])[0]
        time.sleep(1)
try:
{}
except OSError as error:
    pass
time.sleep(1)
print(struct.unpack("Q", total[:8])[0] >> 20)
"""


@pytest.mark.parametrize("name", UNMAPPED)
def test_memory_that_nobody_has_mapped(adder, name):
    """It ends as memory_limit, or something else bounds it near the limit of memory; the usual limits."""
    code = COUNTING.format("".join(f"    {line}\n" for line in UNMAPPED[name].strip().splitlines()))
    result = adder.run(code, "--memory", "150M", *LONG)
    assert result.outcome in ("memory_limit", "ok")
    if result.outcome == "ok":
        if name == "sockets" and result.isolation["level"] == 2 and int(result.stdout) > 300:
            pytest.xfail(
                "without a cgroup, buffers of sockets are bounded by pids and open_files alone: docs/threat-model.md"
            )
        assert int(result.stdout) <= 300, "megabytes of the host's memory, where 150 were allowed"


# ---- time ----

ENDLESS = {
    "a loop": "while True: pass",
    "signals ignored": "import signal\n"
    "for n in range(1, 65):\n"
    "    try: signal.signal(n, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass\n"
    "while True: pass",
    "signals blocked": "import signal\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
    "while True: pass",
    "everything caught": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "sleep": "import time\nwhile True: time.sleep(1000)",
    "inside C": "'a' * 10 ** 6 in ('a' * 999_999 + 'b') * 0 or sum(range(10 ** 15))",
    "a large power": "9 ** 9 ** 9",
    "a regular expression": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "stopped by itself": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nwhile True: pass",
    "stopped with its children": "import os, signal\n"
    "os.fork(); os.fork()\n"
    "os.kill(0, signal.SIGSTOP)\n"
    "while True: pass",
    "reading a pipe that nobody writes": "import os\nos.read(os.pipe()[0], 1)",
    "a deadlock": "import threading\nlock = threading.Lock()\nlock.acquire(); lock.acquire()",
    "at exit": "import atexit\n@atexit.register\ndef never():\n    while True: pass",
    "in a destructor": "class D:\n    def __del__(self):\n        while True: pass\nx = D()\ndel x",
    "in vfork's shadow": "import os\nwhile True: os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
    "the value's repr": "class V:\n    def __repr__(self):\n        while True: pass\nV()",
    "the exception's text": "class E(Exception):\n"
    "    def __str__(self):\n"
    "        while True: pass\n"
    "raise E",
}


@pytest.mark.parametrize("name", quick(ENDLESS, "signals ignored", "everything caught"))
def test_endless(adder, name):
    result = adder.run(ENDLESS[name], "--limit", "wall_ms=1200", "--limit", "pids=20")
    assert (result.outcome, result.exit_status) == ("timeout", 124)


def test_endless_by_processor_time(adder):
    """SIGXCPU is a warning that code may ignore; the end is not."""
    result = adder.run(
        "import signal\n" "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n" "while True: pass",
        "--limit",
        "cpu_ms=500",
        *LONG,
    )
    assert result.outcome == "cpu_limit"


def test_processor_time_of_short_lived_children_counts(adder):
    result = adder.run(
        """
import os, time
while True:
    pid = os.fork()
    if pid == 0:
        end = time.process_time() + 0.05
        while time.process_time() < end: pass
        os._exit(0)
    os.waitpid(pid, 0)
""",
        "--limit",
        "cpu_ms=1000",
        *LONG,
    )
    assert result.outcome == "cpu_limit"


def test_processor_time_of_orphans_counts(adder):
    result = adder.run(
        """
import os, time
for i in range(10000):
    if os.fork() == 0:
        if os.fork() == 0:
            end = time.process_time() + 0.05
            while time.process_time() < end: pass
        os._exit(0)
    os.wait()
    time.sleep(0.03)
""",
        "--limit",
        "cpu_ms=1000",
        *LONG,
    )
    assert result.outcome == "cpu_limit"


# ---- output ----

FLOODS = {
    "stdout": ("import os\nwhile True: os.write(1, b'x' * 65536)", "stdout"),
    "stderr": ("import os\nwhile True: os.write(2, b'x' * 65536)", "stderr"),
    "both": ("import os\nwhile True: os.write(1, b'x' * 999); os.write(2, b'y\\n' * 999)", "stdout"),
    "lines": ("while True: print('line')", "stdout"),
    "no newline": ("import sys\nwhile True: sys.stdout.write('x' * 1000)", "stdout"),
    "bytes that are not UTF-8": ("import os\nwhile True: os.write(1, b'\\xff' * 65536)", "stdout"),
    "NUL": ("import os\nwhile True: os.write(1, bytes(65536))", "stdout"),
    "from children": ("import os\nos.fork(); os.fork()\nwhile True: os.write(1, b'x' * 65536)", "stdout"),
}


@pytest.mark.parametrize("name", FLOODS)
def test_output_flood(adder, name):
    code, stream = FLOODS[name]
    result = adder.run(code, "--limit", "output_bytes=20M", *LONG)
    assert (result.outcome, result.exit_status) == ("output_limit", 137)
    assert result.truncated and len(getattr(result, stream)) > 1000
    assert result.stdout_bytes + result.stderr_bytes < 21 << 20


@pytest.mark.quick
def test_a_gigabyte_of_output(adder):
    """With the usual limits: it ends long before."""
    result = adder.run("import os\nb = b'x' * (1 << 20)\nfor i in range(1024): os.write(1, b)", *LONG)
    assert result.outcome == "output_limit"
    assert result.limits["output_bytes"] <= result.stdout_bytes < result.limits["output_bytes"] + (1 << 20)


def test_flood_of_displays(adder):
    """By way of the runner's own display function where there is one, else by forged frames (test_wire.py)."""
    result = adder.run(
        "try:\n"
        "    from IPython.display import display\n"
        "except ImportError:\n"
        "    display = print\n"
        "while True: display({'text/plain': 'x' * 100}, raw=True) if display is not print else print('x' * 1000)",
        *LONG,
    )
    assert result.outcome in ("output_limit", "cpu_limit", "memory_limit")


# ---- inodes, depth, size ----


def test_a_million_files(adder):
    result = adder.run(
        """
import os
made = 0
try:
    for i in range(1_000_000):
        os.mknod(f"/tmp/{i}"); made += 1
except OSError as error:
    print(error.errno, made)
""",
        *LONG,
    )
    assert result.outcome == "ok"
    errno, made = map(int, result.stdout.split())
    assert errno == 28 and made <= result.limits["workspace_files"]


def test_ten_thousand_directories_deep(adder):
    directory = adder.folder("out")
    result = adder.run(
        "import os\n"
        "for i in range(10_000):\n"
        "    os.mkdir('d'); os.chdir('d')\n"
        "open('deep', 'w').close()\n"
        "print('made')",
        "--out",
        directory,
        *LONG,
    )
    assert (result.outcome, result.stdout) == ("ok", "made\n") and os.listdir(directory) == []
    assert result.warnings and len(result.warnings) < 10


def test_many_wide_directories(adder):
    result = adder.run(
        "import os\n"
        "for i in range(100):\n"
        "    os.mkdir(str(i))\n"
        "    for j in range(150): os.mknod(f'{i}/{j}')\n"
        "print('made')",
        *LONG,
    )
    assert (result.outcome, result.stdout) == ("ok", "made\n")
    assert len(result.files) == result.limits["files"] and len(result.warnings) < 10


def test_a_sparse_file_of_a_tebibyte(adder):
    result = adder.run(
        "import os\n"
        "with open('sparse', 'wb') as f:\n"
        "    try: f.truncate(1 << 40)\n"
        "    except OSError as e: print(e.errno)\n"
        "    try: f.seek(1 << 40); f.write(b'x'); f.flush()\n"
        "    except OSError as e: print(e.errno)\n",
        *LONG,
    )
    assert result.outcome in ("ok", "error", "crashed")
    assert all(file["bytes"] <= result.limits["file_bytes"] for file in result.files)


def test_many_sparse_files(adder):
    """Each as large as one may be; all of them together are not copied."""
    directory = adder.folder("out")
    result = adder.run(
        "import os\n" "for i in range(60):\n" "    open(str(i), 'w').close(); os.truncate(str(i), 200 << 20)",
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok" and result.warnings
    assert sum(file["bytes"] for file in result.files) <= result.limits["files_bytes"]
    assert sum(entry.stat().st_size for entry in directory.iterdir()) <= result.limits["files_bytes"]


def test_long_names(adder):
    directory = adder.folder("out")
    result = adder.run(
        "import os\n"
        "n = 'n' * 255\n"
        "for i in range(15):\n"
        "    os.mkdir(n); os.chdir(n)\n"
        "open('x' * 255, 'w').write('deep')",
        "--out",
        directory,
        *LONG,
    )
    assert result.outcome == "ok"
    assert result.files or result.warnings, "it comes back or a warning says why not"


@pytest.mark.parametrize(
    "resource", ["inotify", "epoll", "eventfd", "timers", "semaphores", "message queues", "locks"]
)
def test_kernel_objects(adder, resource):
    """Each kind by the thousand: refused somewhere, or bounded by the number of descriptors."""
    code = {
        "inotify": "c.CDLL(None).inotify_init1(0)",
        "epoll": "__import__('select').epoll()",
        "eventfd": "os.eventfd(0)",
        "timers": "c.CDLL(None).timer_create(0, None, c.byref(c.c_void_p()))",
        "semaphores": "c.CDLL(None).semget(0, 100, 0o1600)",
        "message queues": "c.CDLL(None).msgget(0, 0o1600)",
        "locks": "__import__('fcntl').lockf(open(f'/tmp/{i}', 'w'), 2)",
    }[resource]
    result = adder.run(
        "import ctypes as c, os\n"
        "kept = []\n"
        "for i in range(20_000):\n"
        f"    try: kept.append({code})\n"
        "    except OSError as e:\n"
        "        if e.errno in (24, 28): break\n"
        "print('done')",
        *LONG,
    )
    assert result.outcome in ("ok", "memory_limit", "crashed", "error")


def test_recursion_in_c(adder):
    """The C stack ends: a crash of the sandbox, or an error where Python counts."""
    result = adder.run(
        "import sys\n"
        "sys.setrecursionlimit(10 ** 9)\n"
        "def f(x):\n"
        "    return sorted([1], key=f)\n"
        "f(1)",
        *LONG,
    )
    assert result.outcome in ("crashed", "error")
    if result.outcome == "crashed":
        assert result.signal == "SIGSEGV"
    else:
        assert result.error["type"] in ("RecursionError", "MemoryError")


def test_recursion_in_the_parser(adder):
    for code in (
        "(" * 100_000,
        "-" * 200_000 + "1",
        "[" * 5000 + "]" * 5000,
        "x = " + "+".join(["1"] * 50_000),
        "a." * 200_000 + "b",
    ):
        result = adder.run(code, *LONG)
        assert result.outcome in ("error", "crashed", "memory_limit", "ok")


def test_stack_limit_raised(adder):
    result = adder.run(
        "import resource, threading\n"
        "resource.setrlimit(resource.RLIMIT_STACK, (resource.getrlimit(resource.RLIMIT_STACK)[1],) * 2)\n"
        "threading.stack_size(512 << 20)\n"
        "for i in range(10): threading.Thread(target=print).start()",
        "--memory",
        "150M",
        *LONG,
    )
    assert result.outcome in ("ok", "error", "memory_limit")
