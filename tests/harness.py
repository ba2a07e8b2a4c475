# SPDX-License-Identifier: Apache-2.0
"""What the suites share: an installed Adder, users to run it as, results that are checked as they come in.

Every result that passes through Adder.run() is held against the contract (each field there, of its type, the command's
exit code as the outcome says), so that each test checks it again on its own case. What a test gathered is printed whole
when it fails (see conftest.py).
"""
import contextlib
import ctypes
import fcntl
import functools
import itertools
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid

import jsonschema
import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
DEADLINE = 60  # seconds; generous, since no test is decided by time

OUTCOMES = {
    "ok": None,
    "error": None,
    "refused": 126,
    "approval_required": 126,
    "timeout": 124,
    "cpu_limit": 137,
    "memory_limit": 137,
    "output_limit": 137,
    "crashed": None,
    "cancelled": 130,
    "busy": 75,
    "failed": 125,
}

NULL = type(None)
FIELDS = {
    "schema_version": int,
    "run_id": str,
    "outcome": str,
    "exit_code": (int, NULL),
    "signal": (str, NULL),
    "stdout": str,
    "stderr": str,
    "stdout_bytes": int,
    "stderr_bytes": int,
    "truncated": bool,
    "result_id": (str, NULL),
    "value": (dict, NULL),
    "displays": list,
    "charts": list,
    "error": (dict, NULL),
    "violations": list,
    "denials": list,
    "network": list,
    "files": list,
    "changes": list,
    "warnings": list,
    "approval_id": (str, NULL),
    "session": (dict, NULL),
    "usage": dict,
    "limits": dict,
    "isolation": (dict, NULL),
}
ERROR_FIELDS = {
    "type": str,
    "message": str,
    "traceback": (str, NULL),
    "line": (int, NULL),
    "hint": (str, NULL),
}
FILE_FIELDS = {
    "file_id": (str, NULL),
    "name": str,
    "mime": (str, NULL),
    "bytes": int,
    "sha256": (str, NULL),
    "url": (str, NULL),
}
DENIAL_KINDS = {"network", "file", "write", "call", "install", "processes", "space", "file_size", "open_files", "memory"}
DENIAL_FIELDS = {"kind": str, "detail": str, "hint": str}
USAGE_FIELDS = {
    "queue_ms": (int, float),
    "wall_ms": (int, float),
    "cpu_ms": (int, float),
    "peak_memory_bytes": (int, NULL),
}

# The limits of the table in docs/configuration.md.
LIMITS = {
    "wall_ms",
    "cpu_ms",
    "memory_bytes",
    "pids",
    "file_bytes",
    "open_files",
    "workspace_bytes",
    "workspace_files",
    "shm_bytes",
    "cpu_percent",
    "output_bytes",
    "reply_bytes",
    "value_bytes",
    "files",
    "files_bytes",
    "files_depth",
    "tables",
    "table_bytes",
    "spill_bytes",
    "stdin_bytes",
    "code_bytes",
    "network_connections",
    "network_in_bytes",
    "network_out_bytes",
    "network_ms",
}


def quick(names, *chosen):
    """The parameters NAMES, of which those CHOSEN belong to the quick subset."""
    assert set(chosen) <= set(names)
    return [pytest.param(name, marks=pytest.mark.quick) if name in chosen else name for name in names]


gathered = (
    []
)  # what the running test saw; conftest.py empties it before each and prints it after a failing one


def wait_until(condition, what, deadline=DEADLINE):
    """Polls until CONDITION() is true and returns what it gave; fails naming WHAT. Looking costs processor time, so what takes
    long is looked at less often."""
    begun = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - begun
        assert waited < deadline, f"waited {deadline} s in vain: {what}"
        time.sleep(min(max(waited / 10, 0.01), 0.1))


def wait_for_handlers(process):
    """Until the command PROCESS sees to its signals itself, before which one simply ends it, or has ended."""

    def blocked():
        if process.poll() is not None:
            return True
        with open(f"/proc/{process.pid}/status") as status:
            line = next(line for line in status if line.startswith("SigBlk:"))
        return int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1

    wait_until(blocked, "a command that sees to its signals")


