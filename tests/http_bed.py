# SPDX-License-Identifier: Apache-2.0
"""A daemon that answers HTTP, for tests: `adder serve` in the foreground, on a port that was free; and requests, by
http.client and by bytes of the test's own."""
import contextlib
import http.client
import json
import pathlib
import platform
import re
import socket
import struct
import subprocess
import threading

import harness

USUAL = "localhost"
PPOLL = {"x86_64": "271", "aarch64": "73"}[platform.machine()]


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return harness.strict_json(self.body.decode())

    def __repr__(self):
        return f"{self.status} {harness.shortened(str(self.headers), 600)} {harness.shortened(repr(self.body), 2000)}"


class Lines(list):
    def __str__(self):
        return "".join(self)


class Served:
    """ADDER's daemon with HTTP at 127.0.0.1; LINES is what adder.conf has besides."""

    def __init__(self, adder, lines="", listen="127.0.0.1:0", token=True, start=True):
        self.adder, self.listen, self.log, self.told = adder, listen, Lines(), Lines()
        self.said = (["adder", "serve", f"--http={listen}"], None, self.told, self.log)
        if lines:
            adder.configure((adder.config / "adder.conf").read_text() + lines)
        self.secret = self.token("tester", "--role", "admin", "--may-decide") if token else None
        self.process = None
        if start:
            self.start()

    def token(self, name, *options):
        ended = self.adder.call("token", "new", name, *options)
        assert ended.returncode == 0, ended
        return ended.stdout.strip()

    def start(self):
        before = len(self.log)  # of an earlier start
        self.process = self.adder.popen("serve", f"--http={self.listen}")
        self.threads = [
            threading.Thread(target=self.gather, args=pair, daemon=True)
            for pair in ((self.process.stderr, self.log), (self.process.stdout, self.told))
        ]
        for thread in self.threads:
            thread.start()
        harness.wait_until(
            lambda: any("listens on /" in line for line in self.log[before:]) or self.process.poll() is not None,
            "the daemon to listen",
        )
        assert self.process.poll() is None, self.log
        found = re.search(r"http: listens on .*?https?://127\.0\.0\.1:(\d+)", "".join(self.log[before:]))
        self.port = int(found[1]) if found else None

    @staticmethod
    def gather(stream, lines):
        for line in iter(stream.readline, b""):
            lines.append(line.decode(errors="replace"))

    def stop(self):
        if self.process is None:
            return
        self.adder.stop()
        self.process.wait(self.adder.deadline)
        for thread in self.threads:
            thread.join()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process = None

    def show(self):
        """What it says is shown when the test fails that now asks it for something."""
        if not any(entry is self.said for entry in harness.gathered[-3:]):
            harness.gathered.append(self.said)

    def waiting(self):
        """Requests that only wait, for an event or for the end of something, by what their threads wait in."""
        count = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name, call = (task / "comm").read_text().strip(), (task / "syscall").read_text().split()
            except OSError:
                continue  # it has ended
            count += name == "http" and call[0] == PPOLL and int(call[2], 16) == 2  # descriptors
        return count

    # ---- requests ----

    @contextlib.contextmanager
    def connection(self, timeout=None):
        self.show()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout or self.adder.deadline)
        try:
            yield connection
        finally:
            connection.close()

    def headers(self, secret=None, **more):
        chosen = self.secret if secret is None else secret
        return {**({"Authorization": f"Bearer {chosen}"} if chosen else {}), **more}

    def ask(self, method, path, body=None, secret=None, connection=None, **headers):
        """SECRET "": without a token. BODY: bytes, or what JSON is made of."""
        if connection is None:
            with self.connection() as own:
                return self.ask(method, path, body, secret, own, **headers)
        sent = self.headers(secret, **{name.replace("_", "-"): value for name, value in headers.items()})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, sent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of the body was sent: the answer is there
        with connection.getresponse() as answer:
            return Reply(answer.status, dict(answer.getheaders()), answer.read())

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.ask("POST", path, {} if body is None else body, **options)

    def run(self, code, secret=None, **fields):
        reply = self.post("/v1/runs", {"code": code, **fields}, secret=secret)
        assert reply.status == 200, reply
        return reply.json()

    def upload(self, name, content, secret=None):
        body, kind = multipart([("file", name, content)])
        reply = self.ask("POST", "/v1/files", body, secret=secret, Content_Type=kind)
        assert reply.status == 201, reply
        return reply.json()["files"][0]["file_id"]

    # ---- bytes ----

    def connect(self, timeout=None):
        self.show()
        return socket.create_connection(("127.0.0.1", self.port), timeout or self.adder.deadline)

    def head(self, method="GET", path="/healthz", *lines, secret=""):
        """The beginning of a request, by itself a whole one without a body."""
        names = " ".join(line.split(":")[0].lower() for line in lines).split()
        chosen = [f"{method} {path} HTTP/1.1"]
        if "host" not in names:
            chosen.append("Host: " + USUAL)
        if secret is None or secret:
            chosen.append("Authorization: Bearer " + (self.secret if secret is None else secret))
        return "\r\n".join([*chosen, *lines, "", ""]).encode("latin-1")

    def exchange(self, data, timeout=None, more=False):
        """Sends DATA, and the end unless there is MORE to come, and returns all that comes back."""
        with self.connect(timeout) as connection:
            try:
                connection.sendall(data)
                if not more:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it may be hung up on before all of it was sent
            return read_all(connection)


