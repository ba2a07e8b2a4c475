# SPDX-License-Identifier: Apache-2.0
"""Containers seen from outside: who else reaches the socket by which a container gets its descriptors, what the engine and other
users of the host are told, what one run leaves for the next. What code does from inside is in cases/."""
import contextlib
import json
import pathlib
import secrets
import socket
import threading

import harness
from contained import DEADLINE, wait_until

LEFT = """
import os
for place in ("/workspace", "/tmp", "/dev/shm"):
    with open(os.path.join(place, "left"), "w") as file:
        file.write("WORD")
    os.symlink("/etc/passwd", os.path.join(place, "link"))
print(sorted(os.listdir("/workspace")))
"""
FOUND = """
import json, os
print(json.dumps([os.path.join(place, name) for place in ("/workspace", "/tmp", "/dev/shm") for name in os.listdir(place)
                  if name in ("left", "link")]))
"""


def orders(contained):
    """What its launchers were told, by pid."""
    found = {}
    for process in contained.installation.processes():
        words = process.arguments()
        if len(words) > 2 and words[0].endswith(b"adder-container") and words[1] == b"start":
            found[process.pid] = json.loads(words[2])
    return found


def joins(contained):
    """The sockets at which launchers wait for their container's first process."""
    homes = {order["home"] for order in orders(contained).values()}
    return [path for home in homes for path in pathlib.Path(home).glob("**/join")]


def connected(path):
    """Its file is there before anybody listens."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.settimeout(DEADLINE)

    def is_heard():
        with contextlib.suppress(ConnectionRefusedError):
            made.connect(str(path))
            return True

    wait_until(is_heard, "the launcher to listen")
    return made


class Gate:
    """Between an Adder and its engine: passes everything on, but holds what starts a container until it is opened."""

    def __init__(self, engine, directory):
        self.engine, self.path, self.opened = engine, directory / "gate.sock", threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.path.chmod(0o666)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            asker, there = self.listener.accept()[0], socket.socket(socket.AF_UNIX)
            there.connect(str(self.engine.socket))
            threading.Thread(target=self.carry, args=(asker, there), daemon=True).start()
            threading.Thread(target=self.carry, args=(there, asker), daemon=True).start()

    def carry(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if data.startswith(b"POST ") and b"/start " in data.split(b"\r\n", 1)[0]:
                    self.opened.wait()
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


def test_a_stranger_at_the_join_gets_nothing(make_contained):
    """Even one who is there first, with the rights of root: who is not the container's first process is sent away, and the
    container comes all the same, or another one."""
    contained = make_contained(parked=1)
    gate = Gate(contained.engine, contained.directory)
    contained.configure((contained.config / "adder.conf").read_text().replace(str(contained.engine.socket), str(gate.path)))
    run = contained.start("print('alive')", "--profile", "container", "--isolation", "container", json_reply=True)
    strangers = [connected(path) for path in wait_until(lambda: joins(contained), "a launcher to wait for its container")]
    gate.opened.set()
    for stranger in strangers:
        with stranger:
            data, descriptors, _, _ = socket.recv_fds(stranger, 4096, 16)
            assert (data, descriptors) == (b"", [])
    out, err = run.communicate(timeout=DEADLINE)
    harness.gathered.append((run.args, run.returncode, out, err))
    result = harness.Adder.parse(out.decode(), err.decode(), run.returncode)
    assert result.stdout == "alive\n" and result.isolation["backend"] == "container"


def test_the_engine_is_told_nothing_of_the_run(make_contained):
    """Code, variables, input and output: whoever may ask the engine, or reads its log, learns none of it."""
    contained = make_contained()
    word = secrets.token_hex(16)
    code = f"import time\nprint('{word}', flush=True)\nopen('{word}', 'w').write('{word}')\ntime.sleep(1000)"
    run = contained.start_named("--set-env", f"SECRET={word}", code=code)
    facts = json.dumps([run.facts(), contained.engine.containers()])
    assert word not in facts
    lines = [pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in orders(contained)]
    assert lines and not [line for line in lines if word.encode() in line]
    logs = [path.read_text(errors="replace") for path in contained.engine.directory.glob("*.log")]
    assert not [text for text in logs if word in text]
    run.process.terminate()
    run.end()


def test_nothing_is_left_for_the_next(make_contained):
    contained = make_contained(parked=1)
    seen = set()
    for word in ("one", "two", "three"):
        first = contained.run(LEFT.replace("WORD", word))
        assert first.outcome == "ok", first
        second = contained.run(FOUND)
        assert second.told() == []
        seen |= {first.isolation["container"]["version"]}
    assert len(seen) == 1