def shortened(value, most=6000):
    """The same object with very long texts cut in the middle, for people."""
    if isinstance(value, str) and len(value) > most:
        half = most // 2
        return f"{value[:half]} ... {len(value) - most} characters ... {value[-half:]}"
    if isinstance(value, dict):
        return {key: shortened(item, most) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item, most) for item in value]
    return value


class Result:
    """The result object of one `adder run --json`: its fields as attributes, and the command's own exit code."""

    def __init__(self, fields, exit_status):
        self.fields = fields
        self.exit_status = exit_status

    def __getattr__(self, name):
        try:
            return self.__dict__["fields"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self):
        return json.dumps(shortened(self.fields), indent=2, ensure_ascii=False)

    @property
    def text(self):
        """The value as plain text, or None."""
        return self.value and self.value.get("text/plain")

    @property
    def names(self):
        return sorted(file["name"] for file in self.files)

    def told(self):
        """stdout as the JSON that the code printed."""
        return json.loads(self.stdout)


def fits(value, kind):
    """isinstance, but True is no number."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)


def check_fields(fields, table, where):
    missing = sorted(set(table) - set(fields))
    assert not missing, f"{where} lacks {missing}"
    for name, kind in table.items():
        assert fits(fields[name], kind), f"{where}.{name} is {fields[name]!r}, not of type {kind}"


def check_result(fields, exit_status):
    """The contract of every result, whatever the outcome."""
    check_fields(fields, FIELDS, "result")
    assert fields["schema_version"] == 1
    outcome = fields["outcome"]
    assert outcome in OUTCOMES
    expected = OUTCOMES[outcome]
    if outcome == "crashed":
        assert fields["signal"], "a crash names its signal"
        expected = 128 + signal.Signals[fields["signal"]]
    elif outcome in ("ok", "error"):
        expected = fields["exit_code"] & 0xFF
    assert exit_status == expected, f"outcome {outcome} ends the command with {exit_status}, not {expected}"

    if outcome == "error":
        assert fields["error"] is not None or fields["exit_code"] != 0, "an error says which"
    if outcome == "failed":
        assert fields["error"] and fields["error"]["message"], "a failure says why"
    if fields["error"] is not None:
        check_fields(fields["error"], ERROR_FIELDS, "error")
    for index, denial in enumerate(fields["denials"]):
        check_fields(denial, DENIAL_FIELDS, f"denials[{index}]")
        assert set(denial) == set(DENIAL_FIELDS) and denial["kind"] in DENIAL_KINDS
        assert denial["detail"].isprintable() and denial["hint"].endswith(".")
    for index, file in enumerate(fields["files"]):
        check_fields(file, FILE_FIELDS, f"files[{index}]")
        parts = file["name"].split("/")
        assert not file["name"].startswith("/") and ".." not in parts and "" not in parts and "." not in parts
    for name in ("warnings",):
        assert all(isinstance(item, str) and item for item in fields[name])
    for bundle in fields["displays"] + ([fields["value"]] if fields["value"] else []):
        assert isinstance(bundle, dict) and all("/" in mime for mime in bundle)

    if outcome not in ("failed", "busy", "refused", "approval_required"):
        assert re.fullmatch(
            r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", fields["run_id"]
        )
        check_fields(fields["usage"], USAGE_FIELDS, "usage")
        assert set(fields["limits"]) == LIMITS
        assert all(isinstance(value, int) for value in fields["limits"].values())
        check_fields(fields["isolation"], {"level": int, "missing": list}, "isolation")
        assert fields["isolation"]["level"] in range(5)


def strict_pairs(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"a name twice in one object: {names}"
    return dict(pairs)


def strict_json(text):
    """Parses TEXT, refusing what JSON does not have: NaN, names twice, anything after the object."""

    def constant(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, object_pairs_hook=strict_pairs, parse_constant=constant)


# ---- processes ----


class Process:
    """A process as /proc shows it; equal only to itself, even when the pid is given out anew."""

    def __init__(self, pid):
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            stat = file.read()
        fields = stat[stat.rindex(b")") + 2 :].split()
        self.pid = int(pid)
        self.name = stat[stat.index(b"(") + 1 : stat.rindex(b")")].decode(errors="replace")
        self.state, self.parent, self.start = fields[0].decode(), int(fields[1]), int(fields[19])

    def __eq__(self, other):
        return (self.pid, self.start) == (other.pid, other.start)

    def __hash__(self):
        return hash((self.pid, self.start))

    def __repr__(self):
        return f"{self.pid} ({self.name}, {self.state}, parent {self.parent})"

    def alive(self):
        try:
            now = Process(self.pid)
        except (OSError, ValueError):
            return False
        return now == self and now.state not in "ZX"

    @contextlib.contextmanager
    def descriptor(self):
        """A pidfd of this process and no other that may have its pid by now; None where it has ended."""
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            yield None
            return
        try:
            yield descriptor if self.alive() else None
        finally:
            os.close(descriptor)

    def signal(self, number):
        assert self.pid > 1
        with self.descriptor() as descriptor, contextlib.suppress(ProcessLookupError):
            if descriptor is not None:
                signal.pidfd_send_signal(descriptor, number)

    def wait(self, seconds):
        """Until it has ended, or for SECONDS."""
        with self.descriptor() as descriptor:
            if descriptor is not None:
                waiting = select.poll()
                waiting.register(descriptor, select.POLLIN)
                waiting.poll(1000 * max(seconds, 0))

    def arguments(self):
        """The words it was started with; none when it is gone."""
        try:
            return pathlib.Path(f"/proc/{self.pid}/cmdline").read_bytes().split(b"\0")[:-1]
        except OSError:
            return []

    def namespace(self, kind):
        try:
            return os.readlink(f"/proc/{self.pid}/ns/{kind}")
        except OSError:
            return None


def processes():
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                found.append(Process(entry))
            except (OSError, ValueError):
                pass
    return found


def descendants(pid):
    children = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process)
    assert pid > 1, "that would be everybody"
    found, queue = [], [pid]
    while queue:
        for child in children.get(queue.pop(), []):
            found.append(child)
            queue.append(child.pid)
    return found


# ---- runs that can be found on the host ----

FOREVER = "print('started', flush=True)\nwhile True: pass"


def schema_of(kind, schema):
    """The part of SCHEMA that is for values of KIND: it may have others beside it, such as null."""
    return next(part for part in schema.get("anyOf", [schema]) if part["type"] == kind)


def build_directory():
    return pathlib.Path(os.environ.get("ADDER_BUILD", REPOSITORY / "build")).resolve()


def new_directory(common_directory, name):
    """One that was not there: a fixture of the session may be made more than once."""
    for number in itertools.count():
        directory = common_directory / (f"{name}-{number}" if number else name)
        if not directory.exists():
            directory.mkdir()
            return directory


def skip_without(environment):
    pytest.skip(f"no environment `{environment}`: make it with `adder env new {environment}`, or set ADDER_ENVIRONMENTS_DIR")


def unique():
    """A name for a process, at most 15 characters."""
    return f"test-{uuid.uuid4().hex[:10]}"


def named(name, code=FOREVER):
    """Code whose process goes by NAME on the host."""
    return f"import ctypes\nctypes.CDLL(None).prctl(15, {name.encode()!r})\n{code}"


def with_name(name):
    return [process for process in processes() if process.name == name and process.alive()]


# ---- what processes have ----


def private_bytes(pid):
    """Memory that is the process's alone."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return 1024 * sum(int(size) for size in re.findall(r"^Private_(?:Clean|Dirty):\s+(\d+) kB", text, re.M))


