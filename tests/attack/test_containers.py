# SPDX-License-Identifier: Apache-2.0
"""Containers seen from outside: who else reaches the socket by which a container gets its descriptors, what the engine and other
users of the host are told, what one run leaves for the next. What code does from inside is in cases/."""
import json
import os
import pathlib
import secrets
import socket

import pytest

import harness
from harness import wait_until

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
        words = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
        if words[0].endswith(b"adder-container") and words[1] == b"start":
            found[process.pid] = json.loads(words[2])
    return found


def joins(contained):
    """The sockets at which launchers wait for their container's first process."""
    homes = {order["home"] for order in orders(contained).values()}
    return [path for home in homes for path in pathlib.Path(home).glob("**/join")]


def connected(path):
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.settimeout(harness.DEADLINE)
    made.connect(str(path))
    return made


def test_a_stranger_at_the_join_gets_nothing(make_contained, make_engine):
    """Even one who is there first, with the rights of root: who is not the container's first process is sent away, and the
    container comes all the same."""
    engine = make_engine("docker")
    contained = make_contained(engine=engine, parked=1)
    engine.freeze()
    try:
        run = contained.start("print('alive')", "--profile", "container", "--isolation", "container", json_reply=True)
        paths = wait_until(lambda: joins(contained), "a launcher to wait for its container")
        strangers = [connected(path) for path in paths]
    finally:
        engine.thaw()
    for stranger in strangers:
        with stranger:
            data, descriptors, _, _ = socket.recv_fds(stranger, 4096, 16)
            assert (data, descriptors) == (b"", [])
    out, err = run.communicate(timeout=harness.DEADLINE)
    result = harness.Adder.parse(out.decode(), err.decode(), run.returncode)
    assert result.stdout == "alive\n" and result.isolation["backend"] == "container"
    wait_until(lambda: not joins(contained), "the way in to be closed")


def test_other_users_do_not_reach_the_join(make_contained, make_engine):
    """Not even its name: the directory that it is in is the daemon's user's alone."""
    engine = make_engine("docker")
    contained = make_contained(engine=engine, parked=1)
    if os.geteuid() != 0:
        pytest.skip("needs another user")
    engine.freeze()
    try:
        run = contained.start("1", "--profile", "container", json_reply=True)
        for path in wait_until(lambda: joins(contained), "a launcher to wait for its container"):
            reader = os.fork()
            if reader == 0:
                os.setgroups([])
                os.setresgid(65533, 65533, 65533)
                os.setresuid(65533, 65533, 65533)
                try:
                    connected(path)
                    os._exit(1)
                except OSError:
                    os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(reader, 0)[1]) == 0, f"{path} can be reached"
    finally:
        engine.thaw()
    run.communicate(timeout=harness.DEADLINE)


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
