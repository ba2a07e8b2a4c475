# SPDX-License-Identifier: Apache-2.0
"""The sandbox's own socket: whatever code writes there, the daemon takes it for what it is, untrusted.

Kinds of src/runner/wire.h: READY 1, REQUEST 2, DISPLAY 3, RESULT 4, FAULT 5."""
import json
import os

import pytest

from harness import quick, status_bytes, wait_until

LONG = ["--timeout", "30"]
PRELUDE = """
import json, os, struct, socket
print("before", flush=True)
def send(data):
    while data: data = data[os.write(3, data):]
def frame(kind, payload): send(struct.pack("=II", kind, len(payload)) + payload)
GOOD = {"exit_code": 0, "value": {"text/plain": "forged"}, "error": None, "warnings": []}
"""

FORGED = {
    "garbage": "send(os.urandom(100_000))",
    "zeroes": "send(bytes(100_000))",
    "one byte": "send(b'x')",
    "half a header and the end": "send(b'\\4\\0\\0')\nos._exit(0)",
    "a header and the end": "send(struct.pack('=II', 4, 1000))\nos._exit(0)",
    "half a result and the end": "send(struct.pack('=II', 4, 1000) + b'{')\nos._exit(0)",
    "the greatest length": "send(struct.pack('=II', 4, 0xFFFFFFFF))",
    "a length over the limit": "send(struct.pack('=II', 4, (64 << 20) + 1))",
    "a large display": "frame(3, b'[' + b'1,' * (9 << 20) + b'1]')",
    "an unknown kind": "frame(77, b'{}')",
    "READY again": "frame(1, bytes(24))",
    "a REQUEST": "frame(2, b'{}')",
    "a FAULT": "frame(5, struct.pack('=i160s', 1, b'A' * 160))",
    "an empty result": "frame(4, b'')",
    "a result that is no JSON": "frame(4, b'not JSON')",
    "a result that is no object": "frame(4, b'[1]')",
    "a result that is an empty object": "frame(4, b'{}')",
    "a result with a NUL": 'frame(4, b\'{"exit_code": 0, "value": {"text/plain": "a\\\\u0000"}, "error": null, "warnings": []}\')',
    "a result that is not UTF-8": 'frame(4, b\'{"exit_code": 0, "value": {"text/plain": "\\xff"}, "error": null, "warnings": []}\')',
    "a result with a lone surrogate": 'frame(4, b\'{"exit_code": 0, "value": {"text/plain": "\\\\ud800"}, "error": null, "warnings": []}\')',
    "a result with NaN": 'frame(4, b\'{"exit_code": NaN, "value": null, "error": null, "warnings": []}\')',
    "deep JSON": "frame(4, b'[' * 1_000_000 + b']' * 1_000_000)",
    "deep objects": "frame(4, b'{\"value\":' * 500_000 + b'1' + b'}' * 500_000)",
    "a huge exit code": "frame(4, json.dumps({**GOOD, 'exit_code': 1 << 40}).encode())",
    "a negative exit code": "frame(4, json.dumps({**GOOD, 'exit_code': -1}).encode())",
    "an exit code that is text": "frame(4, json.dumps({**GOOD, 'exit_code': '0'}).encode())",
    "a value of another type": "frame(4, json.dumps({**GOOD, 'value': [1, 2]}).encode())",
    "a value with odd members": "frame(4, json.dumps({**GOOD, 'value': {'text/plain': {'a': 1}, 'x': 5, '': None}}).encode())",
    "an error of another type": "frame(4, json.dumps({**GOOD, 'exit_code': 1, 'error': 'text'}).encode())",
    "an error with odd members": "frame(4, json.dumps({**GOOD, 'exit_code': 1, 'error': {'type': 5, 'message': [], 'line': 'x'}}).encode())",
    "warnings of another type": "frame(4, json.dumps({**GOOD, 'warnings': {'a': 1}}).encode())",
    "warnings that are not texts": "frame(4, json.dumps({**GOOD, 'warnings': [1, None, {}]}).encode())",
    "a hundred thousand warnings": "frame(4, json.dumps({**GOOD, 'warnings': ['x' * 100] * 100_000}).encode())",
    "denials of another type": "frame(4, json.dumps({**GOOD, 'denials': {'a': 1}, 'limits_met': 5}).encode())",
    "denials with odd members": "frame(4, json.dumps({**GOOD, 'denials': [{'kind': [], 'detail': {}}, 1, None]}).encode())",
    "forty thousand denials": "frame(4, json.dumps({**GOOD, 'denials': [{'kind': 'file', 'detail': 'x' * 100}] * 40_000}).encode())",
    "a large denial": "frame(4, json.dumps({**GOOD, 'denials': [{'kind': 'file', 'detail': '\\x1b' * (9 << 20)}]}).encode())",
    "members of the daemon's own": "frame(4, json.dumps({**GOOD, 'outcome': 'refused', 'run_id': 'x', 'usage': {}, 'isolation': {'level': 9}}).encode())",
    "names twice": 'frame(4, b\'{"exit_code": 0, "exit_code": 1, "value": null, "error": null, "warnings": []}\')',
    "two results": "frame(4, json.dumps(GOOD).encode()); frame(4, json.dumps(GOOD).encode())",
    "a result and then garbage": "frame(4, json.dumps(GOOD).encode()); send(os.urandom(1000))",
    "a display that is no JSON": "frame(3, b'not JSON')",
    "a display that is no object": "frame(3, b'[1]')",
    "a display with odd members": "frame(3, json.dumps({'image/png': 5, '': 'x', 'a\\nb': 'c'}).encode())",
    "a large value": "frame(4, json.dumps({**GOOD, 'value': {'text/plain': 'x' * (50 << 20)}}).encode())",
}


