# SPDX-License-Identifier: Apache-2.0
"""Real container engines for tests: Debian's dockerd with a containerd of its own, and `podman system service`, each with its
own directory below /var/tmp, its own containers, images, control groups and mounts, and no network. The socket is for root and
for nobody's group. They end with whoever started them; what was left all the same, because somebody was killed, the next one
started removes.

Tests in Python use `Docker` and `Podman`. Those in C, and people, run `python3 docker_world.py docker` (or `podman`): it says
`ready SOCKET`, or `none WHY`, takes a command a line from its standard input (COMMANDS below) and answers each by one line.
When the input ends, so does the engine. `docker_world.py images PROGRAM` makes the images that tests of that installed
`adder` will want."""

import contextlib
import ctypes
import fcntl
import hashlib
import http.client
import io
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse

DEADLINE = 300  # seconds; on a busy host an engine takes a minute to start a container, and answers nothing else meanwhile
NOBODY = 65534
PR_SET_PDEATHSIG = 1
CLONE_NEWNS = 0x20000
REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
IMAGE = "localhost/adder:latest"  # as the configuration has it, unless it says another
BARE = "localhost/bare:latest"
# Podman's own are above what a host may allow even its root.
ULIMITS = [{"Name": name, "Soft": 1024, "Hard": 1024} for name in ("nofile", "nproc")]
PREFIX = "adder-containers-"
SWITCH = "ADDER_TEST_CONTAINERS"
FIRST = "docker"  # of ENGINES
WHOLE = os.environ.get(SWITCH) == "all"  # all tests with each engine as each user (conftest.py),
FIRST_ALONE = os.environ.get(SWITCH) == FIRST  # or with that one as the first user, no more
FOLDER = pathlib.Path("/var/tmp")


def with_parent():
    """In a child: a session of its own, so that nobody's Ctrl-C is for it, that ends with the parent."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def mount_namespace():
    """A descriptor of a new one, in which what is mounted on the host later appears, but not the other way round."""
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "slave", "sh", "-c", "echo ready && read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as made:
        if made.stdout.readline() != b"ready\n":
            raise RuntimeError("no mount namespace can be made")
        return os.open(f"/proc/{made.pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)


def until(condition, what, deadline=DEADLINE):
    end = time.monotonic() + deadline
    while not (value := condition()):
        if time.monotonic() > end:
            raise RuntimeError(f"waited {deadline} s in vain: {what}")
        time.sleep(0.02)
    return value


# ---- the API ----


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("engine", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


def ask(path, method, what, body=None, timeout=DEADLINE):
    """The answer to one request, parsed where it is JSON. Refused: the engine says no."""
    connection = Connection(path, timeout)
    with contextlib.closing(connection):
        headers = {"Content-Type": "application/json"} if isinstance(body, dict) else {"Content-Type": "application/x-tar"}
        connection.request(method, what, json.dumps(body) if isinstance(body, dict) else body, headers if body is not None else {})
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        if answer.status >= 400:
            raise Refused(answer.status, text)
        try:
            return json.loads(text)
        except ValueError:
            return text


# ---- what an engine leaves ----


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def processes_of(directory):
    """Those that have DIRECTORY, which is one engine's alone, among their arguments, and what descends from them: the engine,
    its shims and monitors, and the containers."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(stat[stat.rindex(")") + 2 :].split()[1])
    found = {pid for pid in parents if f"{directory}/".encode() in command_line(pid)}
    more = found
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - found
        found |= more
    mine = os.getpid()
    while mine:  # a test, and who runs it, may be told of the directory too
        found.discard(mine)
        mine = parents.get(mine)
    return found


def control_groups_of(name):
    """Bottom up. Others come and go meanwhile, of which os.walk makes nothing."""
    for place, _, _ in os.walk("/sys/fs/cgroup", topdown=False):
        if name in place.split("/"):
            yield place


def clear(directory):
    """Ends all that runs of the engine in DIRECTORY, with which its mounts go, and removes it."""
    until(lambda: not kill_all(directory), f"the end of what runs of {directory}")
    for group in control_groups_of(group_of(directory)):
        with contextlib.suppress(OSError):
            os.rmdir(group)
    shutil.rmtree(directory, ignore_errors=True)