def status_bytes(pid, name):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M).group(1))


def forget_peak(pid):
    """VmHWM begins anew."""
    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")


def end_accepting(listening, thread):
    """Closes a socket at which THREAD accepts. Not before it has ended: another socket could get the descriptor's number, and have
    its connections taken away."""
    listening.shutdown(socket.SHUT_RDWR)
    thread.join()
    listening.close()


# ---- what a host holds besides processes ----


OF_TESTS = re.compile(r" (/(?:var/)?tmp/adder-(?:small|tests)-[^/ ]+)")  # small disks (faults/test_blob_plugs.py), suites


def host_mounts():
    """All but those that suites beside this one make in places of their own."""
    lines = (line.split(" ", 3)[3] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines())
    return {line for line in lines if not (place := OF_TESTS.search(line)) or place[1] in Installation.places}


def host_cgroups():
    """Every cgroup with Adder's name in its path."""
    found = set()
    for directory, names, _ in os.walk("/sys/fs/cgroup"):
        found.update(
            os.path.join(directory, name)
            for name in names
            if "adder" in os.path.join(directory, name).lower()
        )
    return found


def opened(pid):
    """What the process PID has open, by names."""
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            yield os.readlink(f"/proc/{pid}/fd/{number}")


def copies_of_descriptors(pid):
    """Ours, of what the process PID has open: to be closed."""
    number_of_pidfd_getfd = 438  # in all tables that Linux has
    process = os.pidfd_open(pid)
    try:
        call = functools.partial(ctypes.CDLL(None).syscall, number_of_pidfd_getfd, process)
        return [copy for number in os.listdir(f"/proc/{pid}/fd") if (copy := call(int(number), 0)) >= 0]
    finally:
        os.close(process)


