# SPDX-License-Identifier: Apache-2.0
"""What code reaches of the host through a directory that is bind-mounted into it: in each mode, as each user. A work directory needs
namespaces, so there is none at level 1, where the same directory is tried by its path."""
import contextlib
import fcntl
import os
import shutil
import socket
import stat
import subprocess

import pytest

import harness
from harness import wait_until

pytestmark = pytest.mark.both_users

KINDS = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "packets": socket.SOCK_SEQPACKET}
MODES = {
    # mode: (options after --workdir PATH, what succeeds there)
    "read": ([], {"lock"}),  # in an overlay: nobody else sees it
    "overlay": ([], {"lock", "append"}),
    "review": (["--review"], {"lock", "append"}),
    "rw": ([], {"append", "read the pipe", "write to the pipe"}),  # the caller's files, with all that is theirs
}

# Prints for each attempt "done", or what it was met with.
ATTEMPTS = """
import errno, fcntl, json, os, socket, subprocess
told = {}

def attempt(name, action, *arguments):
    try:
        action(*arguments)
        told[name] = "done"
    except OSError as error:
        told[name] = errno.errorcode[error.errno]

def connect(kind, path):
    with socket.socket(socket.AF_UNIX, kind) as own:
        own.connect(path)
        own.send(b"x")

def send(kind, path):
    with socket.socket(socket.AF_UNIX, kind) as own:
        own.sendto(b"x", path)

def connect_pair(kind, path):
    for end in socket.socketpair(socket.AF_UNIX, kind):
        end.connect(path)

def append(path):
    with open(path, "a") as file:
        file.write("x")

def read_pipe():
    if not os.read(os.open("pipe", os.O_RDONLY | os.O_NONBLOCK), 1):
        raise OSError(errno.ENODATA, "nobody writes")

def run_program():
    if subprocess.check_output(["./program", "-u"], text=True) == f"{os.getuid()}\\n":
        raise OSError(errno.EPERM, "it gives no rights")

for path, kind in KINDS.items():
    for action in (connect, send, connect_pair):
        attempt(f"{action.__name__} {path}", action, kind, path)
attempt("write to the pipe", lambda: os.write(os.open("pipe", os.O_WRONLY | os.O_NONBLOCK), b"x"))
attempt("read the pipe", read_pipe)
attempt("lock", lambda: fcntl.flock(os.open("locked", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt("lease", lambda: fcntl.fcntl(os.open("locked", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK))
attempt("listen", lambda: fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_CREATE))
attempt("append", append, "locked")
attempt("follow a link", os.stat, "link/secret")
attempt("go up", os.stat, "../secret")
if os.path.exists("device"):
    attempt("open a device", os.open, "device", os.O_RDONLY)
    attempt("run a set-id program", run_program)
print(json.dumps(told))
"""