def kill_all(directory):
    found = [pid for pid in processes_of(directory)]
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return [pid for pid in found if os.path.exists(f"/proc/{pid}/exe") and command_line(pid)]


def group_of(directory):
    return "tests-" + pathlib.Path(directory).name.removeprefix(PREFIX)


def locked_directory():
    """A new one, and its lock. It has its name only when the lock is held: others take one that nobody holds for a leftover."""
    made = pathlib.Path(tempfile.mkdtemp(prefix=f"new-{PREFIX}", dir=FOLDER))
    lock = os.open(made / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return made.rename(FOLDER / made.name.removeprefix("new-")), lock


def clear_leftovers():
    """Engines whose test was killed: nobody holds their lock."""
    for directory in FOLDER.glob(f"{PREFIX}*"):
        try:
            if directory.stat().st_uid != os.geteuid():
                continue
            lock = os.open(directory / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            clear(directory)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)


# ---- engines ----


class Engine:
    """What both have in common. `socket` is where it answers; `image` the name of Adder's image in it, once there is one."""

    name = None
    needs = ()
    kept = ()  # the directories that hold its images
    layers = {"data/overlay2", "data/vfs", "data/fuse-overlayfs", "root/overlay", "root/vfs"}  # of those, what has the files

    def __init__(self, template=None):
        """TEMPLATE: a directory that keep_images() made, whose images it has from the beginning."""
        why_not = self.why_not()
        if why_not:
            raise FileNotFoundError(why_not)
        clear_leftovers()
        self.directory, self.lock = locked_directory()
        self.socket = self.directory / "engine.sock"
        self.servers, self.variables = {}, {}
        self.namespace = mount_namespace()  # what it mounts is in nobody's way
        try:
            self.directory.chmod(0o711)
            self.prepare()
            if template:
                copy_images(self.kept, template, self.directory)
            self.up()
        except BaseException:
            self.end()
            raise

    @classmethod
    def why_not(cls):
        """Why there can be none here, or None."""
        if not os.environ.get(SWITCH):
            return f"tests with real container engines are dear: {SWITCH}={FIRST} asks for them"
        if os.geteuid() != 0:
            return "an engine of the tests' own needs root"
        for program in cls.needs:
            if not shutil.which(program):
                return f"there is no {program} on this host (scripts/packages, group test)"
        return None if runtimes() else "no OCI runtime of this host works with its control groups"

    def start(self, name, *command):
        """A server whose log is NAME.log."""

        def settle():
            with_parent()
            if ctypes.CDLL(None).setns(self.namespace, CLONE_NEWNS) != 0:
                raise OSError("its mount namespace cannot be entered")

        with open(self.directory / f"{name}.log", "ab") as log:
            self.servers[name] = subprocess.Popen(
                [shutil.which(command[0]), *map(str, command[1:])],
                preexec_fn=settle,
                cwd="/",
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.directory), "LC_ALL": "C", **self.variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def mounts(self):
        """Those of the engine's own mount namespace that are for its containers, as lines."""
        lines = [line for server in self.servers.values() for line in pathlib.Path(f"/proc/{server.pid}/mountinfo").read_text().splitlines()]
        return {line for line in lines if str(self.directory) in line}

    def wait_for(self, name, path):
        def there():
            if self.servers[name].poll() is not None:
                raise RuntimeError(f"{name}: {(self.directory / f'{name}.log').read_text()[-2000:]}")
            with contextlib.suppress(OSError):
                with socket.socket(socket.AF_UNIX) as one:
                    one.connect(str(path))
                    return True

        until(there, f"{name} to answer")

    def ask(self, method, what, body=None, timeout=DEADLINE):
        return ask(self.socket, method, what, body, timeout)

    def server(self):
        """The process that answers at the socket."""
        return self.servers[self.name]

    def kill(self):
        """The engine dies at once, and its containers live on."""
        self.thaw()
        self.server().kill()
        self.server().wait(DEADLINE)

    def down(self):
        """It ends as a system's shutdown would end it."""
        for server in reversed(self.servers.values()):
            if server.poll() is None:
                server.send_signal(signal.SIGCONT)
                server.terminate()
                try:
                    server.wait(DEADLINE)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()
        self.servers = {}

    def freeze(self):
        """It does not answer any more, and what is connected stays so."""
        self.server().send_signal(signal.SIGSTOP)
        # Its other threads go on until the one that got the signal has run.
        os.waitid(os.P_PID, self.server().pid, os.WSTOPPED)

    def thaw(self):
        self.server().send_signal(signal.SIGCONT)

    def is_up(self):
        return self.name in self.servers and self.server().poll() is None

    def revive(self):
        """After a test that killed it, froze it or left something in it."""
        if self.is_up():
            self.thaw()
        else:
            self.up()
        for container in self.containers():
            self.remove(container["Id"])

    def end(self):
        try:
            with contextlib.suppress(OSError, Refused, RuntimeError, http.client.HTTPException):
                if self.is_up():
                    self.revive()
            self.down()
        finally:
            os.close(self.namespace)
            clear(self.directory)
            os.close(self.lock)

    # -- containers, as somebody else would see to them --

    def containers(self, *labels):
        """All that carry LABELS, running or not. Docker 20.10 keeps the entry of one whose removal was asked for twice at once, also
        when nothing else of it is left: its state stays "removing"."""
        filters = json.dumps({"label": list(labels)}) if labels else "{}"
        path = f"/v1.41/containers/json?all=1&filters={filters.replace(' ', '').replace(chr(34), '%22')}"
        return [container for container in self.ask("GET", path) if container["State"] != "removing"]

    def inspect(self, container):
        return self.ask("GET", f"/v1.41/containers/{container}/json")

    def remove(self, container):
        with contextlib.suppress(Refused):
            self.ask("DELETE", f"/v1.41/containers/{container}?force=1")

    def pause(self, container):
        self.ask("POST", f"/v1.41/containers/{container}/pause")

    def unpause(self, container):
        self.ask("POST", f"/v1.41/containers/{container}/unpause")

    def kill_container(self, container):
        self.ask("POST", f"/v1.41/containers/{container}/kill")

    # -- images --

    def import_tree(self, tar, name, *changes):
        """An image of what the file object TAR holds, under NAME, with CHANGES in the words of a Dockerfile."""
        repository, _, tag = name.rpartition(":")
        query = urllib.parse.urlencode({"fromSrc": "-", "repo": repository, "tag": tag, "changes": list(changes)}, doseq=True)
        answer = self.ask("POST", f"/v1.41/images/create?{query}", tar)
        if "error" in str(answer):
            raise RuntimeError(f"{self.name} does not import: {answer}")

    def bare_image(self, *changes):
        """The name of an image with nothing in it but names of directories: what it runs is the host's, bound at /usr."""
        text = io.BytesIO()
        with tarfile.open(fileobj=text, mode="w") as tar:
            for name in ("usr", "etc", "proc", "sys", "dev", "tmp", "run/adder", "workspace"):
                entry = tarfile.TarInfo(name)
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            for name in ("bin", "sbin", "lib", "lib64"):
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{name}"
                tar.addfile(entry)
        text.seek(0)
        self.import_tree(text.getvalue(), BARE, *changes)
        return BARE

    def run_bare(self, *command, labels=None):
        """The id of a container of somebody else's, of that image, which runs a command of the host's."""
        body = {
            "Image": self.bare_image(),
            "Cmd": list(command),
            "Labels": labels or {},
            "HostConfig": {"NetworkMode": "none", "Binds": ["/usr:/usr:ro"], "Ulimits": ULIMITS},
        }
        made = self.ask("POST", "/v1.41/containers/create", body)["Id"]
        self.ask("POST", f"/v1.41/containers/{made}/start")
        return made

    def keep_images(self, directory):
        """Of one that is down: what another needs to have the same images, in the new DIRECTORY."""
        copy_images(self.kept, self.directory, directory)

    def config(self, **others):
        """The lines of a configuration that says this engine. A start may take as long as a busy host needs: where it came late, a run
        would be in a sandbox of the host's."""
        lines = {"engine": self.name, "socket": self.socket, "start_ms": "10min", **others}
        return "[container]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items())


def runtimes():
    """The OCI runtimes of the host that work on it: crun wants control groups of one version only."""
    mixed = os.path.ismount("/sys/fs/cgroup/unified")
    return [name for name in ("runc", "crun") if shutil.which(name) and not (name == "crun" and mixed)]


def gvisor():
    """As a daemon.json has it, where there is one: with what Adder needs of it, and without."""
    path = shutil.which("runsc")
    arguments = {"runsc": ["--network=none", "--host-uds=open"], "runsc-closed": ["--network=none"]}
    return {name: {"path": path, "runtimeArgs": more} for name, more in arguments.items()} if path else {}


class Docker(Engine):
    name = "docker"
    needs = ("dockerd", "containerd", "runc")
    kept = ("data/image", "data/overlay2", "data/vfs", "data/fuse-overlayfs")

    def prepare(self):
        # Not the host's configuration, nor its containerd, which would see the same containers.
        (self.directory / "daemon.json").write_text(json.dumps({"runtimes": gvisor()}))
        (self.directory / "containerd.toml").write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')

    def up(self):
        place, inner = self.directory, self.directory / "containerd.sock"
        if "containerd" not in self.servers:
            self.start(
                "containerd", "containerd", "--config", place / "containerd.toml", "--root", place / "containerd-root",
                "--state", place / "containerd-run", "--address", inner, "--log-level", "warn",
            )  # fmt: skip
            self.wait_for("containerd", inner)
        (place / "dockerd.pid").unlink(missing_ok=True)
        self.socket.unlink(missing_ok=True)
        # Each under a name of the tests' own, so that there is always another than the usual one.
        others = [f"--add-runtime=other-{name}={shutil.which(name)}" for name in runtimes()]
        self.start(
            "docker", "dockerd", "--config-file", place / "daemon.json", "--data-root", place / "data", "--exec-root", place / "run",
            "--pidfile", place / "dockerd.pid", "--containerd", inner, "-H", f"unix://{self.socket}", "--group", NOBODY,
            "--iptables=false", "--ip6tables=false", "--bridge=none", "--exec-opt", "native.cgroupdriver=cgroupfs",
            "--cgroup-parent", f"/{group_of(place)}", "--shutdown-timeout", "1", "--log-level", "warn", *others,
        )  # fmt: skip
        self.wait_for("docker", self.socket)


class Podman(Engine):
    name = "podman"
    needs = ("podman", "conmon")
    kept = ("root/overlay", "root/overlay-images", "root/overlay-layers", "root/vfs", "root/vfs-images", "root/vfs-layers")

    def prepare(self):
        # All of root's Podmans share the locks of their containers, by default: one that hangs would stop the others.
        conf = self.directory / "containers.conf"
        conf.write_text('[engine]\nlock_type = "file"\n')
        self.variables["CONTAINERS_CONF"] = conf

    def options(self):
        place = self.directory
        return [
            "--root", place / "root", "--runroot", place / "run", "--tmpdir", place / "tmp",
            "--cgroup-manager", "cgroupfs", "--events-backend", "file", "--runtime", shutil.which(runtimes()[0]),
        ]  # fmt: skip

    def up(self):
        self.socket.unlink(missing_ok=True)
        self.start("podman", "podman", *self.options(), "system", "service", "--time=0", f"unix://{self.socket}")
        self.wait_for("podman", self.socket)
        os.chown(self.socket, 0, NOBODY)
        self.socket.chmod(0o660)


# ---- the image ----

CACHE = REPOSITORY / "build/containers"  # what is fetched and made once; several checkouts may share one


def copy_images(names, source, target):
    """The directories NAMES. Files of layers are never written to, so hard links do; the rest engines write to."""
    for name in names:
        if not (source / name).exists():
            continue
        (target / name).parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        for linked in ["--link"] if name in Engine.layers else [], []:
            if subprocess.run(["cp", "-a", *linked, "-T", source / name, target / name], stderr=subprocess.DEVNULL).returncode == 0:
                break
            shutil.rmtree(target / name, ignore_errors=True)
        else:
            raise RuntimeError(f"{source / name} could not be copied")


def digest_of(*directories):
    """Of the names and contents of all files below DIRECTORIES."""
    digest = hashlib.sha256()
    for directory in directories:
        for path in sorted(path for path in directory.rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(directory)}\0{path.stat().st_mode}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


def build_image(engine, program, name=IMAGE):
    """`adder env image build`, by the installation of PROGRAM, into ENGINE."""
    with tempfile.TemporaryDirectory(prefix="adder-image-", dir=FOLDER) as place:
        (pathlib.Path(place) / "adder.conf").write_text(engine.config(image=name))
        cache = CACHE / "cache"
        cache.mkdir(parents=True, exist_ok=True)
        variables = {
            **os.environ, "XDG_CACHE_HOME": str(cache), "ADDER_CONFIG_DIR": place, "ADDER_RUNTIME_DIR": place, "ADDER_STATE_DIR": place,
        }  # fmt: skip
        done = subprocess.run(
            [program, "env", "image", "build"], env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800
        )
    if done.returncode != 0:
        raise FileNotFoundError(f"the image of the container tests cannot be built here: {done.stderr.strip()}")


def template(kind, program):
    """A directory with the images of an engine that has the image of the installation of PROGRAM: made once, and again when
    the image would be another."""
    installed = pathlib.Path(program).parent.parent
    sources = [path for path in (installed / "libexec/adder", REPOSITORY / "packaging/container") if path.exists()]
    place = CACHE / f"{kind}-{digest_of(*sources)}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            new = CACHE / f"{kind}.new"
            shutil.rmtree(new, ignore_errors=True)
            engine = ENGINES[kind]()
            try:
                build_image(engine, program)
                engine.down()
                engine.keep_images(new)
            finally:
                engine.end()
            # Two others may be in use: of the build for mutation tests, and of a run of the tests that goes on.
            older = sorted(CACHE.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime)
            for path in older[:-2]:
                shutil.rmtree(path, ignore_errors=True)
            new.rename(place)
        os.utime(place)
    return place


class Engines:
    """Those with Adder's image, started when they are first wanted."""

    def __init__(self, program):
        self.program, self.started = program, {}

    def get(self, kind):
        if kind not in self.started:
            self.started[kind] = self.new(kind)
        return self.started[kind]

    def new(self, kind, with_image=True):
        """One more, that nobody else uses; the caller's to end."""
        return ENGINES[kind](template(kind, self.program) if with_image else None)

    def end(self):
        for engine in self.started.values():
            engine.end()


ENGINES = {"docker": Docker, "podman": Podman}

# ---- for tests in C, and by hand ----

COMMANDS = {
    "up": lambda engine: engine.up(),
    "down": lambda engine: engine.down(),
    "kill": lambda engine: engine.kill(),
    "freeze": lambda engine: engine.freeze(),
    "thaw": lambda engine: engine.thaw(),
    "containers": lambda engine: " ".join(container["Id"] for container in engine.containers()),
    "bare": lambda engine, *command: engine.run_bare(*command) if command else engine.bare_image(),
    "remove": lambda engine, container: engine.remove(container),
    "pause": lambda engine, container: engine.pause(container),
    "unpause": lambda engine, container: engine.unpause(container),
}


def serve(kind):
    try:
        engine = ENGINES[kind]()
    except FileNotFoundError as error:
        print(f"none {error}", flush=True)
        return
    try:
        print(f"ready {engine.socket}", flush=True)
        for line in sys.stdin:
            word, *arguments = line.split()
            if word not in COMMANDS:
                sys.exit(f"no such command: {line}")
            answer = COMMANDS[word](engine, *arguments)
            print(answer if answer else "ok", flush=True)
    finally:
        engine.end()


def ended_by_signal(number, _frame):
    sys.exit(128 + number)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "images":
        kinds = [FIRST] if os.environ.setdefault(SWITCH, FIRST) == FIRST else ENGINES
        for kind in kinds:
            why_not = ENGINES[kind].why_not()
            if why_not:
                print(f"no tests with {kind}: {why_not}")
            else:
                template(kind, sys.argv[2])
        sys.exit()
    if len(sys.argv) != 2 or sys.argv[1] not in ENGINES:
        sys.exit(f"usage: docker_world.py {'|'.join(ENGINES)}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, ended_by_signal)
    serve(sys.argv[1])
