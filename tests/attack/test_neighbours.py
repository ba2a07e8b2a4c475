# SPDX-License-Identifier: Apache-2.0
"""Two sandboxes at once: no channel joins them, and neither sees the other."""
import os
import uuid

import pytest

LONG = ["--timeout", "60"]


def rendezvous(adder, first, second):
    """Runs FIRST until it says `ready`, then SECOND to its end; returns what SECOND printed and what FIRST printed more."""
    run = adder.start(first, *LONG)
    assert run.stdout.readline() == b"ready\n"
    result = adder.run(second, *LONG)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err
    assert result.outcome == "ok"
    return result.stdout.strip(), out.decode().strip()


def test_abstract_sockets(adder):
    name = uuid.uuid4().hex
    first = f"""
import select, socket
try:
    s = socket.socket(socket.AF_UNIX); s.bind("\\0{name}"); s.listen()
except OSError:
    s = None
print("ready", flush=True)
print("met" if s and select.select([s], [], [], 1.5)[0] else "alone")
"""
    second = f"""
import socket
try:
    socket.socket(socket.AF_UNIX).connect("\\0{name}"); print("met")
except OSError: print("alone")
"""
    assert rendezvous(adder, first, second) == ("alone", "alone")


def test_abstract_datagrams(adder):
    name = uuid.uuid4().hex
    first = f"""
import select, socket
try:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("\\0{name}")
except OSError:
    s = None
print("ready", flush=True)
print("met" if s and select.select([s], [], [], 1.5)[0] else "alone")
"""
    second = f"""
import socket
try:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "\\0{name}"); print("met")
except OSError: print("alone")
"""
    assert rendezvous(adder, first, second) == ("alone", "alone")


def test_loopback(adder):
    first = """
import select, socket
try:
    s = socket.socket(); s.bind(("127.0.0.1", 45678)); s.listen()
except OSError:
    s = None
print("ready", flush=True)
print("met" if s and select.select([s], [], [], 1.5)[0] else "alone")
"""
    second = """
import socket
try:
    socket.create_connection(("127.0.0.1", 45678), 2); print("met")
except OSError: print("alone")
"""
    assert rendezvous(adder, first, second) == ("alone", "alone")


@pytest.mark.parametrize("directory", ["/work", "/tmp", "/dev/shm", "/workspace"])
def test_files(adder, directory):
    name = uuid.uuid4().hex
    first = f"""
import os, time
open("{directory}/{name}", "w").write("x")
print("ready", flush=True)
end = time.time() + 1.5
while time.time() < end: time.sleep(0.05)
print("met" if os.path.exists("{directory}/back-{name}") else "alone")
"""
    second = f"""
import os
open("{directory}/back-{name}", "w").write("x")
print("met" if os.path.exists("{directory}/{name}") else "alone")
"""
    assert rendezvous(adder, first, second) == ("alone", "alone")


def test_system_v_objects(adder):
    key = 0x41440000 | int.from_bytes(os.urandom(2), "big")
    make = (
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        f"ids = [libc.shmget({key}, 4096, 0o1666), libc.semget({key}, 1, 0o1666), libc.msgget({key}, 0o1666)]\n"
    )
    look = (
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        f"ids = [libc.shmget({key}, 0, 0), libc.semget({key}, 0, 0), libc.msgget({key}, 0)]\n"
    )
    first = make + "print('ready', flush=True)\nimport time\ntime.sleep(1)"
    second = look + "print(ids)"
    assert rendezvous(adder, first, second)[0] == "[-1, -1, -1]"


def test_posix_queues_and_shared_memory(adder):
    name = uuid.uuid4().hex
    first = f"""
from multiprocessing import shared_memory
block = shared_memory.SharedMemory("{name}", create=True, size=4096)
print("ready", flush=True)
import time
time.sleep(1)
block.close(); block.unlink()
"""
    second = f"""
from multiprocessing import shared_memory
try:
    shared_memory.SharedMemory("{name}"); print("met")
except FileNotFoundError: print("alone")
"""
    assert rendezvous(adder, first, second)[0] == "alone"


def test_processes(adder):
    word = "nb" + uuid.uuid4().hex[:10]
    first = (
        "import ctypes, os\n"
        f"ctypes.CDLL(None).prctl(15, b'{word}')\n"
        "print('ready', flush=True)\n"
        "import time\n"
        "time.sleep(1)"
    )
    second = f"""
import os
seen = []
for pid in range(1, 40000):
    try:
        if "{word}" in open(f"/proc/{{pid}}/comm").read(): seen.append(pid)
    except OSError: pass
    try:
        if pid > 10: os.kill(pid, 0); seen.append(pid)
    except OSError: pass
print(seen)
"""
    assert rendezvous(adder, first, second)[0] == "[]"


def test_keys(adder):
    """Keyrings are not divided by namespaces: so there are none."""
    result = adder.run(
        "import ctypes\n"
        "libc = ctypes.CDLL(None)\n"
        "print([libc.syscall(n, b'user', b'x', b'y', 1, k) for n in (248, 217) for k in (-1, -2, -3, -4, -5)])",
        *LONG,
    )
    assert result.outcome in ("ok", "crashed")


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
{}
for pid in children: os.kill(pid, 9)
"""
    first = code.format("print('ready', flush=True)\nimport time\ntime.sleep(1.5)\nprint(len(children))")
    second = code.format("print(len(children))")
    there, here = rendezvous(adder, first, second)
    assert int(there) > 30 and int(here) > 30
