# SPDX-License-Identifier: Apache-2.0
"""Containers of the server's image (packaging/server-image) in an engine of docker_world.py, started with the options that
docs/server-image.md gives, and reached from outside over TCP, although the engine has no network."""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import uuid

import docker_world
from harness import end_accepting

REPOSITORY = docker_world.REPOSITORY
PAGE = REPOSITORY / "docs/server-image.md"
SECCOMP = REPOSITORY / "packaging/server-image/seccomp.json"
PORT = 7117
USER = 10001
CLONE_NEWNET = 0x40000000
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")


def archive(variant="slim"):
    """What scripts/common.sh server_image made, or None."""
    found = sorted((REPOSITORY / "build/server-image/archives").glob("adder-server-*.tar"))
    return next((path for path in found if ("-slim-" in path.name) == (variant == "slim")), None)


def documented(title, without=()):
    """The options of the command after the line of the page that has TITLE, except for those called WITHOUT and what tests have
    otherwise (port, volume, name), and without the image."""
    text = PAGE.read_text().partition(title)[2]
    command = re.search(r"```sh\n(?:docker|podman) run --detach (.*?)\n```", text, re.DOTALL)[1]
    options = re.findall(r"--\S+(?: [^-\s]\S*)?", command.replace("\\\n", " ").rpartition(" ")[0])
    left = [option for option in options if not option.startswith(("--publish", "--volume", "--name")) and not any(word in option for word in without)]
    return " ".join(left).replace("seccomp=seccomp.json", f"seccomp={SECCOMP}").split()


class Relay:
    """A TCP port of this host that leads to PORT of the network namespace of process PID. As with a port that an engine maps, the
    connection reaches another address than the one that its client names."""

    def __init__(self, pid):
        self.namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                threading.Thread(target=self.connect, args=(near,), daemon=True).start()

    def connect(self, near):
        # A thread has a network namespace of its own.
        if ctypes.CDLL(None, use_errno=True).setns(self.namespace, CLONE_NEWNET) != 0:
            near.close()
            return
        try:
            far = socket.create_connection(("127.0.0.2", PORT))
        except OSError:
            near.close()
            return
        threading.Thread(target=self.copy, args=(near, far), daemon=True).start()
        self.copy(far, near)
        near.close()

    def copy(self, source, target):
        with contextlib.suppress(OSError):
            while block := source.recv(1 << 16):
                target.sendall(block)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def close(self):
        end_accepting(self.listener, self.accepting)
        os.close(self.namespace)


class Engine:
    """An engine with the image, and the command `docker` for it."""

    def __init__(self, kind=docker_world.Docker):
        self.world = kind()
        self.groups = []
        try:
            self.image = self.load(archive())
        except BaseException:
            self.end()
            raise

    def docker(self, *arguments, check=True, **options):
        command = [shutil.which("docker", path="/usr/bin"), "--host", f"unix://{self.world.socket}", *map(str, arguments)]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.world.directory)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL,
                              timeout=docker_world.DEADLINE, **options)  # fmt: skip
        assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
        return done

    def load(self, path):
        return self.docker("load", "--input", path).stdout.strip().rpartition("Loaded image: ")[2]

    def delegated_group(self):
        """A control group of each hierarchy that belongs to the image's user, as the page describes it for v1."""
        name = f"/{docker_world.group_of(self.world.directory)}/server-{uuid.uuid4().hex[:8]}"
        for controller in CONTROLLERS:
            path = pathlib.Path("/sys/fs/cgroup", controller) / name[1:]
            path.mkdir(parents=True, exist_ok=True)
            os.chown(path, USER, USER)
            self.groups.append(path)
        return name

    def options(self, title="## Start", level=3):
        """Those of the page under TITLE, for a Docker of Debian 12, without a network."""
        given = documented(title, ["writable-cgroups"])  # Docker 28, and control groups v2
        if level == 3:
            given += ["--cgroup-parent", self.delegated_group(), "--volume", "/sys/fs/cgroup:/sys/fs/cgroup"]
        return given

    def end(self):
        self.world.end()
        for path in self.groups:
            for place, _, _ in os.walk(path, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(place)


class Server:
    """A container of the image, with a volume; started, and stopped, any number of times."""

    def __init__(self, engine, *options, command=(), network="none"):
        self.engine, self.image, self.command = engine, engine.image, list(command)
        self.options = [f"--network={network}", *options]
        self.volume = engine.docker("volume", "create").stdout.strip()
        self.relay = self.container = None

    def run(self, *arguments, check=True):
        """A command of adder in a container of its own, beside no server."""
        return self.engine.docker("run", "--rm", "--volume", f"{self.volume}:/data", *self.options, self.image, *arguments, check=check)

    def start(self):
        self.container = self.engine.docker(
            "run", "--detach", "--volume", f"{self.volume}:/data", *self.options, self.image, *self.command
        ).stdout.strip()  # fmt: skip
        return self

    def reach(self):
        """Waits until it answers. The URL."""
        self.wait(lambda: "listens on /" in self.log(), "the server to listen")
        self.relay = Relay(self.state()["Pid"])
        return f"http://127.0.0.1:{self.relay.port}"

    def wait(self, condition, what):
        docker_world.until(lambda: condition() or not self.state()["Running"], what)
        assert condition(), (what, self.log())

    def exec(self, *arguments, check=True):
        return self.engine.docker("exec", self.container, *arguments, check=check)

    def state(self):
        return self.engine.world.inspect(self.container)["State"]

    def log(self):
        done = self.engine.docker("logs", self.container)
        return done.stdout + done.stderr

    def stop(self):
        """As an administrator would; what Docker says of its end."""
        self.engine.docker("stop", "--time", "60", self.container)
        if self.relay:
            self.relay.close()
            self.relay = None
        return self.state()

    def end(self):
        if self.relay:
            self.relay.close()
        if self.container:
            self.engine.world.remove(self.container)


def doctor(ended):
    """What `adder doctor --json` printed, and its mechanisms by name."""
    told = json.loads(ended.stdout)
    return told, {fact["name"]: fact for fact in told["mechanisms"]}