class Stream:
    """A reply of events, as it comes."""

    def __init__(self, served, method, path, body=None, secret=None, **headers):
        self.open = served.connection()
        self.connection = self.open.__enter__()
        sent = served.headers(secret, **{name.replace("_", "-"): value for name, value in headers.items()})
        text = None if body is None else json.dumps(body).encode()
        self.connection.request(method, path, text, {**sent, **({"Content-Type": "application/json"} if body is not None else {})})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200 and self.answer.getheader("Content-Type").startswith("text/event-stream"), self.answer.read()

    def next(self):
        """(id, name, data) of the next event; None at the end."""
        found = {}
        while line := self.answer.readline().decode():
            if line == "\n" and found:
                return int(found["id"]) if "id" in found else None, found["event"], json.loads(found["data"])
            if line != "\n" and not line.startswith(":"):
                name, value = line.rstrip("\n").split(": ", 1)
                found[name] = value
        return None

    def rest(self):
        return list(iter(self.next, None))

    def ending(self):
        """The rest of one that may be broken off."""
        found = []
        with contextlib.suppress(OSError, http.client.HTTPException):
            for event in iter(self.next, None):
                found.append(event)
        return found

    def close(self):
        self.answer.close()
        self.open.__exit__(None, None, None)


def read_all(connection):
    pieces = []
    try:
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    except ConnectionError:
        pass
    return b"".join(pieces)


def read_until(connection, end):
    seen = b""
    while end not in seen:
        piece = connection.recv(1 << 16)
        assert piece, f"it ended before {end}: {seen}"
        seen += piece
    return seen


def reset(connection):
    """Goes away in the rudest way: whatever comes is answered with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def replies(data):
    """The replies in DATA, of requests that have no HEAD among them: (status, headers, body) each."""
    found = []
    while data:
        head, blank, data = data.partition(b"\r\n\r\n")
        assert blank and head.startswith(b"HTTP/1.1 "), data[:200]
        lines = head.decode("latin-1").split("\r\n")
        headers = [tuple(line.split(": ", 1)) for line in lines[1:]]
        named = {name.lower(): value for name, value in headers}
        length = int(named.get("content-length", 0))
        assert "transfer-encoding" not in named
        found.append((int(lines[0].split()[1]), headers, data[:length]))
        assert len(found[-1][2]) == length, "the reply is shorter than it says"
        data = data[length:]
    return found


def multipart(parts, boundary="adder-tests-boundary", end=True):
    """PARTS: (field, filename or None, content) each. The body and its type."""
    pieces = []
    for field, filename, content in parts:
        named = f'; filename="{filename}"' if filename is not None else ""
        pieces.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"{named}\r\n\r\n'.encode())
        pieces.append(content if isinstance(content, bytes) else content.encode())
        pieces.append(b"\r\n")
    if end:
        pieces.append(f"--{boundary}--\r\n".encode())
    return b"".join(pieces), f"multipart/form-data; boundary={boundary}"


class UnixConnection(http.client.HTTPConnection):
    """One to the Unix socket PATH."""

    def __init__(self, path):
        super().__init__(USUAL, timeout=harness.DEADLINE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(harness.DEADLINE)
        self.sock.connect(str(self.path))


def make_certificate(folder, name="localhost"):
    """A certificate of its own for 127.0.0.1 and localhost, whose subject is NAME, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        + ["-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        + ["-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    return certificate, key
