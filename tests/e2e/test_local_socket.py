# SPDX-License-Identifier: Apache-2.0
"""Hostile clients of the local socket: each is dropped, and the daemon serves the next."""
import array
import json
import os
import random
import socket
import struct

import pytest

from harness import DEADLINE, status_bytes, wait_until

pytestmark = pytest.mark.both_users


def header(kind, length):
    return struct.pack("=II", kind, length)


def frame(kind, payload):
    return header(kind, len(payload)) + payload


GARBAGE = random.Random(1).randbytes(1 << 20)
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000

SENT = {
    "nothing": b"",
    "one byte": b"\1",
    "half a header": header(1, 10)[:5],
    "a header and no more": header(1, 10),
    "half a frame": header(1, 10) + b"12345",
    "a megabyte of garbage": GARBAGE,
    "zeroes": bytes(100_000),
    "the greatest length": header(1, 0xFFFFFFFF) + b"x" * 1000,
    "the greatest positive length": header(1, 0x7FFFFFFF) + b"x" * 1000,
    "an unknown kind": frame(0xFFFFFFFF, b"{}"),
    "an empty frame": frame(1, b""),
    "no JSON": frame(1, b"not JSON"),
    "JSON of another kind": frame(1, b"[1, 2]"),
    "a number": frame(1, b"5"),
    "an empty object": frame(1, b"{}"),
    "JSON that is cut off": frame(1, b'{"a": '),
    "JSON that is not UTF-8": frame(1, b'{"a": "\xff"}'),
    "JSON with a NUL": frame(1, b'{"a": "\\u0000"}'),
    "JSON with a raw NUL": frame(1, b'{"a": "\0"}'),
    "deep JSON": frame(1, DEEP),
    "wrong types": frame(1, b'{"version": {}, "protocol": [], "kind": 5, "type": null, "code": 7}'),
    "many small frames": frame(1, b"{}") * 1000,
    "an HTTP request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


def send(connection, data):
    try:
        connection.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass  # dropped already, which is right


@pytest.fixture(scope="session")
def _warm(shared_adder):
    """The first file that is kept opens the store's folder for good."""
    shared_adder.run("1")
    shared_adder.run("open('kept.txt', 'w').write('1')", env="system")


@pytest.fixture
def unharmed(adder, _warm):
    """After the test, the same daemon answers, and holds no descriptor more."""
    pid, before = adder.at_rest(), adder.descriptors()
    yield adder
    assert adder.run("print(1)", env="system").stdout == "1\n"
    assert adder.daemon() == pid
    wait_until(lambda: adder.descriptors() <= before, f"the daemon to hold no more than {before} descriptors")


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("ending", ["hangs up", "reads on", "closes its half"])
def test_hostile_bytes(unharmed, name, ending):
    with unharmed.connect() as connection:
        send(connection, SENT[name])
        if ending == "closes its half":
            connection.shutdown(socket.SHUT_WR)
        if ending != "hangs up" and len(SENT[name]) > 1000:
            # It answers with an error or drops us; what it must not do is to wait for ever with nothing to wait for.
            try:
                while connection.recv(65536):
                    pass
            except ConnectionResetError:
                pass


@pytest.mark.parametrize("kind", [kind for kind in range(20) if kind != 3])
def test_every_kind_with_an_empty_object(unharmed, kind):
    """Also in an order that makes no sense, twice over. Kind 3 is STOP, which is obeyed."""
    with unharmed.connect() as connection:
        send(connection, frame(kind, b"{}") + frame(kind, b"{}"))


def test_idle_clients(unharmed):
    idle = [unharmed.connect() for _ in range(150)]
    assert unharmed.run("print(1)").stdout == "1\n"
    for connection in idle:
        connection.close()


def test_slow_client(unharmed):
    """Half a header, held open: nobody else waits for it."""
    with unharmed.connect() as connection:
        connection.send(header(1, 100)[:3])
        for index in range(5):
            assert unharmed.run(f"print({index})").stdout == f"{index}\n"


def test_descriptors_that_nobody_asked_for(unharmed):
    pipes = [os.pipe() for _ in range(60)]
    numbers = array.array("i", [number for pair in pipes for number in pair])
    for _ in range(10):
        with unharmed.connect() as connection:
            try:
                connection.sendmsg([frame(1, b"{}")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
                connection.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
            except OSError:
                pass
    for pair in pipes:
        os.close(pair[0])
        os.close(pair[1])


def test_many_connections_come_and_go(unharmed):
    for _ in range(500):
        unharmed.connect().close()


def test_client_that_hangs_up_during_its_run(unharmed):
    """test_daemon.py looks for the processes; here many of them in a row."""
    for _ in range(5):
        run = unharmed.start("print('started', flush=True)\nwhile True: pass", "--timeout", "100")
        assert run.stdout.readline() == b"started\n"
        run.kill()
        run.communicate(timeout=60)


def test_other_users_cannot_connect(make_adder, user):
    if os.geteuid() != 0 or user.uid != 0:
        pytest.skip("needs root, to be somebody else afterwards")
    adder = make_adder()
    adder.run("1")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setresgid(12345, 12345, 12345)
            os.setresuid(12345, 12345, 12345)
            try:
                adder.connect()
            except PermissionError:
                status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    adder.stop()


# ---- clients that know the protocol (src/interfaces/socket/protocol.h) and abuse it ----

(
    HELLO,
    REFUSED,
    STOP,
    STOPPING,
    RUN,
    CODE,
    STARTED,
    STDOUT,
    STDERR,
    DISPLAY,
    SAVED,
    RESULT,
    SESSION,
    ANSWER,
    CALL,
    MCP,
    PROGRESS,
    OPERATION,
) = range(1, 19)
PROTOCOL = 10


class Client:
    """A connection that has said HELLO."""

    def __init__(self, adder, hello=True):
        self.connection = adder.connect()
        if hello:
            self.send(HELLO, {"protocol": PROTOCOL, "version": "0.0.0", "built": 0})
            kind, answer = self.receive()
            assert kind == HELLO and json.loads(answer)["pid"] == adder.daemon()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def send(self, kind, payload=b"", descriptors=()):
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        beside = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        )
        whole = frame(kind, data)
        try:
            sent = self.connection.sendmsg([whole], beside)
            send(self.connection, whole[sent:])
        except (BrokenPipeError, ConnectionResetError):
            pass

    def exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.connection.recv(count - len(data))
            except ConnectionResetError:
                piece = b""
            if not piece:
                return None
            data += piece
        return data

    def receive(self):
        """The next frame, or (None, None) at the end."""
        head = self.exactly(8)
        if head is None:
            return None, None
        kind, length = struct.unpack("=II", head)
        return kind, self.exactly(length)

    def last(self):
        """The frames up to an answer or the end; the answer."""
        while True:
            kind, payload = self.receive()
            if kind in (None, REFUSED, RESULT, STOPPING, ANSWER):
                return kind, payload

    def run(self, code, body=None, descriptors=()):
        self.send(RUN, {"environment": "system", **(body or {})}, descriptors)
        self.send(CODE, code if isinstance(code, bytes) else code.encode())
        return self.last()


def outcome(answer):
    kind, payload = answer
    return (
        json.loads(payload[8:])["outcome"] if kind == RESULT else {None: "dropped", REFUSED: "refused"}[kind]
    )


@pytest.mark.quick
def test_client_of_our_own(unharmed):
    """Several requests on one connection; so the tests below mean something."""
    with Client(unharmed) as client:
        for index in range(5):
            kind, payload = client.run(f"print({index})")
            assert kind == RESULT and json.loads(payload[8:])["stdout"] == f"{index}\n"
        client.send(OPERATION, {"operation": "status.show"})
        kind, payload = client.last()
        assert kind == ANSWER and json.loads(payload)["daemon"] is True


def operate(client, operation, **params):
    client.send(OPERATION, {"operation": operation, "params": params})
    kind, payload = client.last()
    assert kind == ANSWER, payload
    return json.loads(payload)


def test_runs_are_operations(unharmed):
    """A run that another connection began is seen and ended, and one is begun that way."""
    with Client(unharmed) as runs, Client(unharmed) as client:
        runs.send(RUN, {"environment": "system", "limits": {"wall_ms": 100_000, "cpu_ms": 100_000}})
        runs.send(CODE, b"while True: pass")
        wait_until(lambda: operate(client, "run.list")["runs"], "the run in the list")
        (listed,) = operate(client, "run.list")["runs"]
        assert listed["front_end"] == "cli" and listed["state"] == "running", listed
        operate(client, "run.cancel", run=listed["run_id"])
        assert outcome(runs.last()) == "cancelled"
        wait_until(lambda: operate(client, "run.show", run=listed["run_id"])["state"] == "ended", "the run's end")
        big = "x" * (2 << 20)
        made = operate(client, "run.new", code="print(len(open('a').read()))", environment="system", files=[{"name": "a", "text": big}])
        assert made["stdout"] == f"{len(big)}\n", made


BODIES = {
    "no JSON": b"nonsense",
    "a list": b"[]",
    "null": b"null",
    "an unknown field": {"no_such_field": 1},
    "deep": DEEP,
    "a name that is a number": {"name": 5},
    "a name with a path": {"name": "../../etc/passwd"},
    "a long name": {"name": "n" * 100_000},
    "an empty name": {"name": ""},
    "a name with control characters": {"name": "a\n" "b\x1b"},
    "arguments that are text": {"arguments": "x"},
    "arguments of other types": {"arguments": [1, None, {}]},
    "a million arguments": {"arguments": ["x"] * 300_000},
    "variables that are a list": {"variables": []},
    "variables of other types": {"variables": {"a": 1}},
    "a variable without a name": {"variables": {"": "x"}},
    "a variable with =": {"variables": {"a=b": "x"}},
    "variables of the loader": {
        "variables": {"LD_PRELOAD": "/work/x.so", "PYTHONPATH": "/work", "PYTHONSTARTUP": "/work/x"}
    },
    "a large variable": {"variables": {"a": "x" * 1_000_000}},
    "limits that are text": {"limits": {"pids": "5"}},
    "a negative limit": {"limits": {"pids": -5}},
    "a limit that is real": {"limits": {"pids": 1.5}},
    "a limit out of bounds": {"limits": {"pids": (1 << 63) - 1}},
    "a limit below": {"limits": {"memory_bytes": 0}},
    "an environment with a path": {"environment": "../../../etc"},
    "a profile with a path": {"profile": "../../../etc/passwd"},
    "files without descriptors": {"files": [{"name": "a", "descriptor": True}, {"name": "b", "descriptor": True}]},
    "files that lead out": {"files": [{"name": "../x", "text": "1"}]},
    "stdin without a descriptor": {"stdin": True},
    "a directory without a descriptor": {"save": True},
    "another owner": {"owner": "uid:0"},
    "a conversation that is a number": {"conversation": 5},
    "a session that is a number": {"session": 5},
    "a session that is not there": {"session": "no-such"},
    "a session with control characters": {"session": "a\n\x1b[2J"},
    "a session without a name": {"session": ""},
    "a long session": {"session": "s" * 100_000},
    "wait that is text": {"session": "no-such", "wait": "no"},
}


@pytest.mark.parametrize("name", BODIES)
def test_bad_request(unharmed, name):
    body = BODIES[name]
    with Client(unharmed) as client:
        client.send(RUN, body if isinstance(body, bytes) else {"environment": "system", **body})
        client.send(CODE, b"print(1)")
        answer = client.last()
    assert outcome(answer) in ("refused", "failed", "dropped", "ok")
    if "path" in name or "leads out" in name or "without" in name or "session" in name:
        assert outcome(answer) != "ok" or name == "a name with a path"


def is_refused(answer):
    """In one sentence."""
    kind, payload = answer
    assert kind == REFUSED, (kind, payload)
    message = json.loads(payload)["message"]
    assert message and message.isprintable() and len(message) < 500


def goes_on(client):
    client.send(OPERATION, {"operation": "session.list"})
    kind, payload = client.last()
    assert kind == ANSWER and isinstance(json.loads(payload)["sessions"], list)


OPERATIONS = {
    "no JSON": b"nonsense",
    "a list": b"[]",
    "no operation": {},
    "an unknown operation": {"operation": "session.steal"},
    "an operation that is a number": {"operation": 1},
    "a long operation": {"operation": "o" * 500_000},
    "an unknown field": {"operation": "session.list", "owner": "uid:0"},
    "an unknown parameter": {"operation": "session.list", "params": {"nobody": "uid:0"}},
    "parameters that are a list": {"operation": "session.list", "params": []},
    "no session": {"operation": "session.show"},
    "a session that is null": {"operation": "session.show", "params": {"session": None}},
    "a session that is a list": {"operation": "session.end", "params": {"session": ["a"]}},
    "a session that is not there": {"operation": "session.interrupt", "params": {"session": "no-such"}},
    "a session with a path": {"operation": "session.show", "params": {"session": "../../etc"}},
    "a long session": {"operation": "session.show", "params": {"session": "s" * 500_000}},
    "names that are text": {"operation": "session.variables", "params": {"session": "no-such", "names": "x"}},
    "names of other types": {"operation": "session.variables", "params": {"session": "no-such", "names": [1]}},
    "an owner that is a number": {"operation": "record.list", "params": {"owner": 0}},
    "no run": {"operation": "record.show"},
    "a run that is null": {"operation": "record.show", "params": {"run": None}},
    "a run that is not there": {"operation": "record.show", "params": {"run": "0123"}},
    "a run with a path": {"operation": "record.show", "params": {"run": "../../etc"}},
    "a long run": {"operation": "record.show", "params": {"run": "r" * 500_000}},
    "an unknown filter": {"operation": "record.list", "params": {"digest": "x"}},
    "a filter that is a list": {"operation": "record.stats", "params": {"tool": ["x"]}},
    "a long filter": {"operation": "record.list", "params": {"code": "%" * 100_000}},
    "a limit that is text": {"operation": "record.list", "params": {"limit": "5"}},
    "a negative limit": {"operation": "record.list", "params": {"limit": -1}},
    "a huge limit": {"operation": "record.list", "params": {"limit": 1 << 62}},
    "a place that is none": {"operation": "record.list", "params": {"before": "1"}},
    "a head that is none": {"operation": "record.verify", "params": {"head": "5:" + "g" * 64}},
    "deep filters": b'{"operation": "record.list", "params": {"tool": ' + DEEP + b"}}",
    "no file": {"operation": "file.open"},
    "a file that is null": {"operation": "file.open", "params": {"file": None}},
    "a file with a path": {"operation": "file.open", "params": {"file": "../../etc"}},
    "a file that is not there": {"operation": "file.open", "params": {"file": "0123"}},
    "a long file": {"operation": "file.open", "params": {"file": "r" * 500_000}},
    "a file from nowhere": {"operation": "file.put", "params": {"name": "x"}},
    "an export to nowhere": {"operation": "record.export"},
    "an export in no known format": {"operation": "record.export", "params": {"format": "xml"}},
    "a table of no run": {"operation": "result.export", "params": {"number": "1"}},
    "a table that is no number": {"operation": "result.export", "params": {"run": "0123", "number": "x"}},
    "a directory by a root": {"operation": "review.commit", "params": {"review": "0123", "workdir": {"root": "x"}}},
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_bad_operation(unharmed, name):
    """Each is refused, and the connection goes on."""
    with Client(unharmed) as client:
        client.send(OPERATION, OPERATIONS[name])
        is_refused(client.last())
        goes_on(client)


def test_operation_with_a_descriptor(unharmed):
    """One that nobody asked for, one that cannot be read, and more than any takes."""
    directory_fd = os.open("/", os.O_PATH)
    with Client(unharmed) as client:
        for operation, params in (
            ("session.list", {}),
            ("file.open", {"file": "0123"}),
            ("file.put", {"name": "x"}),
        ):
            client.send(OPERATION, {"operation": operation, "params": params}, [directory_fd])
            is_refused(client.last())
            goes_on(client)
    os.close(directory_fd)
    with Client(unharmed) as client:
        client.send(OPERATION, {"operation": "review.drop", "params": {"review": "0123"}}, [0, 0])
        assert client.last()[0] in (REFUSED, None)


SESSION_QUESTIONS = {
    "no JSON": b"nonsense",
    "a list": b"[]",
    "no question": {},
    "an unknown question": {"op": "steal"},
    "a question that is a number": {"op": 1},
    "an unknown field": {"op": "new", "owner": "uid:0"},
    "a name with a path": {"op": "new", "name": "../x", "options": {}},
    "a name that is an id": {"op": "new", "name": "01a2009a-0000-7000-8000-000000000000", "options": {}},
    "a long name": {"op": "new", "name": "n" * 65, "options": {}},
    "a name that is a number": {"op": "new", "name": 5},
    "options that are a list": {"op": "new", "options": []},
    "options of nobody": {"op": "new", "options": {"environment": "no-such"}},
    "files without descriptors": {"op": "new", "options": {"files": [{"name": "a", "descriptor": True}]}},
}


@pytest.mark.parametrize("name", SESSION_QUESTIONS)
def test_bad_question_about_sessions(unharmed, name):
    with Client(unharmed) as client:
        client.send(SESSION, SESSION_QUESTIONS[name])
        is_refused(client.last())
        goes_on(client)


# Those that are no call are refused; in the others a tool says what is wrong.
CALLS = {
    "no JSON": (b"nonsense", REFUSED),
    "a list": (b"[]", REFUSED),
    "no tool": ({}, REFUSED),
    "a tool that is a number": ({"tool": 5}, REFUSED),
    "an unknown field": ({"tool": "run_python", "owner": "uid:0"}, REFUSED),
    "arguments that are text": ({"tool": "run_python", "arguments": "{}"}, REFUSED),
    "a role that is a list": ({"tool": "run_python", "role": ["admin"]}, REFUSED),
    "read_only that is text": ({"tool": "run_python", "read_only": "no"}, REFUSED),
    "variables of other types": ({"tool": "run_python", "variables": {"a": 1}}, REFUSED),
    "a directory without a descriptor": ({"tool": "execute_python", "directory": "/"}, REFUSED),
    "accept_all that is a number": ({"tool": "execute_python", "accept_all": 1}, REFUSED),
    "deep": (DEEP, REFUSED),
    "a tool that is not there": ({"tool": "no-such\n\x1b[2J"}, ANSWER),
    "a long tool": ({"tool": "t" * 1_000_000}, ANSWER),
    "a toolset with a path": ({"tool": "run_python", "toolset": "../../etc"}, ANSWER),
    "a role that is not there": ({"tool": "run_python", "role": "king"}, ANSWER),
    "a long conversation": ({"tool": "run_python", "conversation": "c" * 1_000_000}, ANSWER),
    "no arguments": ({"tool": "run_python"}, ANSWER),
    "a million arguments": ({"tool": "run_python", "arguments": {f"a{i}": 1 for i in range(100_000)}}, ANSWER),
    "a session with a path": ({"tool": "session_show", "arguments": {"session": "../../etc"}}, ANSWER),
}


@pytest.mark.parametrize("name", CALLS)
def test_bad_call(unharmed, name):
    body, expected = CALLS[name]
    with Client(unharmed) as client:
        client.send(CALL, body)
        kind, payload = client.last()
        assert kind == expected, (kind, payload)
        answer = json.loads(payload)
        message = answer["message"] if kind == REFUSED else answer["reply"]["error"]
        assert message and message.isprintable() and len(message) < 1000
        assert kind == REFUSED or answer["exit_code"] == 125
        client.send(CALL, {"tool": "session_list"})
        kind, payload = client.last()
        assert kind == ANSWER and json.loads(payload)["exit_code"] == 0


def test_calls_with_descriptors(unharmed):
    """One that is named by nothing, one that is no directory, and more than one."""
    with Client(unharmed) as client:
        client.send(CALL, {"tool": "session_list"}, [0])
        assert client.last()[0] == REFUSED
        arguments = {"code": "print(1)"}
        body = {"tool": "execute_python", "arguments": arguments, "directory": "/dev/null", "accept_all": True}
        client.send(CALL, body, [0])
        kind, payload = client.last()
        assert kind == ANSWER and json.loads(payload)["exit_code"] in (125, 126)
    with Client(unharmed) as client:
        client.send(CALL, {"tool": "session_list"}, [0, 0])
        assert client.last()[0] in (REFUSED, None)


@pytest.mark.parametrize(
    "order",
    [
        [CODE],
        [RUN],
        [RUN, RUN],
        [RUN, OPERATION],
        [RUN, SESSION],
        [RUN, CALL],
        [ANSWER],
        [RUN, HELLO],
        [RUN, STOPPING],
        [HELLO],
        [HELLO, HELLO],
        [STOPPING],
        [STARTED],
        [RESULT],
        [REFUSED],
        [STDOUT] * 3,
    ],
    ids=lambda order: " ".join(map(str, order)),
)
def test_frames_out_of_order(unharmed, order):
    with Client(unharmed) as client:
        for kind in order:
            client.send(kind, b"{}")
        client.connection.shutdown(socket.SHUT_WR)
        client.last()


@pytest.mark.parametrize(
    "hello",
    [
        b"{}",
        b"[]",
        b"x",
        b'{"protocol": "1"}',
        b'{"protocol": -1, "version": "", "built": 0}',
        b'{"protocol": 99, "version": "9", "built": 0}',
        b'{"protocol": 3, "version": "' + b"v" * 100_000 + b'", "built": 0}',
        b'{"protocol": 3, "version": "a.b.c.d", "built": 9223372036854775807}',
    ],
)
def test_odd_hello(unharmed, hello):
    with Client(unharmed, hello=False) as client:
        client.send(HELLO, hello)
        client.send(OPERATION, b"{}")
        client.connection.shutdown(socket.SHUT_WR)
        while client.receive()[0] is not None:
            pass


def odd_descriptors():
    """Things that are no file to put into a workspace."""
    import select

    reader, writer = os.pipe()
    left, right = socket.socketpair()
    epoll, event, memory = select.epoll(), os.eventfd(0), os.memfd_create("x")
    return {
        "a directory": os.open("/", os.O_RDONLY),
        "a path": os.open("/etc/passwd", os.O_PATH),
        "a pipe's write end": writer,
        "a pipe that never ends": reader,
        "a socket": left.detach(),
        "its other end": right.detach(),
        "an epoll": os.dup(epoll.fileno()),
        "an eventfd": event,
        "an empty memfd": memory,
        "a device without end": os.open("/dev/zero", os.O_RDONLY),
        "a file open for writing": os.open("/dev/null", os.O_WRONLY),
        "a link": os.open("/proc/self/exe", os.O_PATH | os.O_NOFOLLOW),
        "a process": os.pidfd_open(os.getpid()),
    }


@pytest.mark.parametrize(
    "name",
    [
        "a directory",
        "a path",
        "a pipe's write end",
        "a pipe that never ends",
        "a socket",
        "an epoll",
        "an eventfd",
        "an empty memfd",
        "a device without end",
        "a file open for writing",
        "a link",
        "a process",
    ],
)
@pytest.mark.parametrize("place", ["file", "stdin", "save"])
def test_odd_descriptors(unharmed, name, place):
    given = odd_descriptors()
    body = {"file": {"files": [{"name": "x", "descriptor": True}]}, "stdin": {"stdin": True}, "save": {"save": True}}[place]
    with Client(unharmed) as client:
        client.connection.settimeout(45)
        client.send(RUN, {"environment": "system", "limits": {"wall_ms": 500}, **body}, [given[name]])
        client.send(CODE, b"open('y', 'w').write('1')")
        if "never ends" in name:
            # Nothing will come of it while we hold the other end; hanging up has to be enough.
            assert unharmed.run("print(1)").stdout == "1\n"
        else:
            assert outcome(client.last()) in ("refused", "failed", "ok", "dropped", "timeout")
    for number in given.values():
        os.close(number)


@pytest.mark.parametrize("count", [2, 100, 253])
def test_more_descriptors_than_names(unharmed, count):
    null = os.open("/dev/null", os.O_RDONLY)
    with Client(unharmed) as client:
        assert outcome(client.run("print(1)", {"files": [{"name": "x", "descriptor": True}]}, [null] * count)) in (
            "refused",
            "failed",
            "dropped",
        )
    os.close(null)


@pytest.mark.parametrize("size", [(1 << 20) + 1, 5 << 20, (16 << 20) + 1, 0xFFFFFFFF])
def test_code_that_is_too_long(unharmed, size):
    with Client(unharmed) as client:
        client.send(RUN, {"environment": "system"})
        send(client.connection, header(CODE, size))
        send(client.connection, b"#" * min(size, 17 << 20))
        client.connection.shutdown(socket.SHUT_WR)
        assert outcome(client.last()) in ("refused", "failed", "dropped", "cancelled")


def test_client_that_does_not_read(unharmed):
    """Output that nobody takes is held back in the sandbox, and does not fill the daemon."""
    pid = unharmed.daemon()
    before = status_bytes(pid, "VmRSS")
    with Client(unharmed) as client:
        client.send(RUN, {"environment": "system", "limits": {"output_bytes": 1 << 30, "wall_ms": 5000}})
        client.send(CODE, b"import os\nwhile True: os.write(1, b'x' * 65536)")
        for index in range(20):
            assert unharmed.run(f"print({index})").stdout == f"{index}\n"
        assert status_bytes(pid, "VmRSS") < before + (64 << 20)


def test_half_closed_connection_cancels(unharmed):
    with Client(unharmed) as client:
        client.send(RUN, {"environment": "system"})
        client.send(CODE, b"print('started', flush=True)\nwhile True: pass")
        while client.receive()[0] != STDOUT:
            pass
        client.connection.shutdown(socket.SHUT_WR)
        assert outcome(client.last()) == "cancelled"


def test_requests_sent_ahead(unharmed):
    """All at once, before any answer."""
    with Client(unharmed) as client:
        for index in range(10):
            client.send(RUN, {"environment": "system"})
            client.send(CODE, f"print({index})".encode())
        told = []
        for _ in range(10):
            kind, payload = client.last()
            if kind == RESULT:
                told.append(json.loads(payload[8:]))
        assert [result["stdout"] for result in told if result["outcome"] == "ok"] == [
            f"{index}\n" for index in range(10)
        ][: len(told)]


def test_random_frames(unharmed):
    """The same each time: seeded."""
    chance = random.Random(7)
    for _ in range(150):
        with Client(unharmed, hello=chance.random() < 0.7) as client:
            for _ in range(chance.randrange(1, 5)):
                payload = chance.choice(
                    [
                        b"{}",
                        b"",
                        chance.randbytes(chance.randrange(200)),
                        b'{"environment": "system"}',
                        b'{"only_idle": true}',
                    ]
                )
                kind = chance.choice([k for k in range(0, 16) if k != STOP])
                client.send(kind, payload)
            if chance.random() < 0.5:
                client.connection.shutdown(socket.SHUT_WR)


MCP_QUESTIONS = {
    "no JSON": b"nonsense",
    "a list": b"[]",
    "an unknown field": {"owner": "uid:0"},
    "a toolset that is none": {"toolset": "../adder"},
    "a toolset that is a list": {"toolset": ["adder"]},
    "a role that is none": {"role": "king"},
    "a reader that is text": {"read_only": "no"},
    "a long conversation": {"conversation": "x" * 100_000},
    "a directory without its descriptor": {"directory": "/"},
    "variables that are numbers": {"variables": {"A": 1}},
    "deep variables": b'{"variables": {"A": ' + DEEP + b"}}",
}


@pytest.mark.parametrize("name", MCP_QUESTIONS)
def test_who_cannot_speak_mcp(unharmed, name):
    """Each is refused in one sentence, and the connection goes on; then it is MCP's for good."""
    with Client(unharmed) as client:
        client.send(MCP, MCP_QUESTIONS[name])
        kind, payload = client.last()
        assert kind == REFUSED, (kind, payload)
        message = json.loads(payload)["message"]
        assert message and message.isprintable() and len(message) < 500
        client.send(MCP, {}, [0])  # a descriptor without its directory
        assert client.last()[0] == REFUSED
        client.send(MCP, {})
        assert client.last()[0] == ANSWER
        client.connection.sendall(b"{\n")
        assert b"-32700" in client.connection.recv(4096)
        client.connection.shutdown(socket.SHUT_WR)
        assert client.connection.recv(4096) == b""


def test_status_of_a_daemon_that_says_nothing(make_adder):
    """It is what somebody asks who wonders why nothing answers, so it ends."""
    adder = make_adder()
    hello = {"protocol": PROTOCOL, "version": "0.1.0", "built": 1 << 40, "pid": os.getpid()}
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(adder.runtime / "adder.sock"))
        os.chmod(adder.runtime / "adder.sock", 0o666)
        silent.listen()
        with adder.popen("serve", "status") as process:
            connection, _ = silent.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(frame(HELLO, json.dumps(hello).encode()))
                _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 125 and err.count(b"\n") == 1, err
    (adder.runtime / "adder.sock").unlink()
