# SPDX-License-Identifier: Apache-2.0
"""The launcher of containers and an engine that a test made up, whose containers are processes of the host: whatever the engine
answers, and whenever anybody dies, the daemon is told once, in clear words, and the engine is asked to remove what it made."""
import array
import contextlib
import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import threading

import harness
import pytest
from harness import DEADLINE, wait_until

RUNNER = pathlib.Path(harness.build_directory()) / "src/runner"
LAUNCHED, REFUSED = 1, 5
EOPNOTSUPP, EIO, ETIMEDOUT = 95, 5, 110
ID = "c0ffee"
LATE_MS = 8000  # the time that a start is to exceed, but not before it has come that far on a busy host
BIND_MOUNTED = 6  # of enum wire_launch_fd

# The first process of a container: it joins, says so on the control socket, and ends when that hangs up.
ZYGOTE = """
import array, socket, sys
joined = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
joined.connect(sys.argv[1] + "/join")
message, beside, _, _ = joined.recvmsg(4096, 1024)
fds = array.array("i", beside[0][2])
control = socket.socket(fileno=fds[1])
control.send(b"joined %d" % len(fds))
control.recv(1)
"""


def runner_digest():
    digest = hashlib.sha256()
    for path in sorted(RUNNER.iterdir()):
        if path.suffix == ".py" or path.name == "_adder.abi3.so":
            digest.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "launcher"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if status not in (204, 304):
            self.wfile.write(text)

    def act(self):
        engine = self.server.engine
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        step = next(name for method, pattern, name in engine.STEPS if method == self.command and re.search(pattern, self.path))
        engine.asked.append(step)
        twist = engine.twists.pop(0)[1] if engine.twists and engine.twists[0][0] == step else None
        if twist == "hang":
            engine.reached.set()
            engine.released.wait(DEADLINE)
        elif twist == "cut":
            self.close_connection = True
            return
        elif isinstance(twist, (int, tuple)):
            status, words = twist if isinstance(twist, tuple) else (twist, f"made up: {step} fails")
            self.answer(status, {"message": words})
            return
        elif twist is not None:
            self.answer(200, twist)
            return
        with contextlib.suppress(BrokenPipeError):
            self.answer(*getattr(engine, step)(body))

    do_GET = do_POST = do_DELETE = act


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def process_request(self, request, client_address):
        self.engine.connections.append(request)
        super().process_request(request, client_address)


class Engine:
    STEPS = (
        ("GET", r"/version$", "version"),
        ("GET", r"/images/.*/json$", "image"),
        ("POST", r"/containers/create\?name=adder-", "create"),
        ("POST", r"/containers/c0ffee/start$", "start"),
        ("GET", r"/containers/c0ffee/json$", "inspect"),
        ("GET", r"/containers/json", "list"),
        ("DELETE", r"/containers/", "remove"),
    )

    def __init__(self, directory, *twists):
        self.socket = str(directory / "engine.sock")
        self.twists, self.asked, self.spec, self.process, self.listed = list(twists), [], None, None, []
        self.connections = []
        self.reached, self.released = threading.Event(), threading.Event()
        self.program = ZYGOTE
        self.up()

    def up(self):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket)
        self.server = Server(self.socket, Handler)
        self.server.engine = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def down(self):
        """Whoever is connected notices."""
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.socket)

    def end(self):
        self.released.set()
        self.down()
        if self.process:
            self.process.kill()
            self.process.wait()

    def version(self, _):
        return 200, {"Version": "20.10.0", "ApiVersion": "1.41", "Components": [{"Name": "Engine"}]}

    def image(self, _):
        labels = {"adder.version": "0.1", "adder.runner": runner_digest(), "adder.built": "2020-01-01T00:00:00Z"}
        return 200, {"Id": "sha256:1234", "Config": {"Labels": labels}, "Size": 1}

    def create(self, body):
        self.spec = body
        return 201, {"Id": ID, "Warnings": []}

    def start(self, _):
        join = next(mount["Source"] for mount in self.spec["HostConfig"]["Mounts"] if mount["Target"] == "/run/adder")
        self.process = subprocess.Popen([sys.executable, "-c", self.program, join])
        return 204, {}

    def inspect(self, _):
        return 200, {"State": {"Pid": self.process.pid}, "HostConfig": {"Runtime": "runc"}}

    def list(self, _):
        return 200, self.listed

    def remove(self, _):
        if self.spec is None:
            return 404, {"message": "no such container"}
        self.spec = None
        if self.process:
            self.process.kill()
        return 204, {}