class Folder:
    """A directory of the user's, in which there is more than files."""

    def __init__(self, adder, name):
        self.path = adder.folder(f"{name}/folder")
        self.files = contextlib.ExitStack()
        adder.file(f"{name}/secret", "secret")
        (self.path / "link").symlink_to(self.path.parent)
        self.sockets = {kind: self.bound(kind) for kind in KINDS}
        os.mkfifo(self.path / "pipe")
        self.pipe = os.open(self.path / "pipe", os.O_RDWR | os.O_NONBLOCK)
        self.files.callback(os.close, self.pipe)
        os.write(self.pipe, b"secret")
        self.locked = self.files.enter_context(open(adder.file(f"{name}/folder/locked", "held"), "r+"))
        fcntl.flock(self.locked, fcntl.LOCK_EX)
        if os.geteuid() == 0:
            os.mknod(self.path / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
            shutil.copy("/usr/bin/id", self.path / "program")
        for entry in self.path.iterdir():
            if not entry.is_symlink():
                adder.own(entry)
                entry.chmod(0o777)
        if os.geteuid() == 0:
            os.chown(self.path / "program", 0, 0)
            (self.path / "program").chmod(0o4755)

    def bound(self, kind):
        found = self.files.enter_context(socket.socket(socket.AF_UNIX, KINDS[kind]))
        found.bind(str(self.path / kind))
        found.setblocking(False)
        if kind != "datagram":
            found.listen()
        return found

    def reached(self):
        """The sockets that somebody connected to, or sent to."""
        for kind, found in self.sockets.items():
            with contextlib.suppress(BlockingIOError):
                found.recv(1) if kind == "datagram" else found.accept()
                yield kind


@pytest.mark.parametrize("mode", MODES)
def test_what_is_reached(adder, mode):
    options, expected = MODES[mode]
    folder = Folder(adder, f"of-{mode}")
    with folder.files:
        word = f"{folder.path}:{mode}" if mode != "review" else folder.path
        kinds = f"KINDS = {({name: int(kind) for name, kind in KINDS.items()})}\n"
        result = adder.run(kinds + ATTEMPTS, "--workdir", word, *options)
        told = result.told()
        assert {name for name, outcome in told.items() if outcome == "done"} == expected, told
        assert os.geteuid() != 0 or {"open a device", "run a set-id program"} <= set(told)
        assert list(folder.reached()) == []
        hints = [denial["hint"] for denial in result.denials if denial["detail"] == "socket AF_UNIX"]
        assert len(hints) == (mode == "rw") and all("as an overlay" in hint for hint in hints), hints
        assert os.read(folder.pipe, 100) == (b"ecretx" if mode == "rw" else b"secret")
        assert (folder.path / "locked").read_text() == ("heldx" if mode == "rw" else "held")


@pytest.mark.parametrize("adder", ["level 1"], indirect=True)
def test_nothing_is_bind_mounted_without_namespaces(adder):
    """A run with a directory is refused, in each mode. The path leads nowhere either: what code guesses of it is there, and no more."""
    folder = Folder(adder, "not-bind-mounted")
    for above in (adder.scratch, folder.path.parent):
        above.chmod(0o755)  # root's sandboxes are another user
    with folder.files:
        kinds = f"KINDS = {({name: int(kind) for name, kind in KINDS.items()})}\n"
        for mode, (options, _) in MODES.items():
            word = f"{folder.path}:{mode}" if mode != "review" else folder.path
            result = adder.run(kinds + ATTEMPTS, "--workdir", word, *options)
            assert result.outcome == "refused" and result.stdout == "", mode
            assert "a work directory needs a sandbox with mounts of its own" in result.error["message"], mode
        result = adder.run(f"import os\nos.chdir({str(folder.path)!r})\n{kinds}{ATTEMPTS}")
        told = result.told()
        assert {name for name, outcome in told.items() if outcome == "done"} == {"follow a link", "go up"}, told
        assert list(folder.reached()) == []
        assert os.read(folder.pipe, 100) == b"secret" and (folder.path / "locked").read_text() == "held"


@pytest.mark.parametrize("adder", ["level 1"], indirect=True)
def test_a_large_file_is_copied_without_namespaces(adder):
    """One of 16 MiB is bind-mounted where there are mounts; here code has another file, and what it does to that one is nobody else's."""
    large = adder.file("large", "x" * (16 << 20))
    seen = large.stat()
    code = (
        "import fcntl, os\n"
        "with open('large', 'r+') as file:\n"
        "    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB); file.write('y')\n"
        "found = os.stat('large')\n"
        "print(found.st_ino, found.st_nlink, found.st_size)"
    )
    with open(large) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        inode, links, size = map(int, adder.run(code, "--file", large).stdout.split())
    assert inode != seen.st_ino and (links, size) == (1, 16 << 20)
    assert large.read_text() == "x" * (16 << 20) and large.stat().st_mtime_ns == seen.st_mtime_ns


@pytest.mark.parametrize("mode", ["read", "rw"])
def test_what_needs_no_name_works(adder, mode):
    """Pools, queues and pipes of multiprocessing, and loops of asyncio."""
    result = adder.run(
        "import asyncio, multiprocessing, socket\n"
        "with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n"
        "one, other = multiprocessing.Pipe()\n"
        "one.send('sent'); print(other.recv())\n"
        "async def main(): return (await (await asyncio.create_subprocess_exec('echo', 'said', stdout=-1)).communicate())[0]\n"
        "print(asyncio.run(main()))",
        "--workdir", f"{adder.folder('works')}:{mode}",
    )  # fmt: skip
    assert (result.outcome, result.stdout) == ("ok", "[1, 2]\nsent\nb'said\\n'\n")


@pytest.mark.parametrize("mode", ["read", "overlay", "rw"])
@pytest.mark.parametrize("name", ["runtime", "state", "config"])
def test_adders_own_directories(adder, name, mode):
    own = getattr(adder, name)
    below = own / "below"
    below.mkdir(exist_ok=True)
    adder.own(below)
    link = adder.scratch / "link"
    link.symlink_to(own)
    try:
        for path in (own, below, own.parent, link):
            ended = adder.call("run", "--workdir", f"{path}:{mode}", "-c", "print('ran')")
            assert ended.returncode != 0 and ended.stdout == "", path
            assert "cannot be a work directory: Adder's own " in ended.stderr, path
    finally:
        below.rmdir()


@pytest.mark.parametrize("namespaces", ["-Ur", "-Urpf"])
def test_the_daemon_answers_nobody_in_a_sandbox(adder, namespaces):
    """Who lives in namespaces as code does, and has the daemon's user id and its socket."""
    assert adder.daemon()
    adder.wrapper = ["unshare", namespaces]
    try:
        for words in (["serve", "status"], ["run", "-c", "1"], ["serve", "stop"]):
            ended = adder.call(*words)
            assert ended.returncode != 0 and "lives in another user or pid namespace" in ended.stderr, ended
    finally:
        adder.wrapper = []


@pytest.fixture
def shared_mounts(request, make_adder):
    """An Adder, with a configuration where the test gives one, in a mount namespace whose mounts are shared, as systemd makes them, and a function that mounts there."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts something on the host")
    adder = make_adder(getattr(request, "param", ""))
    with subprocess.Popen(["unshare", "--mount", "--propagation", "shared", "sleep", "infinity"]) as keeper:
        try:
            own = os.readlink("/proc/self/ns/mnt")
            wait_until(lambda: os.readlink(f"/proc/{keeper.pid}/ns/mnt") != own, "a mount namespace")
            inside = ["nsenter", "-t", str(keeper.pid), "-m"]
            wait_until(lambda: b" shared:" in subprocess.check_output([*inside, "cat", "/proc/self/mountinfo"]), "shared mounts")
            adder.user = harness.User(adder.user.name, adder.user.uid, [*inside, *adder.user.prefix])
            yield adder, lambda *words: subprocess.run([*inside, "mount", *map(str, words)], check=True)
            adder.stop()
        finally:
            keeper.kill()


@pytest.mark.parametrize("mode", ["read", "overlay", "rw"])
def test_late_mounts_stay_outside(shared_mounts, mode):
    adder, mount = shared_mounts
    kept, go = adder.file("folder/below/kept", "kept"), adder.file("folder/go", "")
    code = (
        "import os, time\n"
        "print('ready', flush=True)\n"
        "while not open('go').read(): time.sleep(0.01)\n"
        "print(os.listdir('below'), len(open('/proc/self/mountinfo').read().split(' /work/')))"
    )
    with adder.start(code, "--workdir", f"{go.parent}:{mode}") as run:
        assert run.stdout.readline() == b"ready\n"
        mount("-t", "tmpfs", "late", kept.parent)
        go.write_text("go")
        assert run.stdout.read() == b"['kept'] 1\n", run.stderr.read()


@pytest.mark.parametrize("shared_mounts, seen", [("", []), ("[sandbox]\nisolation = process\n", ["secret"])], indirect=["shared_mounts"])
def test_late_mounts_below_usr(shared_mounts, seen):
    """A zygote's tree is as it was when it started; at level 1 it is the host's, and who may read what is mounted there is for modes to say."""
    adder, mount = shared_mounts
    assert adder.run("1").outcome == "ok"
    late = adder.file("late/secret", "x").parent
    late.chmod(0o755)
    mount("--bind", late, "/usr/games")
    assert adder.run("import os\nprint(os.listdir('/usr/games'))").stdout == f"{seen}\n"


def test_a_mount_of_adders_own(shared_mounts):
    adder, mount = shared_mounts
    place = adder.folder("place")
    mount("--bind", adder.runtime, place)
    ended = adder.call("run", "--workdir", place, "-c", "print('ran')")
    assert ended.returncode != 0 and "cannot be a work directory: Adder's own socket directory" in ended.stderr, ended