def held(adder, pid):
    """What a daemon could leave behind, counted at rest."""
    return {
        "descriptors": adder.descriptors(),
        "threads": len(os.listdir(f"/proc/{pid}/task")),
        "processes": len(descendants(pid)),
        "cgroups": len([path for path in host_cgroups() if f"adder-{pid}-" in path]),
        "mounts": len(host_mounts()),
        "runtime files": len(os.listdir(adder.runtime)),
    }


# ---- the installed product ----


class Installation:
    """The build, installed below a directory of its own that every user can reach."""

    places = set()  # of the suites of this process

    def __init__(self, build, root):
        self.build, self.root = build, root
        self.places.add(str(pathlib.Path(root).parent))
        subprocess.run(
            ["meson", "install", "-C", str(build), "--no-rebuild", "--quiet", "--destdir", str(root)],
            check=True,
            umask=0o022,
            stdout=subprocess.DEVNULL,
        )
        self.prefix = pathlib.Path(root) / "usr/local"
        self.program = self.prefix / "bin/adder"
        assert self.program.exists(), f"{build} installs no adder"

    def files(self):
        """(device, inode) of each file, to recognise processes that execute one."""
        found = {}
        for directory, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(directory, name)
                stat = os.stat(path)
                found[stat.st_dev, stat.st_ino] = path
        return found

    def processes(self):
        """Processes that execute a file of the installation: command lines, daemons, launchers, inits."""
        files, found = self.files(), []
        for process in processes():
            try:
                stat = os.stat(f"/proc/{process.pid}/exe")
            except OSError:
                continue
            if (stat.st_dev, stat.st_ino) in files and process.alive():
                found.append(process)
        return found


class User:
    def __init__(self, name, uid, prefix, why_not=None):
        self.name, self.uid, self.prefix, self.why_not = name, uid, prefix, why_not

    def __repr__(self):
        return self.name


@functools.lru_cache(maxsize=None)
@functools.lru_cache(maxsize=None)
def users():
    """Whom the suites run as: the one who runs them and, where that is root, nobody as well. Of those who cannot be,
    why_not says the reason. The same objects each time, by which pytest tells whether a user has changed."""
    if os.geteuid() != 0:
        return [User("user", os.geteuid(), []), User("root", 0, [], "the tests do not run as root")]
    why_not = None if shutil.which("setpriv") else "no setpriv (package util-linux)"
    nobody = User("nobody", 65534, ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], why_not)
    return [User("root", 0, []), nobody]


# How busy the machine is ends no session whose code was interrupted: only a test of that says how long it may take.
PATIENCE = "[sessions]\ninterrupt_grace_ms = 60s\n"


