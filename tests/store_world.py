# SPDX-License-Identifier: Apache-2.0
"""Real servers for the tests of the store. PostgreSQL: one of its own for each test program, on a Unix socket in a directory
below /tmp, run by an ordinary user and ended with whoever started it.

Tests in Python use `Postgres`. Those in C run `python3 store_world.py postgres` and write a command a line to its standard
input (COMMANDS below); each is answered by one line. When the input ends, so does the server."""

import ctypes
import glob
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEADLINE = 60
NOBODY = 65534
PR_SET_PDEATHSIG = 1

# Nothing here has to outlive a power cut.
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "max_connections": "100",
    "shared_buffers": "16MB",
    "log_min_messages": "warning",
}
# A role that has to say its password, one that may do nothing; all others are let in.
RULES = "local all locked scram-sha-256\nlocal all all trust\n"
ROLES = (
    "CREATE ROLE locked LOGIN PASSWORD 'sesame'",
    "CREATE ROLE powerless LOGIN",
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
)


def programs():
    """The folder of the newest PostgreSQL server, or None."""
    found = glob.glob("/usr/lib/postgresql/*/bin/postgres")
    if found:
        return pathlib.Path(max(found, key=lambda path: int(path.split("/")[4]))).parent
    path = shutil.which("postgres")
    return pathlib.Path(path).resolve().parent if path else None


def become_ordinary():
    """In a child: an ordinary user, who ends with the parent."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


class Postgres:
    def __init__(self):
        self.bin = programs()
        if not self.bin:
            raise FileNotFoundError("there is no PostgreSQL on this host (the package postgresql)")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="adder-pg-", dir="/tmp"))
        self.server = None
        self.made = 0
        try:
            self.directory.chmod(0o755)
            self.data = self.directory / "data"
            self.data.mkdir(mode=0o700)
            if os.geteuid() == 0:
                os.chown(self.data, NOBODY, NOBODY)
                os.chown(self.directory, NOBODY, NOBODY)
            self.program("initdb", "-N", "-A", "trust", "-U", "adder", "-E", "UTF8", "--locale", "C", "-D", self.data)
            (self.data / "pg_hba.conf").write_text(RULES)
            self.up()
            for role in ROLES:
                self.sql(role, "template1")
        except BaseException:
            self.end()
            raise

    def program(self, name, *arguments):
        done = subprocess.run(
            [self.bin / name, *arguments],
            preexec_fn=become_ordinary,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr or done.stdout}")
        return done.stdout

    def sql(self, statement, database="postgres"):
        return self.program(
            "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-U", "adder", "-d", database,
            "-c", statement,
        ).strip()  # fmt: skip

    def url(self, database, role="adder"):
        return f"postgresql://{role}@/{database}?host={self.directory}"

    def new(self):
        """The URL of a new, empty database."""
        self.made += 1
        name = f"world{self.made}"
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)

    def up(self):
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        with open(self.directory / "log", "ab") as log:
            self.server = subprocess.Popen(
                [self.bin / "postgres", "-D", self.data, "-c", f"unix_socket_directories={self.directory}", *settings],
                preexec_fn=become_ordinary,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + DEADLINE
        while True:
            try:
                self.sql("SELECT 1")
                return
            except (RuntimeError, subprocess.TimeoutExpired):
                if self.server.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def down(self, how=signal.SIGQUIT):
        """Ends it at once, as a crash would; SIGINT: it says goodbye to those that are connected."""
        if self.server and self.server.poll() is None:
            self.thaw()
            self.server.send_signal(how)
            self.server.wait(DEADLINE)
        self.server = None

    def processes(self):
        children = pathlib.Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children").read_text().split()
        return [self.server.pid, *map(int, children)]

    def signal_all(self, number):
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def freeze(self):
        """It does not answer any more, and what is connected stays so."""
        self.signal_all(signal.SIGSTOP)

    def thaw(self):
        self.signal_all(signal.SIGCONT)

    def drop(self):
        """Everybody else's connection is closed."""
        self.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname <> ''")

    def end(self):
        try:
            self.down()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)


# ---- for tests in C ----

COMMANDS = ("new", "up", "down", "freeze", "thaw", "drop")


def serve():
    try:
        world = Postgres()
    except FileNotFoundError as error:
        print(f"none {error}", flush=True)
        return
    try:
        print("ready", flush=True)
        for line in sys.stdin:
            word, _, rest = line.strip().partition(" ")
            if word == "sql":
                database, _, statement = rest.partition(" ")
                answer = world.sql(statement, database)
            elif word in COMMANDS:
                answer = getattr(world, word)()
            else:
                sys.exit(f"no such command: {line}")
            print(answer.replace("\n", " ") if answer else "ok", flush=True)
    finally:
        world.end()


if __name__ == "__main__":
    if sys.argv[1:] != ["postgres"]:
        sys.exit("usage: store_world.py postgres")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve()
