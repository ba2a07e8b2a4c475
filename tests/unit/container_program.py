#!/usr/bin/python3 -IB
# SPDX-License-Identifier: Apache-2.0
"""Stands in for adder-container: its containers are processes, and what it does is the word in the file "mode"
beside it. In the file "log" it notes "started PID" for each container, and "removed PID"."""
import array
import contextlib
import ctypes
import json
import os
import re
import select
import signal
import socket
import struct
import sys

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
LAUNCHED, SERVING, SPAWN, SPAWNED, REFUSED = range(1, 6)
READY, REQUEST, DISPLAY, RESULT = range(1, 5)
MECHANISMS = 0xffe  # all but the user namespace
CLD_EXITED, CLD_KILLED = 1, 2
EIO, EOPNOTSUPP = 5, 95
PR_SET_PDEATHSIG = 1


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read().strip()


VERSION = int(re.search(r"define WIRE_VERSION (\d+)", read("wire.h")).group(1))


def note(line):
    fd = os.open(os.path.join(HERE, "log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(fd, (line + "\n").encode())
    os.close(fd)


def send(control, kind, data=b"", fds=()):
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    control.sendmsg([struct.pack("=II", kind, VERSION) + data], rights)


def refuse(control, error, step):
    send(control, REFUSED, struct.pack("=i160s", error, step.encode()))


def take(sock, size):
    data = b""
    while len(data) < size:
        got = sock.recv(size - len(data))
        if not got:
            os._exit(0)
        data += got
    return data


def work(fds):
    """The worker: takes one request, and runs its code as it is."""
    sock = socket.socket(fileno=fds[0])
    os.dup2(fds[1], 1)
    os.dup2(fds[2], 2)
    os.close(fds[3])
    sock.sendall(struct.pack("=IIIIiIQ", READY, 24, VERSION, MECHANISMS, 6, 0, 0))
    while True:
        kind, length = struct.unpack("=II", take(sock, 8))
        data = take(sock, length)
        if kind == REQUEST:
            break
    exec(json.loads(data)["code"], {})
    sys.stdout.flush()
    answer = json.dumps({"exit_code": 0, "value": None, "error": None, "warnings": [], "denials": [],
                         "limits_met": []}).encode()
    sock.sendall(struct.pack("=II", RESULT, len(answer)) + answer)
    take(sock, 1)


def bound(order, mode):
    """What the container says that it has for /workspace: what is named in the file "place", writable."""
    if order["bind"] is None:
        return []
    return [os.open(HERE if mode == "other-directory" else read("place"), os.O_PATH | os.O_DIRECTORY)]


def serve(control, order, mode):
    """The first process of the container, with its zygote."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    send(control, SERVING, json.dumps({"version": "3.11.2", "failed": []}).encode())
    data, fds, _, _ = socket.recv_fds(control, 65536, 16)
    if not data or mode == "hangs-up":
        os._exit(0)
    if mode == "deaf":
        signal.pause()
    if mode == "refuses":
        refuse(control, EIO, "cannot make the sandbox")
        signal.pause()
    worker = os.fork()
    if worker == 0:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if mode == "dies-parking":
            os._exit(1)
        work(fds)
    workspace = os.path.join(HERE, f"workspace-{os.getpid()}")
    for name in ("work", "tmp/output"):
        os.makedirs(os.path.join(workspace, name))
    place = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
    process = os.pidfd_open(worker)
    send(control, SPAWNED, fds=[process, process, place, *bound(order, mode)])
    for fd in fds[:3]:
        os.close(fd)
    _, status = os.waitpid(worker, 0)
    code = os.waitstatus_to_exitcode(status)
    os.write(fds[3], struct.pack("=iiqqqq", CLD_KILLED if code < 0 else CLD_EXITED, abs(code), 0, 0, 0, 0))
    os.close(fds[3])
    control.recv(1)
    os._exit(0)


def start(control, order, mode):
    facts = {"engine": "docker", "engine_version": "20.10", "runtime": None, "container": "c0ffee",
             "image": order["image"], "digest": "sha256:1", "version": "0.1.0",
             "warning": "the image is old" if mode == "old" else None}
    told, tell = os.pipe()
    container = os.fork()
    if container == 0:
        os.close(tell)
        if os.read(told, 1):
            serve(control, order, mode)
        os._exit(0)
    note(f"started {container}")
    if mode == "lies":
        facts["engine"] = 7
    if mode != "no-process":
        with contextlib.suppress(BrokenPipeError):  # nobody wants it any more
            send(control, LAUNCHED, json.dumps(facts).encode(), [os.pidfd_open(container)])
    control.close()
    os.write(tell, b"1")
    watch = select.poll()
    watch.register(os.pidfd_open(container), select.POLLIN)
    watch.register(2, 0)
    watch.poll()
    os.kill(container, signal.SIGKILL)
    os.waitpid(container, 0)
    note(f"removed {container}")


def main():
    mode = read("mode")
    order = json.loads(sys.argv[2])
    if sys.argv[1] != "start":
        note("swept" if sys.argv[1] == "sweep" else f"took away {order['name']}")
        return
    note(f"ordered {order['memory_bytes']}")
    if order["bind"]:
        note(f"bind {order['bind']} {order['directory']}")
    control = socket.socket(fileno=3)
    if mode == "dies":
        os._exit(1)
    if mode == "killed":
        note(f"killed {order['name']}")
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "has-none":
        refuse(control, EOPNOTSUPP, "no engine answers: start one")
    elif mode == "fails":
        refuse(control, EIO, "the engine cannot make one")
    elif mode == "silent":
        watch = select.poll()
        watch.register(2, 0)
        watch.poll()
        note("gave up")
    else:
        start(control, order, mode)


main()
