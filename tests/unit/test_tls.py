# SPDX-License-Identifier: Apache-2.0
"""adder-tls, between two sockets of this process: what it says of a handshake, and that all bytes pass."""

import fcntl
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import threading

import pytest

pytestmark = [pytest.mark.quick, pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl")]

BUILD = pathlib.Path(os.environ.get("ADDER_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
PROGRAM = BUILD / "src" / "runner" / "adder-tls"
NAMES = "subjectAltName=DNS:api.example.org,IP:127.0.0.1,IP:::1"
IDS = (str(os.getuid()), str(os.getgid()))
FAULT = 125


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    made = tmp_path_factory.mktemp("tls")
    new_key = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    subprocess.run([*new_key, "-subj", "/CN=test", "-keyout", made / "key.pem", "-out", made / "ca.pem", "-addext", NAMES], check=True, capture_output=True)
    return made


class Speaker:
    """The program, with the plain side and the host's side as sockets."""

    def __init__(self, *arguments, trusted="/dev/null"):
        self.plain, plain = socket.socketpair()
        self.host, host = socket.socketpair()
        for end in (self.plain, self.host):
            end.settimeout(60)
        # Small, so that either side is full long before all has passed.
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        host.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        above = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (plain, host)]
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for fd, number in zip(above, (3, 4))]
        environment = {"SSL_CERT_FILE": str(trusted), "SSL_CERT_DIR": "/dev/null"}
        self.pid = os.posix_spawn(PROGRAM, ["adder-tls", *arguments], environment, file_actions=actions)
        for fd in above:
            os.close(fd)
        plain.close()
        host.close()

    def exit_code(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def told(self):
        """All that comes to the plain side until it ends."""
        whole = b""
        while piece := self.plain.recv(65536):
            whole += piece
        return whole


def serve(speaker, directory, work):
    """Has WORK done with the host's side, in a thread; the thread's errors are in the list that is returned."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "ca.pem", directory / "key.pem")
    context.set_alpn_protocols(["http/1.1"])
    problems = []

    def run():
        try:
            with context.wrap_socket(speaker.host, server_side=True, suppress_ragged_eofs=False) as host:
                work(host)
        except (OSError, AssertionError) as problem:
            problems.append(problem)
            speaker.host.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, problems


def read(host, length):
    whole = bytearray()
    while len(whole) < length:
        piece = host.recv(min(65536, length - len(whole)))
        assert piece, f"it ended after {len(whole)} bytes"
        whole += piece
    return bytes(whole)


@pytest.mark.parametrize("name", ["api.example.org", "127.0.0.1", "::1"])
def test_all_bytes_pass(directory, name):
    there, back = os.urandom(1 << 20), os.urandom(1 << 20)
    speaker = Speaker(name, *IDS, trusted=directory / "ca.pem")

    def work(host):
        assert host.selected_alpn_protocol() == "http/1.1"
        assert read(host, len(there)) == there
        host.sendall(back)

    thread, problems = serve(speaker, directory, work)
    assert speaker.plain.recv(1) == b"+"
    speaker.plain.sendall(there)
    # Nothing more is asked; the answer comes all the same.
    speaker.plain.shutdown(socket.SHUT_WR)
    assert speaker.told() == back
    thread.join()
    assert not problems
    assert speaker.exit_code() == 0


def test_who_asks_goes_away(directory):
    """Also while the host sends more than anybody reads."""
    speaker = Speaker("api.example.org", *IDS, trusted=directory / "ca.pem")
    thread, problems = serve(speaker, directory, lambda host: host.sendall(bytes(4 << 20)))
    assert speaker.plain.recv(2) in (b"+", b"+\0")
    speaker.plain.close()
    assert speaker.exit_code() == 0
    thread.join()
    assert isinstance(problems[0], OSError)


def test_the_host_goes_away(directory):
    """While more is sent than it reads."""
    speaker = Speaker("api.example.org", *IDS, trusted=directory / "ca.pem")
    thread, _ = serve(speaker, directory, lambda host: host.recv(1))
    assert speaker.plain.recv(1) == b"+"
    with pytest.raises(OSError):
        for _ in range(64):
            speaker.plain.sendall(bytes(65536))
    assert speaker.exit_code() == 0
    thread.join()


@pytest.mark.parametrize(
    ("name", "trusts", "reason"),
    [
        ("other.example.org", True, b"hostname mismatch"),
        ("127.0.0.2", True, b"IP address mismatch"),
        ("api.example.org", False, b"self-signed certificate"),
    ],
)
def test_certificate_is_refused(directory, name, trusts, reason):
    speaker = Speaker(name, *IDS, trusted=directory / "ca.pem" if trusts else "/dev/null")
    thread, problems = serve(speaker, directory, lambda host: host.recv(1))
    told = speaker.told().lower().replace(b"self signed", b"self-signed")
    assert reason.lower() in told and not told.startswith(b"+"), told
    assert speaker.exit_code() == FAULT
    thread.join()
    assert problems


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""], ids=["http", "nothing"])
def test_host_speaks_no_tls(answer):
    speaker = Speaker("api.example.org", *IDS)
    assert speaker.host.recv(1)
    speaker.host.sendall(answer)
    speaker.host.shutdown(socket.SHUT_WR)
    assert speaker.told().startswith(b"cannot speak TLS")
    assert speaker.exit_code() == FAULT


def test_nobody_waits_any_more():
    """The host says nothing, and who asked hangs up: then there is nothing to wait for."""
    speaker = Speaker("api.example.org", *IDS)
    assert speaker.host.recv(1)
    speaker.plain.close()
    assert speaker.exit_code() == FAULT


@pytest.mark.parametrize("ids", [("x", "1"), ("1", "-1"), ("", "1"), ("4294967295", "1"), ("1", "99999999999999999999"), ("1 ", "1")])
def test_ids_are_numbers(ids):
    speaker = Speaker("api.example.org", *ids)
    assert speaker.told() == b"the ids are no numbers"
    assert speaker.exit_code() == FAULT


@pytest.mark.parametrize("arguments", [(), ("api.example.org",), ("api.example.org", *IDS, "more")])
def test_arguments(arguments):
    speaker = Speaker(*arguments)
    assert speaker.told() == b""
    assert speaker.exit_code() == FAULT