class Launcher:
    def __init__(self, engine, home, **changes):
        order = {
            "engine": "docker", "socket": engine.socket, "runtime": None, "name": "adder-test", "image": "localhost/adder:latest", "image_age_ms": 0,
            "start_ms": DEADLINE * 1000, "environment": "container", "memory_bytes": 1 << 28, "pids": 64, "cpu_percent": 100,
            "uid": 65530, "gid": 65530, "workspace_bytes": 1 << 27, "workspace_files": 1000,
            "shm_bytes": 1 << 21, "home": str(home), "bind": None, "directory": None, **changes,
        }  # fmt: skip
        self.messages, theirs = os.pipe()
        self.control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(DEADLINE)
        filter_fd = os.memfd_create("filter")
        lifted = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in (theirs, control.fileno(), filter_fd)]

        def settle():
            for number, fd in enumerate(lifted, 2):
                os.dup2(fd, number)

        self.process = subprocess.Popen([RUNNER / "adder-container", "start", json.dumps(order)], preexec_fn=settle, close_fds=False, env={})
        for fd in theirs, filter_fd, *lifted:
            os.close(fd)
        control.close()

    def receive(self):
        """What comes next on the control socket: its kind and the rest."""
        message, beside, _, _ = self.control.recvmsg(1 << 20, 1024)
        self.fds = array.array("i", beside[0][2]) if beside else []
        return (struct.unpack_from("I", message)[0], message[8:]) if message else (None, b"")

    def refusal(self):
        kind, rest = self.receive()
        assert kind == REFUSED, (kind, rest)
        return struct.unpack_from("i", rest)[0], rest[4:].split(b"\0")[0].decode()

    def launched(self):
        kind, rest = self.receive()
        assert kind == LAUNCHED, (kind, rest)
        assert self.control.recv(100) == b"joined 3"
        return json.loads(rest)

    def hang_up(self):
        os.close(self.messages)
        self.messages = None

    def ended(self):
        return self.process.wait(DEADLINE)


@pytest.fixture
def launch(tmp_path):
    """launch(*twists, **changes of the order): an engine and a launcher."""
    made = []

    def start(*twists, prepare=None, **changes):
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        engine = Engine(tmp_path, *twists)
        if prepare:
            prepare(engine)
        made.extend([engine, Launcher(engine, home, **changes)])
        return engine, made[-1]

    yield start
    for one in made:
        if isinstance(one, Engine):
            one.end()
        elif one.process.poll() is None:
            one.process.kill()
            one.process.wait()
    assert not list((tmp_path / "home").iterdir())


def test_a_container_lives_as_long_as_its_messages_are_read(launch):
    engine, launcher = launch()
    facts = launcher.launched()
    assert (facts["engine"], facts["runtime"], facts["container"], facts["digest"]) == ("docker", "runc", ID, "sha256:1234")
    assert facts["warning"] is None and len(launcher.fds) == 1
    host = engine.spec["HostConfig"]
    assert host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"] and host["NetworkMode"] == "none" and host["AutoRemove"]
    assert host["Memory"] == host["MemorySwap"] == 1 << 28 and engine.spec["User"] == "65530:65530"
    for ignored in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        launcher.process.send_signal(ignored)
    assert "remove" not in engine.asked
    launcher.hang_up()
    assert launcher.ended() == 0 and engine.asked[-2:] == ["remove", "list"]
    assert engine.process.wait(DEADLINE) == -signal.SIGKILL


def test_only_what_was_handed_over_is_closed(launch):
    """Nothing is bind-mounted, so the number of what would be is whoever's: the connection to the engine may have it."""
    engine, launcher = launch(("inspect", "hang"))
    folder = pathlib.Path(f"/proc/{launcher.process.pid}")
    assert engine.reached.wait(DEADLINE)
    before = os.readlink(folder / f"fd/{BIND_MOUNTED}")
    engine.released.set()
    launcher.launched()
    wait_until(lambda: not {"3", "4"} & set(os.listdir(folder / "fd")), "the launcher to let go")
    wait_until(lambda: "State:\tS" in (folder / "status").read_text(), "the launcher to wait")
    assert os.readlink(folder / f"fd/{BIND_MOUNTED}") == before
    asked = len(engine.connections)
    launcher.hang_up()
    assert launcher.ended() == 0 and engine.asked[-2:] == ["remove", "list"] and len(engine.connections) == asked


