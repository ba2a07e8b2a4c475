# SPDX-License-Identifier: Apache-2.0
"""A small internet for tests: a host with a name server, in a network and mount namespace of its own, and behind a cable another
namespace with servers at public and at private addresses. Run in the first as `python3 network_world.py DIRECTORY`
(tests/e2e/test_network.py says how); it prints "ready".

Nothing of the real network is there, so any address may be given to a server. What servers that no sandbox may reach are asked
is written to DIRECTORY/reached, a line for each."""

import ctypes
import http.server
import json
import os
import pathlib
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

PUBLIC, OTHER, PUBLIC6 = "93.184.216.34", "93.184.216.99", "2606:2800:220:1::34"
INTRANET, PRIVATE, METADATA, PRIVATE6 = "10.77.0.2", "192.168.7.7", "169.254.169.254", "fd00:77::2"
OWN, OWN6 = "93.184.216.1", "2606:2800:220:1::1"  # of the host that the daemon is on
FORBIDDEN = ("127.0.0.1", OTHER, PRIVATE, METADATA, PRIVATE6, "::1", OWN, OWN6)
CLONE_NEWNET = 0x40000000

NAMES = {
    "api.example.org": [PUBLIC],
    "six.example.org": [PUBLIC6],
    "key.example.org": [PUBLIC],
    "en.wikipedia.org": [PUBLIC],
    "wikipedia.org": [PUBLIC],
    "evilwikipedia.org": [OTHER],
    "wikipedia.org.evil.org": [OTHER],
    "xn--wkipedia-c2a.org": [OTHER],
    "evil.org": [OTHER],
    "private.wikipedia.org": [PRIVATE],
    "private6.wikipedia.org": [PRIVATE6],
    "local.wikipedia.org": ["127.0.0.1"],
    "local6.wikipedia.org": ["::1"],
    "metadata.wikipedia.org": [METADATA],
    "mapped.wikipedia.org": ["::ffff:192.168.7.7"],
    "zero.wikipedia.org": ["0.0.0.0"],
    "own.wikipedia.org": [OWN],
    "own6.wikipedia.org": [OWN6],
    "both.wikipedia.org": [PRIVATE, PUBLIC],
    "intranet.example.org": [INTRANET],
    "closed.wikipedia.org": ["93.184.216.77"],
}

directory = pathlib.Path(sys.argv[1])
asked = {}


def note(line):
    with open(directory / "reached", "a") as file:
        file.write(line + "\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, port, secure=None):
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, port), Handler)
        if secure:
            self.socket = secure.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # clients leave as they like


