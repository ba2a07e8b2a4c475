# SPDX-License-Identifier: Apache-2.0
"""What an attack could find on the host if it got out: a file, a directory, a process, sockets, System V and POSIX objects.
Its names are given to the code as variables BAIT_*; harm() tells afterwards what was touched."""
import contextlib
import ctypes
import os
import pathlib
import secrets
import shutil
import socket
import subprocess

import harness

libc = ctypes.CDLL(None, use_errno=True)
BIND_BYTES = 16 << 20  # INPUT_BIND_BYTES
IPC_CREAT, IPC_EXCL, IPC_RMID = 0o1000, 0o2000, 0


class Attributes(ctypes.Structure):
    """struct mq_attr"""

    _fields_ = [(name, ctypes.c_long) for name in ("flags", "most", "size", "now")] + [("rest", ctypes.c_long * 4)]


def done(number):
    if number < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return number


class Bait:
    """All of it once. DIRECTORY is made; UID is whose process it shall be, where we may choose."""

    def __init__(self, directory, uid):
        self.directory, self.uid = pathlib.Path(directory), uid
        self.word = secrets.token_hex(16)
        self.closing = contextlib.ExitStack()
        self.variables = {"BAIT_WORD": self.word}
        self.place_files()
        self.place_bind_mounted_file()
        self.place_process()
        self.place_sockets()
        self.place_segment()
        self.place_queue()

    def close(self):
        self.closing.close()

    # ---- each kind: how it is placed, and how it is seen that somebody was there ----

    def place_files(self):
        open_directory = self.directory / "open"
        self.file = self.directory / "secret"
        self.directory.mkdir()
        self.closing.callback(shutil.rmtree, self.directory)
        open_directory.mkdir()
        self.file.write_text(self.word)
        for path, mode in ((self.directory, 0o755), (open_directory, 0o777), (self.file, 0o666)):
            if os.geteuid() == 0:
                os.chown(path, self.uid, self.uid)
            path.chmod(mode)
        self.open_directory, self.written = open_directory, self.file.stat().st_mtime_ns
        self.variables.update(BAIT_FILE=str(self.file), BAIT_DIRECTORY=str(open_directory))

    def harm_to_files(self):
        if self.file.read_text() != self.word:
            yield "the file was written to"
        if self.file.stat().st_mode & 0o777 != 0o666:
            yield "the file's mode was changed"
        if self.file.stat().st_mtime_ns != self.written:
            yield "the file's time was changed"
        if os.listdir(self.open_directory):
            yield f"files were left: {os.listdir(self.open_directory)}"

    def place_bind_mounted_file(self):
        """Its owner is who the sandbox is for the host, and everybody may write to it: only how it is bind-mounted protects it."""
        self.bind = self.directory / "bind"
        self.bind.write_text(self.word)
        os.truncate(self.bind, BIND_BYTES)
        if os.geteuid() == 0:
            os.chown(self.bind, self.uid, self.uid)
        self.bind.chmod(0o666)
        self.bind_before = self.facts_of_bind_mounted_file()
        self.variables["BAIT_BIND"] = str(self.bind)

    def facts_of_bind_mounted_file(self):
        stat = self.bind.stat()
        with self.bind.open() as file:
            head = file.read(len(self.word))
        return {
            "content": head,
            "size": stat.st_size,
            "blocks": stat.st_blocks,
            "mode": stat.st_mode,
            "owner": (stat.st_uid, stat.st_gid),
            "times": (stat.st_mtime_ns, stat.st_ctime_ns),
            "links": stat.st_nlink,
            "attributes": os.listxattr(self.bind),
        }

    def harm_to_bind_mounted_file(self):
        if not self.bind.exists():
            yield "the file that is bind-mounted was removed"
            return
        for name, value in self.facts_of_bind_mounted_file().items():
            if value != self.bind_before[name]:
                yield f"of the file that is bind-mounted, the {name} changed"
        if sorted(os.listdir(self.directory)) != ["bind", "open", "secret", "socket"]:
            yield f"something was done beside the file that is bind-mounted: {os.listdir(self.directory)}"

    def place_process(self):
        prefix = []
        if os.geteuid() == 0:
            prefix = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups"]
        process = subprocess.Popen(
            [*prefix, "sleep", "86400"],
            env={"PATH": os.environ["PATH"], "BAIT": self.word},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        self.closing.callback(process.wait)
        self.closing.callback(process.kill)
        harness.wait_until(lambda: harness.Process(process.pid).name == "sleep", "the process to be itself")
        self.process = harness.Process(process.pid)
        self.process_before = self.facts_of_process()
        self.variables["BAIT_PID"] = str(process.pid)

    def facts_of_process(self):
        """What others could change of it."""
        base = pathlib.Path(f"/proc/{self.process.pid}")
        stat = (base / "stat").read_text().rpartition(")")[2].split()
        status = dict(line.split(":\t", 1) for line in (base / "status").read_text().splitlines())
        return {
            "state": stat[0] in "TtZX",
            "nice": stat[16],
            "tracer": status["TracerPid"],
            "processors": status["Cpus_allowed"],
            "limits": (base / "limits").read_text(),
            "oom_score_adj": (base / "oom_score_adj").read_text(),
        }

    def harm_to_process(self):
        if not self.process.alive():
            yield "the process is dead"
            return
        for name, value in self.facts_of_process().items():
            if value != self.process_before[name]:
                yield f"the process's {name} was changed"

    def place_sockets(self):
        def bound(family, kind, address):
            found = self.closing.enter_context(socket.socket(family, kind))
            found.bind(address)
            found.setblocking(False)
            if kind == socket.SOCK_STREAM:
                found.listen()
            return found

        path, abstract = self.directory / "socket", f"adder-bait-{secrets.token_hex(8)}"
        self.sockets = {
            "TCP": bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "UDP": bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "path": bound(socket.AF_UNIX, socket.SOCK_STREAM, str(path)),
            "abstract": bound(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract),
        }
        path.chmod(0o777)
        self.variables.update(
            BAIT_PORT=str(self.sockets["TCP"].getsockname()[1]),
            BAIT_UDP_PORT=str(self.sockets["UDP"].getsockname()[1]),
            BAIT_SOCKET=str(path),
            BAIT_ABSTRACT=abstract,
        )

    def harm_to_sockets(self):
        for name, found in self.sockets.items():
            with contextlib.suppress(BlockingIOError):
                if found.type == socket.SOCK_STREAM:
                    found.accept()[0].close()
                else:
                    found.recv(1)
                yield f"the {name} socket was reached"

    def place_segment(self):
        self.key = int.from_bytes(os.urandom(3), "big") | 0x41000000
        self.segment = done(libc.shmget(self.key, 4096, IPC_CREAT | IPC_EXCL | 0o666))
        self.closing.callback(libc.shmctl, self.segment, IPC_RMID, None)
        self.segment_before = self.row_of_segment()
        self.variables["BAIT_SHM"] = str(self.key)

    def row_of_segment(self):
        """Its line of the kernel's table, which tells who attached to it last."""
        rows = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()
        return next((row.split()[:10] for row in rows[1:] if int(row.split()[1]) == self.segment), None)

    def harm_to_segment(self):
        if self.row_of_segment() != self.segment_before:
            yield "the System V segment was touched"

    def place_queue(self):
        name = f"/adder-bait-{secrets.token_hex(8)}"
        attributes = Attributes(most=2, size=8)
        umask = os.umask(0)
        self.queue = done(libc.mq_open(name.encode(), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666, ctypes.byref(attributes)))
        os.umask(umask)
        self.closing.callback(libc.mq_unlink, name.encode())
        self.closing.callback(os.close, self.queue)
        done(libc.mq_send(self.queue, b"x", 1, 0))
        self.variables["BAIT_QUEUE"] = name

    def harm_to_queue(self):
        attributes = Attributes()
        done(libc.mq_getattr(self.queue, ctypes.byref(attributes)))
        if attributes.now != 1:
            yield "the POSIX queue was used"

    def harm(self):
        """What was done to it, as sentences."""
        return [
            what
            for look in (
                self.harm_to_files,
                self.harm_to_bind_mounted_file,
                self.harm_to_process,
                self.harm_to_sockets,
                self.harm_to_segment,
                self.harm_to_queue,
            )
            for what in look()
        ]