def test_a_container_that_ends_is_removed(launch):
    engine, launcher = launch()
    launcher.launched()
    engine.process.kill()
    assert launcher.ended() == 0 and engine.asked[-2:] == ["remove", "list"]


def test_the_age_of_an_image_is_told(launch):
    _, launcher = launch(image_age_ms=1000)
    assert "adder env image build" in launcher.launched()["warning"]


@pytest.mark.parametrize(
    "twist, err, words, removed",
    [
        (("version", 500), EOPNOTSUPP, "made up", False),
        (("version", b"<html>"), EOPNOTSUPP, "JSON", False),
        (("version", {}), EOPNOTSUPP, "belongs to something else", False),
        (("version", "cut"), EOPNOTSUPP, "broke off", False),
        (("image", 404), EOPNOTSUPP, "adder env image build", False),
        (("image", {"Id": "sha256:1", "Config": {"Labels": None}}), EOPNOTSUPP, "was not made by", False),
        (("create", 500), EIO, "made up: create", True),
        (("create", {}), EIO, "what it created", True),
        (("create", b"{"), EIO, "not JSON", True),
        (("start", 500), EIO, "made up: start", True),
        (("start", (500, "水" * 60)), EIO, "水" * 30, True),
        (("start", "cut"), EIO, "broke off", True),
        (("inspect", 404), EIO, "ended before it joined", True),
        (("inspect", {"State": {"Pid": 0}}), EIO, "ended before it joined", True),
        (("inspect", 500), EIO, "made up: inspect", True),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_odd_answers(launch, twist, err, words, removed):
    # A connection that was good for the question before is tried anew.
    engine, launcher = launch(twist, *[twist] * (twist[1] == "cut"))
    told, text = launcher.refusal()
    assert told == err and words in text
    assert launcher.ended() == 125
    assert ("remove" in engine.asked) == removed


def test_another_process_is_left_alone(launch):
    with subprocess.Popen(["/bin/sleep", "1000"]) as other:
        engine, launcher = launch(("inspect", {"State": {"Pid": other.pid}}))
        err, text = launcher.refusal()
        assert err == EIO and "another process" in text and launcher.ended() == 125
        assert other.poll() is None and engine.spec is None
        other.kill()


def test_a_runtime_that_nobody_knows(launch):
    """That is no passing trouble; another refusal with the same status may be."""
    _, launcher = launch(("create", (400, "unknown or invalid runtime name: runsc")), runtime="runsc")
    err, text = launcher.refusal()
    assert err == EOPNOTSUPP and "runsc" in text and "docker info" in text
    _, launcher = launch(("create", 400), runtime="runsc")
    assert launcher.refusal()[0] == EIO


@pytest.mark.parametrize("program", ["", "import time; time.sleep(1000)"], ids=["ends", "hangs"])
def test_who_does_not_join(launch, program):
    def prepare(engine):
        engine.program = program

    engine, launcher = launch(prepare=prepare, start_ms=LATE_MS if program else DEADLINE * 1000)
    err, text = launcher.refusal()
    assert (err, "join" in text or "ended" in text) == (ETIMEDOUT if program else EIO, True)
    assert launcher.ended() == 125 and engine.asked[-2:] == ["remove", "list"] and engine.spec is None
    assert engine.process.wait(DEADLINE) in (0, -signal.SIGKILL)


def test_an_engine_that_hangs_and_then_goes_on(launch):
    """The daemon hears of it in time; what the engine made all the same is removed."""
    engine, launcher = launch(("create", "hang"), start_ms=LATE_MS)
    err, text = launcher.refusal()
    assert err == ETIMEDOUT and "did not answer" in text
    wait_until(lambda: "remove" in engine.asked, "the launcher asks")
    engine.released.set()
    assert launcher.ended() == 125 and engine.spec is None


def test_a_launcher_that_is_killed(launch, tmp_path):
    """Another removes what it asked for, also what the engine makes only then."""
    engine, launcher = launch(("create", "hang"))
    assert engine.reached.wait(DEADLINE)
    launcher.process.kill()
    launcher.process.wait()
    with subprocess.Popen([RUNNER / "adder-container", "remove", launcher.process.args[2]], env={}) as remover:
        wait_until(lambda: "remove" in engine.asked, "the engine to be asked")
        engine.released.set()
        assert remover.wait(DEADLINE) == 0 and engine.spec is None
    [place] = (tmp_path / "home").iterdir()  # which goes with the rest of the daemon's
    shutil.rmtree(place)


def test_an_engine_that_comes_back(launch):
    engine, launcher = launch()
    launcher.launched()
    engine.down()
    launcher.hang_up()
    assert engine.process.wait(DEADLINE) == -signal.SIGKILL  # without the engine
    assert launcher.process.poll() is None
    engine.up()
    assert launcher.ended() == 0 and engine.asked[-2:] == ["remove", "list"]


def test_an_engine_that_fails_to_remove_is_asked_again(launch):
    engine, launcher = launch(("remove", 500), ("remove", "cut"), ("remove", 500))
    launcher.launched()
    launcher.hang_up()
    assert launcher.ended() == 0 and engine.asked.count("remove") == 4


def test_a_removal_that_is_under_way_may_fail(launch):
    """The engine's own, of a container that ended, or one whose answer was not waited for."""
    engine, launcher = launch(("remove", 409), ("remove", 409), ("remove", 500))
    launcher.launched()
    launcher.hang_up()
    assert launcher.ended() == 0 and engine.asked.count("remove") == 4 and engine.spec is None


def test_a_daemon_that_is_gone_before_the_container_is_there(launch):
    engine, launcher = launch(("start", "hang"))
    assert engine.reached.wait(DEADLINE)
    launcher.hang_up()
    launcher.control.close()
    engine.released.set()
    launcher.ended()
    assert engine.spec is None and engine.process.wait(DEADLINE) in (0, 1, -signal.SIGKILL)


@pytest.mark.parametrize("how", ["nothing", "nobody"])
def test_no_engine(tmp_path, how):
    engine = Engine(tmp_path)
    engine.server.shutdown()
    engine.server.server_close()
    if how == "nothing":
        os.unlink(engine.socket)
    launcher = Launcher(engine, tmp_path)
    err, text = launcher.refusal()
    assert err == EOPNOTSUPP and "systemctl start docker" in text and launcher.ended() == 125


def test_what_is_swept(tmp_path):
    """What dead daemons of this user's left: not others', and nothing that a living one may use."""
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    here = f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    own, alive = str(os.geteuid()), f"{os.getpid()}:{started(os.getpid())}"
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # nobody has waited for it yet
    listed = {
        "dead": ("999999999:1", own, here), "ended": (f"{ended.pid}:{started(ended.pid)}", own, here), "reused": (f"{os.getpid()}:1", own, here), "booted": (alive, own, "another:1"),
        "alive": (alive, own, here), "others": ("999999999:1", "12345", here), "elsewhere": ("999999999:1", own, f"{boot}:1"),
    }  # fmt: skip
    engine = Engine(tmp_path)
    engine.listed = [
        {"Id": name, "Labels": {"adder.daemon": daemon, "adder.owner": owner, "adder.host": host}}
        for name, (daemon, owner, host) in listed.items()
    ] + [{"Id": "bare", "Labels": {"adder.daemon": "1:1"}}]
    removed = []
    engine.remove = lambda _: removed.append(1) or ((204, {}) if len(removed) < 4 else (409, {"message": "under way"}))
    launcher = Launcher(engine, tmp_path)
    launcher.process.kill()
    launcher.process.wait()
    order = launcher.process.args[2]
    done = subprocess.run([RUNNER / "adder-container", "sweep", order], capture_output=True, text=True, timeout=DEADLINE, env={})
    engine.end()
    ended.wait()
    assert done.returncode == 0 and done.stdout == "removed 3 containers of earlier daemons\n" and len(removed) == 4


def test_a_launcher_that_ends_sweeps(launch):
    """An engine may make a container for a launcher that was killed after the sweep with which the next daemon begins."""
    engine, launcher = launch()
    launcher.launched()
    here = f"{pathlib.Path('/proc/sys/kernel/random/boot_id').read_text().strip()}:{os.stat('/proc/self/ns/pid').st_ino}"
    engine.listed = [
        {"Id": "late", "Labels": {"adder.daemon": "999999999:1", "adder.owner": str(os.geteuid()), "adder.host": here}}
    ]
    launcher.hang_up()
    assert launcher.ended() == 0 and engine.asked[-3:] == ["remove", "list", "remove"]


def started(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


@pytest.mark.parametrize("order", ["", "{}", "[]", '{"engine": 1}'])
def test_orders_that_are_none(order):
    done = subprocess.run([RUNNER / "adder-container", "sweep", order], capture_output=True, text=True, timeout=DEADLINE, env={})
    assert done.returncode == 125 and done.stderr.count("\n") == 1 and "container" in done.stderr