class Adder:
    """The command line of one user, with a home, a configuration and a runtime directory of its own."""

    def __init__(self, installation, user, directory, config="", variables=None):
        self.installation, self.user = installation, user
        self.directory = pathlib.Path(directory)
        self.home, self.runtime, self.config, self.state, self.scratch = (
            self.directory / name for name in ("home", "run", "config", "state", "scratch")
        )
        for path in (self.home, self.runtime, self.config, self.state, self.scratch):
            path.mkdir(mode=0o700)
            self.own(path)
        self.variables = variables or {}
        self.environment = None  # --env of every run, unless the test says another
        self.wrapper = []  # a program that runs each command, with its arguments
        self.used_by = None  # the file whose tests share this one now
        self.deadline = DEADLINE  # longer where a container engine takes part
        self.configure(config)

    def own(self, path):
        if os.geteuid() == 0:
            os.chown(path, self.user.uid, self.user.uid)
        return path

    def configure(self, text):
        path = self.config / "adder.conf"
        path.write_text(text if "interrupt_grace_ms" in text else PATIENCE + text)
        path.chmod(0o644)

    def file(self, name, content):
        """A file in the scratch directory, readable by the user."""
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for each in (path, *path.parents):
            if each == self.scratch:
                break
            self.own(each)
        return path

    def folder(self, name):
        path = self.scratch / name
        path.mkdir(parents=True)
        return self.own(path)

    def process_environment(self):
        kept = {
            name: os.environ[name]
            for name in ("PATH", "ADDER_ENVIRONMENTS_DIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "G_SLICE")
            if name in os.environ
        }
        return {
            **kept,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "ADDER_RUNTIME_DIR": str(self.runtime),
            "ADDER_CONFIG_DIR": str(self.config),
            "ADDER_STATE_DIR": str(self.state),
            **self.variables,
        }

    def command(self, *arguments):
        return [*self.user.prefix, *self.wrapper, str(self.installation.program), *map(str, arguments)]

    def popen(self, *arguments, **options):
        options = {
            "bufsize": 0,  # readline and communicate on one pipe: nothing may be read ahead
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "cwd": self.scratch,
            "env": self.process_environment(),
            **options,
        }
        return subprocess.Popen(self.command(*arguments), **options)

    def call(self, *arguments, timeout=None, input=None, **options):
        """One command to its end; stdout and stderr as text."""
        timeout = timeout or 2 * self.deadline
        if input is not None:
            options["stdin"] = subprocess.PIPE
        with self.popen(*arguments, **options) as process:
            try:
                out, err = process.communicate(input if input is None else input.encode(), timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                gathered.append((self.command(*arguments), None, out, err))
                raise AssertionError(
                    f"no end within {timeout} s: adder {' '.join(map(str, arguments))[:300]}"
                )
        ended = subprocess.CompletedProcess(process.args, process.returncode, out.decode(), err.decode())
        gathered.append((process.args, ended.returncode, ended.stdout, ended.stderr))
        return ended

    def has_environment(self, name):
        return self.call("env", "show", name, "--json").returncode == 0

    def json(self, *arguments, **options):
        """One `adder run ... --json`; the result, checked against the contract."""
        ended = self.call("run", "--json", *arguments, **options)
        return self.parse(ended.stdout, ended.stderr, ended.returncode)

    @staticmethod
    def parse(stdout, stderr, exit_status):
        assert stdout.endswith("\n") and stdout.count("\n") == 1, "exactly one line with one object"
        fields = strict_json(stdout)
        last = gathered[-1]
        if not isinstance(last, Result) and last[2] == stdout:  # another thread's may have come between
            gathered[-1] = (last[0], exit_status, "(below)", stderr)
        result = Result(fields, exit_status)
        gathered.append(result)
        assert stderr == "", "with --json, nothing else is written"
        check_result(fields, exit_status)
        return result

    def run(self, code, *options, env=None, **others):
        """Runs CODE. Options come before it, as strings; env: an environment other than the usual one."""
        environment = env or self.environment
        chosen = ["--env", environment] if environment else []
        if "\0" not in code and len(code.encode(errors="surrogatepass")) < 100000:
            return self.json(*chosen, *options, "-c", code, **others)
        return self.json(*chosen, *options, self.file("code.py", code), **others)

    def start(self, code, *options, env=None, json_reply=False, **others):
        """Starts a run that streams, and returns its process."""
        environment = env or self.environment
        chosen = ["--env", environment] if environment else []
        chosen += ["--json"] if json_reply else []
        return self.popen("run", *chosen, *options, "-c", code, **others)

    @property
    def socket(self):
        return self.runtime / "adder.sock"

    def connect(self):
        """A connection of our own to the local socket."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(self.deadline)

        def connected():
            try:
                connection.connect(str(self.socket))
                return True
            except BlockingIOError:  # more wait to be accepted than the kernel keeps
                return False

        wait_until(connected, "the daemon to accept a connection", self.deadline)
        return connection

    def daemon(self):
        """The daemon's pid, from its socket, or None. It is a process of the installation, or the test fails."""
        try:
            with self.connect() as connection:
                credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            pid = int.from_bytes(credentials[:4], sys.byteorder)
            executable = os.path.realpath(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            return None
        assert pid > 1 and executable.startswith(
            str(self.installation.root)
        ), f"{pid} ({executable}) is no daemon of ours"
        return pid

    def status(self):
        ended = self.call("serve", "status", "--json")
        assert ended.returncode == 0, ended
        return strict_json(ended.stdout)

    def at_rest(self):
        """Waits until nothing runs and the pools are full; the daemon's pid."""
        full = os.cpu_count() + 2  # the default of pool.parked in docs/configuration.md; one more once there was a session
        contained = 2  # of container.parked; each has a zygote of its own

        def is_full(pool):
            parked = pool["parked"] - pool["for_sessions"]
            zygotes, most = (contained, contained) if pool.get("backend") == "container" else (1, full)
            return parked == most and pool["parking"] == 0 and pool["zygotes"] == zygotes

        def quiet():
            status = self.status()
            pools = status["engine"]["pools"]
            return status["connections"] == status["engine"]["running"] == 0 and all(map(is_full, pools))

        wait_until(quiet, "the pools to be full again", self.deadline)
        return self.daemon()

    def connections(self):
        """How many the daemon has not closed yet. /proc/net/unix shows accepted connections under the listener's path, beside it."""
        lines = pathlib.Path("/proc/net/unix").read_text(errors="replace").splitlines()
        return sum(line.endswith(f" {self.socket}") for line in lines) - 1

    def descriptors(self):
        """How many the daemon holds at rest, without connections: the last of them may take a moment to close. Nor are those of
        its database counted: how many connections to that it keeps (IDLE_MAX in store/database.c) depends on how busy it was."""
        pid = self.at_rest()
        wait_until(lambda: self.connections() == 0, "the daemon to close its connections")
        return sum(not name.startswith(f"{self.state}/store/records.db") for name in opened(pid))

    def traces(self):
        """All that this daemon has running, to be looked for when it is gone."""
        pid = self.daemon()
        try:
            return Traces([], {}) if pid is None else Traces.of(pid)
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            return Traces([], {})

    def wait_ended(self):
        """Waits until the daemon has ended by itself, without asking it: that would keep it. Its process has the lock as long as it
        lives."""

        def ended():
            with open(f"{self.socket}.lock") as lock, contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True

        wait_until(ended, "the idle daemon to end", self.deadline)

    def stop(self):
        """Ends the daemon as a user would and asserts that it takes everything along."""
        pid = self.daemon()
        if pid is None:
            return
        traces = self.traces()
        ended = self.call("serve", "stop", "--force")  # also where a test left sessions
        assert ended.returncode == 0, ended
        traces.wait_gone(self.deadline)
        assert self.daemon() is None
        left = sorted(path.name for path in self.runtime.iterdir() if path.suffix not in (".lock", ".log"))
        assert left == [], f"the runtime directory still holds {left}"

    def kill(self):
        """For finalisers: no daemon stays, whatever state it is in. Nothing is signalled before it is certain that the
        pid is a daemon of this very installation: a wrong pid here would cost the host."""
        traces = self.traces()
        if not traces.processes or traces.processes[0] not in self.installation.processes():
            return
        for process in traces.processes:
            process.signal(signal.SIGKILL)


# ---- sessions ----

SESSION_FIELDS = {
    "session_id": str,
    "name": (str, NULL),
    "owner": str,
    "environment": str,
    "profile": str,
    "state": str,
    "cells": int,
    "variables": int,
    "created": str,
    "idle_ms": (int, NULL),
    "expires_in_ms": (int, NULL),
    "memory_bytes": (int, NULL),
    "parent": (str, NULL),
    "branched_at": (int, NULL),
    "branched_from": (str, NULL),
    "checkpoints": list,
    "shell": (str, NULL),
    "isolation": (dict, NULL),
    "reason": (str, NULL),
}


class Sessions:
    """The command line's sessions, from one process to the next."""

    def __init__(self, adder):
        self.adder, self.made = adder, []

    def ask(self, *arguments):
        """`adder session ... --json`, which must succeed."""
        ended = self.adder.call("session", *arguments, "--json")
        assert ended.returncode == 0 and ended.stderr == "", ended
        return strict_json(ended.stdout)

    def refused(self, *arguments, status=125):
        """The one sentence of a command that must fail."""
        ended = self.adder.call("session", *arguments)
        assert ended.returncode == status and ended.stdout == "", ended
        assert ended.stderr.startswith("adder: ") and ended.stderr.count("\n") == 1, ended.stderr
        return ended.stderr

    def new(self, *options, env=None):
        environment = env or self.adder.environment
        session = self.ask("new", *(["--env", environment] if environment else []), *options)
        check_fields(session, SESSION_FIELDS, "session")
        self.made.append(session["session_id"])
        return session["session_id"]

    def cell(self, session, code, *options, **others):
        return self.adder.json("--session", session, *options, "-c", code, **others)

    def show(self, session):
        shown = self.ask("show", session)
        check_fields(shown, SESSION_FIELDS, "session")
        return shown

    def list(self):
        return self.ask("list")["sessions"]

    def start(self, session, code, *options, **others):
        return self.adder.popen("run", "--session", session, *options, "-c", code, **others)

    def started(self, session, code=FOREVER, *options):
        """A cell that runs; CODE must print something first."""
        process = self.start(session, code, *options)
        assert process.stdout.readline() == b"started\n"
        return process

    def end_all(self):
        if self.made and self.adder.daemon():
            self.adder.call("session", "rm", *self.made)

    def make_room(self):
        """Ends what other tests left: an owner may have ten."""
        if not self.adder.daemon():
            return
        self.made += [session["session_id"] for session in self.list()]
        self.end_all()
        self.made = []


# ---- tools ----


class Tools:
    """Calls of one toolset's tools. Each reply is held against the schema that `adder tool list` prints for it."""

    def __init__(self, adder, toolset):
        self.adder, self.toolset = adder, toolset
        ended = adder.call("tool", "list", "--toolset", toolset, "--format", "mcp")
        assert ended.returncode == 0 and ended.stderr == "", ended
        self.table = {tool["name"]: tool for tool in strict_json(ended.stdout)}

    def call(self, name, arguments=None, *options, status=0, **others):
        """The reply of a call that must end with STATUS."""
        text = json.dumps(arguments if arguments is not None else {})
        ended = self.adder.call("tool", "call", name, text, "--toolset", self.toolset, *options, **others)
        return self.parse(name, ended, status)

    def parse(self, name, ended, status):
        assert ended.stdout.endswith("\n") and ended.stdout.count("\n") == 1, f"one line: {ended}"
        assert ended.stderr == "", ended
        reply = strict_json(ended.stdout)
        assert ended.returncode == status, ended
        bare = name.rpartition(".")[2]
        if bare in self.table:
            jsonschema.Draft202012Validator(self.table[bare]["outputSchema"]).validate(reply)
        return reply

    def refused(self, name, arguments=None, *options, status=125):
        """The sentence of a call that nothing came of."""
        reply = self.call(name, arguments, *options, status=status)
        assert set(reply) == {"error", "run_id"}, reply
        assert "\n" not in reply["error"]
        return reply["error"]


# ---- what a daemon leaves ----


class Traces:
    """Processes of a daemon, and its namespaces by name, held open."""

    def __init__(self, processes_, namespaces):
        self.processes, self.namespaces = processes_, namespaces

    @classmethod
    def of(cls, pid):
        found, spaces = [Process(pid), *descendants(pid)], {}
        for process in found:
            with contextlib.suppress(OSError):
                # Held open: the number of a namespace that has ended is at once given to another, of another suite perhaps.
                held = open(f"/proc/{process.pid}/ns/pid", "rb")
                spaces.setdefault(f"pid:[{os.fstat(held.fileno()).st_ino}]", held)
        spaces.pop(os.readlink("/proc/self/ns/pid"), None)
        return cls(found, spaces)

    def left(self):
        now = [process for process in self.processes if process.alive()]
        now += [
            process
            for process in processes()
            if process.namespace("pid") in self.namespaces and process.alive() and process not in now
        ]
        return now

    def wait_gone(self, deadline=DEADLINE):
        left = []

        def gone():
            left[:] = self.left()
            return not left

        wait_until(gone, left, deadline)