class Handler(http.server.BaseHTTPRequestHandler):
    """Tells what it was asked; /bytes/N sends so many, /slow waits, /redirect?to=URL leads on, /kept leaves its connection open."""

    def do_GET(self):
        address, port = self.server.server_address[:2]
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length).decode(errors="replace") if length else self.chunks()
        if address in FORBIDDEN:
            note(f"{address} {port} {self.path}")
        if self.path.startswith("/redirect?to="):
            self.send_response(302)
            self.send_header("Location", urllib.parse.unquote(self.path.partition("=")[2]))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/slow":
            time.sleep(30)
        answer = json.dumps(
            {
                "at": f"{address} {port}",
                "method": self.command,
                "path": self.path,
                "headers": self.headers.items(),
                "body": body,
                "leak": "LEAK" if address in FORBIDDEN else None,
            }
        ).encode()
        if self.path.startswith("/bytes/"):
            answer = b"x" * int(self.path.rpartition("/")[2])
        self.send_response(int(self.path.rpartition("/")[2]) if self.path.startswith("/status/") else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = self.close_connection and not self.path.startswith("/kept")

    do_POST = do_PUT = do_HEAD = do_GET

    def chunks(self):
        body = b""
        while self.headers.get("Transfer-Encoding") == "chunked":
            size = int(self.rfile.readline(), 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                break
        return body.decode()

    def log_message(self, *arguments):
        pass


# ---- names ----


def resolve(name):
    asked[name] = asked.get(name, 0) + 1
    if name == "rebind.wikipedia.org":  # the first answer is public, and each that follows is not
        return [PUBLIC] if asked[name] == 1 else ["127.0.0.1"]
    if name.endswith(".evil.org") and name not in NAMES:
        note(f"name server {name}")
    return NAMES.get(name)


def answer(query):
    """A reply with what there is of the type that was asked for: A (1) or AAAA (28)."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode(errors="replace"))
        at += 1 + query[at]
    kind = struct.unpack(">H", query[at + 1 : at + 3])[0]
    known = resolve(".".join(labels).lower()) if kind == 1 or ".".join(labels).lower() != "rebind.wikipedia.org" else []
    family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
    records = b""
    count = 0
    for address in known or []:
        if family and (":" in address) == (family == socket.AF_INET6):
            data = socket.inet_pton(family, address)
            records += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data
            count += 1
    flags = 0x8180 if known is not None else 0x8183
    return query[:2] + struct.pack(">HHHHH", flags, 1, count, 0, 0) + query[12 : at + 5] + records


def serve_names():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.53", 53))

    def serve():
        while True:
            query, client = server.recvfrom(4096)
            server.sendto(answer(query), client)

    threading.Thread(target=serve, daemon=True).start()


def serve_datagrams():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((PUBLIC, 9999))

    def serve():
        while True:
            note(f"datagram {server.recvfrom(4096)[0]!r}")

    threading.Thread(target=serve, daemon=True).start()


def serve_locally():
    """By an abstract name, which belongs to the network namespace, and by a path."""

    def serve(server):
        while True:
            connection, _ = server.accept()
            note("local socket")
            connection.close()

    for name in ("\0adder-test-world", str(directory / "socket")):
        server = socket.socket(socket.AF_UNIX)
        server.bind(name)
        server.listen()
        threading.Thread(target=serve, args=[server], daemon=True).start()


# ---- the place ----


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def prepare():
    run("ip", "link", "set", "lo", "up")
    (directory / "hosts").write_text("127.0.0.1 localhost\n")
    (directory / "resolv.conf").write_text("nameserver 127.0.0.53\noptions timeout:10 attempts:1\n")
    (directory / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    for name in ("hosts", "resolv.conf", "nsswitch.conf"):
        run("mount", "--bind", directory / name, os.path.realpath(f"/etc/{name}"))


def join(pid):
    """A cable from here to the namespace of process PID, where everything else is."""
    run("ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1", "netns", str(pid))
    run("ip", "address", "add", f"{OWN}/32", "dev", "veth0")
    run("ip", "address", "add", f"{OWN6}/128", "dev", "veth0", "nodad")
    run("ip", "link", "set", "veth0", "up")
    run("ip", "route", "add", "default", "dev", "veth0")
    run("ip", "-6", "route", "add", "default", "dev", "veth0")


def arrive():
    for address in (PUBLIC, OTHER, INTRANET, PRIVATE, METADATA):
        run("ip", "address", "add", f"{address}/32", "dev", "veth1")
    for address in (PUBLIC6, PRIVATE6):
        run("ip", "address", "add", f"{address}/128", "dev", "veth1", "nodad")
    run("ip", "link", "set", "veth1", "up")
    run("ip", "route", "add", OWN, "dev", "veth1")
    run("ip", "-6", "route", "add", OWN6, "dev", "veth1")


def elsewhere(secure):
    """The rest of the world, in a process and a network namespace of its own. Returns when its servers listen."""
    here, there = socket.socketpair()
    if os.fork() == 0:
        here.close()
        assert ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        there.send(b"+")
        there.recv(1)
        arrive()
        for address in (PUBLIC, PUBLIC6, INTRANET, OTHER, PRIVATE, METADATA, PRIVATE6):
            Server(address, 80)
        Server(PUBLIC, 8080)
        for address in (PUBLIC, OTHER):
            Server(address, 443, secure)
        serve_datagrams()
        there.send(b"+")
        there.recv(1)  # until the other side is gone
        os._exit(0)
    child = here
    there.close()
    assert child.recv(1) == b"+"
    join(next(int(pid) for pid in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))
    child.send(b"+")
    assert child.recv(1) == b"+"
    return child


def certificate():
    names = ",".join(f"DNS:{name}" for name in NAMES if "org.evil" not in name) + ",DNS:evil.org"
    run(
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test"),
        *("-keyout", directory / "key.pem", "-out", directory / "ca.pem", "-addext", f"subjectAltName={names}"),
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "ca.pem", directory / "key.pem")
    return context


def main():
    prepare()
    rest = elsewhere(certificate())
    for address in ("127.0.0.1", "::1", OWN, OWN6):
        Server(address, 80)
    Server("127.0.0.1", 22)
    serve_names()
    serve_locally()
    print("ready", flush=True)
    sys.stdin.read()  # until whoever started it hangs up
    rest.close()


main()
