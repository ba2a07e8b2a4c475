# SPDX-License-Identifier: Apache-2.0
"""Real servers for the tests of the store, one of its own for each test program, in a directory below /tmp, run by an ordinary
user and ended with whoever started it. PostgreSQL: on a Unix socket. S3 (SeaweedFS): on ports of 127.0.0.1.

Tests in Python use `Postgres` and `S3`. Those in C run `python3 store_world.py postgres` (or `s3`) and write a command a line
to its standard input (COMMANDS below); each is answered by one line. When the input ends, so does the server."""

import ctypes
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ports

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


# ---- S3 ----

KEYS = {"adder": "sesame-open", "reader": "sesame-look"}  # of access, with their secrets; the second may not write
RIGHTS = {"adder": ["Admin", "Read", "Write", "List", "Tagging"], "reader": ["Read", "List"]}
PORTS = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc")
S3_SETTINGS = (
    "-filer", "-s3", "-s3.iam=false", "-s3.autoCreateBucket=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
    "-master.volumeSizeLimitMB=256", "-volume.max=1000", "-metricsPort=0",
    "-master.electionTimeout=500ms", "-master.heartbeatInterval=100ms",
)  # fmt: skip
# Each bucket has volumes of its own: one, not seven. How many there may be is not computed from the room on the disk (-volume.max=0):
# the tests hardly fill any, and on a disk with 60 GB left the buckets of one program had too few.
S3_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}


def weed():
    """The server that scripts/test installs (seaweedfs.txt), or None."""
    build = pathlib.Path(os.environ.get("ADDER_SEAWEEDFS") or pathlib.Path(__file__).resolve().parents[1] / "build/seaweedfs")
    found = build / "bin/weed"
    return found if found.exists() else shutil.which("weed")


class S3:
    def __init__(self):
        self.weed = weed()
        if not self.weed:
            raise FileNotFoundError("there is no S3 server on this host (tests/seaweedfs.txt, which scripts/test installs)")
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="adder-s3-", dir="/tmp"))
        self.server = None
        self.made = 0
        self.reserved = [ports.reserve() for _ in PORTS]  # also while the server is down
        self.ports = dict(zip(PORTS, map(ports.number_of, self.reserved), strict=True))
        try:
            self.directory.chmod(0o711)
            self.data = self.directory / "data"
            self.data.mkdir(mode=0o700)
            self.config = self.directory / "s3.json"
            self.config.write_text(
                json.dumps(
                    {
                        "identities": [
                            {"name": name, "credentials": [{"accessKey": name, "secretKey": secret}], "actions": RIGHTS[name]}
                            for name, secret in KEYS.items()
                        ]
                    }
                )
            )
            if os.geteuid() == 0:
                os.chown(self.data, NOBODY, NOBODY)
            self.up()
        except BaseException:
            self.end()
            raise

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.ports['s3.port']}"

    def ask(self, method, path, *options):
        """Status of a signed request."""
        done = subprocess.run(
            ["curl", "-q", "-s", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "10", "-X", method,
             "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", f"adder:{KEYS['adder']}", *options, self.endpoint + path],
            capture_output=True, text=True, timeout=DEADLINE,
        )  # fmt: skip
        return int(done.stdout or 0)

    def up(self):
        with open(self.directory / "log", "ab") as log:
            self.server = subprocess.Popen(
                [self.weed, "server", "-dir", self.data, "-s3.config", self.config, *S3_SETTINGS,
                 *(f"-{name}={number}" for name, number in self.ports.items())],
                preexec_fn=become_ordinary,
                cwd=self.data,
                env={**S3_ENVIRONMENT, "HOME": str(self.data)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )  # fmt: skip
        end = time.monotonic() + DEADLINE
        nothing = ("-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "-H", "content-length: 1", "-d", "x")
        while self.ask("PUT", "/ready") not in (200, 409) or self.ask("PUT", "/ready/probe", *nothing) != 200:
            if self.server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"SeaweedFS: {(self.directory / 'log').read_text()[-2000:]}")
            time.sleep(0.05)

    def down(self):
        """Ends it at once, as a crash would."""
        if self.server and self.server.poll() is None:
            self.server.kill()
            self.server.wait(DEADLINE)
        self.server = None

    def freeze(self):
        """It does not answer any more, and what is connected stays so."""
        self.server.send_signal(signal.SIGSTOP)
        # Its other threads go on until the one that got the signal has run.
        os.waitid(os.P_PID, self.server.pid, os.WSTOPPED)

    def thaw(self):
        self.server.send_signal(signal.SIGCONT)

    def credentials(self, key="adder", secret=None, uid=None):
        """The path of a file of keys, which the user UID may read."""
        self.made += 1
        path = self.directory / f"keys{self.made}"
        path.touch(mode=0o600)
        path.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret or KEYS[key]}\n")
        if uid is not None and os.geteuid() == 0:
            os.chown(path, uid, -1)
        return path

    def url(self, bucket, credentials):
        return f"s3://{bucket}?endpoint={self.endpoint}&credentials={credentials}"

    def new(self, uid=None):
        """The URL of a new, empty bucket, with keys that the user UID may read."""
        self.made += 1
        bucket = f"world{self.made}"
        status = self.ask("PUT", f"/{bucket}")
        if status != 200:
            raise RuntimeError(f"SeaweedFS: {status} for a new bucket")
        return self.url(bucket, self.credentials(uid=uid))

    def end(self):
        try:
            self.down()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
            for reserved in self.reserved:
                reserved.close()
            for path in glob.glob("/tmp/seaweedfs-*.sock"):
                if any(path.endswith(f"-{number}.sock") for number in self.ports.values()):
                    os.unlink(path)


# ---- for tests in C ----

WORLDS = {"postgres": Postgres, "s3": S3}
COMMANDS = ("new", "up", "down", "freeze", "thaw", "drop")


def serve(kind):
    try:
        world = WORLDS[kind]()
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
    if len(sys.argv) != 2 or sys.argv[1] not in WORLDS:
        sys.exit(f"usage: store_world.py {'|'.join(WORLDS)}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.argv[1])