@pytest.mark.parametrize(
    "name", quick(FORGED, "garbage", "a length over the limit", "members of the daemon's own")
)
def test_forged_frames(adder, name):
    result = adder.run(PRELUDE + FORGED[name], *LONG)
    assert result.stdout == "before\n"
    assert result.outcome in (
        "ok",
        "error",
        "crashed",
        "output_limit",
        "memory_limit",
    ), "it is the code that did it, not Adder that failed"
    assert len(json.dumps(result.fields)) < 1_000_000, "what a reply may hold is capped, whoever wrote it"


def test_forged_result_ends_the_run_there(adder):
    """It may lie about itself; it does not go on in the dark."""
    result = adder.run(PRELUDE + "frame(4, json.dumps(GOOD).encode())\nwhile True: pass", *LONG)
    assert result.outcome in ("ok", "crashed", "timeout")
    if result.outcome == "ok":
        assert result.text == "forged"


def test_forged_result_does_not_hide_a_limit(adder):
    result = adder.run("b = []\nwhile True: b.append(b'x' * 1_000_000)", "--memory", "100M", *LONG)
    assert result.outcome == "memory_limit"


def test_flood_of_displays(adder):
    result = adder.run(PRELUDE + 'while True: frame(3, b\'{"text/plain": "x"}\')', *LONG)
    assert result.outcome == "output_limit" and len(result.displays) <= 10000


def test_flood_of_large_displays(adder):
    pid = adder.daemon()
    before = status_bytes(pid, "VmRSS")
    result = adder.run(
        PRELUDE + "data = json.dumps({'text/plain': 'x' * (1 << 20)}).encode()\n"
        "while True: frame(3, data)",
        *LONG,
    )
    assert result.outcome == "output_limit"
    wait_until(lambda: status_bytes(pid, "VmRSS") < before + (64 << 20), "the daemon to let go of them")


def test_flood_that_never_ends_a_frame(adder):
    result = adder.run(
        PRELUDE + "send(struct.pack('=II', 3, 16 << 20))\n"
        "import time\n"
        "while True: send(b' '); time.sleep(0.01)",
        "--limit",
        "wall_ms=1500",
    )
    assert result.outcome == "timeout"


def test_socket_that_is_never_read(adder):
    """The daemon sends one request only; a sandbox that stops reading cannot hold it up."""
    result = adder.run("import signal, os\nos.kill(os.getpid(), signal.SIGSTOP)", "--limit", "wall_ms=800")
    assert result.outcome == "timeout"


@pytest.mark.parametrize("count", [1, 10, 253])
def test_descriptors_that_nobody_asked_for(adder, count):
    """Sent beside a frame: the daemon closes them, or the kernel drops them."""
    result = adder.run(
        PRELUDE
        + f"""
import array
s = socket.socket(fileno=os.dup(3))
fds = array.array("i", [os.open("/dev/zero", 0)] * {count})
payload = b'{{"text/plain": "x"}}'
for _ in range(20):
    try: s.sendmsg([struct.pack("=II", 3, len(payload)) + payload], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    except OSError as error: print(error.errno); break
""",
        *LONG,
    )
    assert result.outcome in ("ok", "crashed")


def test_descriptors_do_not_pile_up_in_the_daemon(adder):
    before = adder.descriptors()
    for _ in range(3):
        test_descriptors_that_nobody_asked_for(adder, 253)
    wait_until(lambda: adder.descriptors() <= before, f"the daemon to hold no more than {before} descriptors")


def test_reading_the_socket(adder):
    """Nothing waits there that is not the run's own."""
    result = adder.run(
        "import os, socket\n"
        "s = socket.socket(fileno=os.dup(3))\n"
        "s.setblocking(False)\n"
        "try: print(s.recv(100000))\n"
        "except OSError as error: print(error.errno)",
        *LONG,
    )
    assert result.outcome == "ok" and result.stdout == "11\n"


def test_shutdown_of_the_socket(adder):
    for how in (0, 1, 2):
        result = adder.run(
            "import os, socket\n" f"socket.socket(fileno=os.dup(3)).shutdown({how})\n" "print('here')", *LONG
        )
        assert result.outcome in ("ok", "error", "crashed") and result.stdout == "here\n"


def test_child_answers_in_the_parents_place(adder):
    result = adder.run(
        PRELUDE + "if os.fork() == 0:\n"
        "    frame(4, json.dumps(GOOD).encode())\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print('parent')\n"
        "'mine'",
        *LONG,
    )
    assert result.outcome in ("ok", "crashed")


def test_peer_of_the_socket_is_not_told(adder):
    """Its credentials are those of another pid namespace: none."""
    result = adder.run(
        "import os, socket, struct\n"
        "s = socket.socket(fileno=os.dup(3))\n"
        "print(struct.unpack('3i', s.getsockopt(socket.SOL_SOCKET, 17, 12))[0])",
        *LONG,
    )
    assert result.outcome in ("ok", "error")
    if result.outcome == "ok":
        assert result.stdout.strip() == "0"
