# SPDX-License-Identifier: Apache-2.0
"""The wheel: in bare Debian roots, as root and as an ordinary user whose home is closed to others."""
import base64
import contextlib
import csv
import hashlib
import io
import json
import pathlib
import re
import subprocess
import zipfile

import pytest

import debian_root

DIST = debian_root.SOURCE / "build/dist"
TOOLS = debian_root.SOURCE / "build/release-tools/bin"
FIRST_ANSWER_MS = 5000
ACCOUNTS = ("root", "someone")
WHEELS = "/dist"  # where the roots have build/dist


@pytest.fixture(scope="session")
def wheel():
    found = list(DIST.glob("adder_runtime-*.whl"))
    if not found:
        pytest.skip("no wheel in build/dist: packages of scripts/common.sh builds it")
    (path,) = found
    return path


@pytest.fixture(scope="module", params=debian_root.SUITES)
def root(request, wheel):
    """One with Debian's Python, which all tests of this file change only below homes."""
    if why_not := debian_root.why_not(request.param):
        pytest.skip(why_not)
    with debian_root.Root(request.param) as made:
        made.shell("apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends python3-venv", timeout=900)
        made.shell("chmod 700 /root /home/*")
        yield made


class Place:
    """A home in a root. What a script there starts, its daemon among it, ends with the script."""

    def __init__(self, root, account):
        self.root, self.account = root, account
        self.home = "/root" if account == "root" else f"/home/{account}"

    def clear(self):
        for path in [*(self.root.path / self.home[1:]).iterdir(), self.root.path / "var/lib/adder"]:
            subprocess.run(["rm", "-rf", "--", path], check=True)

    def run(self, script, **options):
        binds = {str(DIST): WHEELS, str(TOOLS): "/tools"}
        return self.root.shell(f"PATH=$HOME/venv/bin:$PATH\n{script}", user=self.account, binds=binds, **options).stdout.splitlines()


@pytest.fixture(scope="module", params=ACCOUNTS)
def place(root, request):
    """With the wheel in a virtual environment, which is first on PATH."""
    made = Place(root, request.param)
    made.clear()
    made.run(f"""
python3 -m venv venv
find venv ! -type d | sort >before
python -m pip install -q --no-index {WHEELS}/adder_runtime-*.whl
""")
    return made


@pytest.fixture
def bare(root):
    """The home of the ordinary user, with nothing in it."""
    made = Place(root, "someone")
    made.clear()
    return made


# ---- the file ----


def test_platform_tag(wheel):
    """auditwheel finds every library in the wheel or on its list of what all systems have."""
    shown = subprocess.run([TOOLS / "auditwheel", "show", wheel], capture_output=True, text=True, check=True).stdout
    tag = re.search(r"manylinux_2_\d+_x86_64", wheel.name)[0]
    assert f'the following platform tag: "{tag}"' in " ".join(shown.split()), shown


def test_metadata(wheel):
    subprocess.run([TOOLS / "twine", "check", "--strict", wheel], check=True)
    with zipfile.ZipFile(wheel) as archive:
        description = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    assert not re.search(r"\]\((?!https?:)", description), "no link or picture that leads nowhere on an index"


def test_record(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert names[-1].endswith(".dist-info/RECORD") and len(set(names)) == len(names)
        rows = list(csv.reader(io.StringIO(archive.read(names[-1]).decode())))
        assert [row[0] for row in rows] == names
        for name, digest, size in rows[:-1]:
            content = archive.read(name)
            sha256 = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={sha256}", str(len(content))), name
        assert rows[-1][1:] == ["", ""]


def test_bundled_libraries_are_named_with_their_terms(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        bundled = {pathlib.PurePath(name).name for name in names if "/libexec/adder/lib/" in name}
        (listed,) = [name for name in names if name.endswith("/licenses/libraries.tsv")]
        rows = [line.split("\t") for line in archive.read(listed).decode().splitlines()[1:]]
        assert {row[0] for row in rows} == bundled and "libglib-2.0.so.0" in bundled
        assert not [name for name in bundled if re.match(r"(libc|libm|ld-linux.*)\.so", name)], "glibc is the host's"
        for _, package, *_ in rows:
            assert archive.read(listed.replace("libraries.tsv", f"libraries/{package}.txt"))


# ---- the program ----


def test_first_answer(place):
    """Within five seconds, in namespaces, where no compiler is."""
    answer, milliseconds, result, version = place.run("""
begun=$(date +%s%N)
adder run -c 'print(6*7)'
echo $((($(date +%s%N) - begun) / 1000000))
adder run --json -c '6*7'
adder-runtime --version
""")
    assert answer == "42" and int(milliseconds) < FIRST_ANSWER_MS
    result = json.loads(result)
    assert result["value"] == {"text/plain": "42"} and result["isolation"]["level"] >= 2, result
    assert version.startswith("adder ")
    assert place.run("command -v cc gcc clang || echo none") == ["none"]


def test_runs_use_the_interpreter_that_it_was_installed_with(place):
    """With the packages that are installed beside it."""
    assert place.run("""
echo 'x = 42' >"$(echo venv/lib/python3*/site-packages)/beside.py"
adder run -c 'import beside, sys; print(beside.x, sys.executable)'
rm venv/lib/python3*/site-packages/beside.py
""") == [f"42 {place.home}/venv/bin/python3"]


def test_doctor(place):
    report = json.loads(place.run("adder doctor --json")[0])
    assert (report["trial"]["outcome"], report["trial"]["environment"]) == ("ok", "system"), report["trial"]
    assert report["level"] >= 2, report


def test_all_libraries_are_there(place):
    """Those of the modules and programs that these tests have no use for, too."""
    assert place.run("""
python -c 'import ctypes, glob
for path in sorted(glob.glob("venv/libexec/adder/adder-*.so")):
    ctypes.CDLL(path)
    print(path.rpartition("/")[2])'
for program in adder-tls adder-container; do venv/libexec/adder/$program </dev/null >/dev/null 2>&1 || [ $? -lt 126 ]; done
""") == ["adder-edit.so", "adder-http-client.so", "adder-http.so", "adder-nats.so", "adder-postgres.so", "adder-web.so"]


def test_web_interface(place):
    [title] = place.run("""
python -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode())' "$(adder open --print | grep -o 'http://[^ ]*')" | grep -o '<title>.*</title>'
""")
    assert "Adder" in title


def test_new_environment(place, request):
    """Of a package from PyPI; of all that `science` has in the deep tier."""
    if place.account == "root":
        pytest.skip("the ordinary user tries it")
    options, module, answer = "--requirements pins --module iniconfig", "iniconfig", "6 * 7"
    if request.config.getoption("deep"):
        options, module, answer = "", "pandas", "pandas.Series([6]).sum() * 7"
    said = place.run(f"""
echo iniconfig >pins
adder env new science {options} >/dev/null
adder run -c 'import {module}; print({answer})'
adder env show science --json
adder env rm science
""", timeout=1800)
    assert said[0] == "42"
    assert json.loads(said[1])["directory"] == f"{place.home}/.local/share/adder/environments/science"


# Where systems have the certificates of authorities (src/common/trust.c).
BUNDLES = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem"]

SERVER = """
import http.server, ssl, sys
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/dist-tls/cert.pem", "/dist-tls/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def test_certificates_of_this_system(place, tmp_path):
    """A server is trusted whose authority is in the file that a system has, and no other."""
    if place.account != "root":
        pytest.skip("root puts the file in its places")
    new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost")
    subprocess.run([*new, "-addext", "subjectAltName=DNS:localhost", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"],
                   check=True, capture_output=True)
    (tmp_path / "server.py").write_text(SERVER)
    said = place.root.shell(f"""
PATH=/root/venv/bin:$PATH
python /dist-tls/server.py >/tmp/port &
while [ ! -s /tmp/port ]; do sleep 0.1; done
ask() {{ ADDER_TOKEN=any adder --url "https://localhost:$(cat /tmp/port)" run -c 1 2>&1 || :; }}
mv /etc/ssl /etc/ssl-away
ask
for bundle in {" ".join(BUNDLES)}; do
  mkdir -p "${{bundle%/*}}"
  cp /dist-tls/cert.pem "$bundle"
  ask
  rm "$bundle"
done
rm -rf /etc/ssl /etc/pki
mv /etc/ssl-away /etc/ssl
kill $!
""", binds={str(tmp_path): "/dist-tls"}, check=False)
    untrusted, *trusted = said.stdout.splitlines()
    assert "SSL" in untrusted and [bool(re.search("answered with status 501", line)) for line in trusted] == [True] * len(BUNDLES), said


def test_uninstalled(place):
    """No file of it stays but the state. Its daemon still runs, and ends when it has been idle for long."""
    assert place.run("""
adder run -c 'print(6*7)'
python -m pip uninstall -q -y adder-runtime
find venv ! -type d | sort | diff before -
find . -name '*adder*' ! -path './.local/state/adder/*' ! -type d
for exe in /proc/[0-9]*/exe; do readlink "$exe" || :; done | grep -c 'adder (deleted)'
""") == ["42", "1"]


# ---- uv ----

UV = "uv='/tools/uv --offline --no-python-downloads --no-progress'"


def test_uvx(bare):
    assert bare.run(f"""
{UV}
$uv tool run --from {WHEELS}/adder_runtime-*.whl adder-runtime run -c '6*7'
$uv tool run --from {WHEELS}/adder_runtime-*.whl adder run -c 'import sys; print("/.cache/uv/" in sys.prefix)'
""") == ["42", "True"]


def test_uv_tool(bare):
    assert bare.run(f"""
{UV}
PATH=$HOME/.local/bin:$PATH
$uv tool install {WHEELS}/adder_runtime-*.whl
adder run -c '6*7'
adder-runtime run -c 'import sys; print(sys.prefix)'
adder serve stop >/dev/null
$uv tool uninstall adder-runtime
find .local -path '*adder*' ! -path '*/state/adder/*' ! -type d
""") == ["42", "/home/someone/.local/share/uv/tools/adder-runtime"]


@contextlib.contextmanager
def without(root, *patterns):
    """ROOT lacks the files of PATTERNS meanwhile."""
    away = root.directory / "away"
    away.mkdir()
    paths = [path for pattern in patterns for path in root.path.glob(pattern)]
    moved = [(path, away / str(number)) for number, path in enumerate(paths)]
    for path, instead in moved:
        path.rename(instead)
    yield
    for path, instead in moved:
        instead.rename(path)
    away.rmdir()


def test_no_python_but_the_one_it_was_installed_with(bare):
    """As where uv brought one: at another prefix, and none in /usr/bin."""
    bare.run("""
mkdir -p python/bin python/lib
cp /usr/bin/python3.* python/bin
cp -P /usr/bin/python3 python/bin
cp -r /usr/lib/python3.* python/lib
""")
    with without(bare.root, "usr/bin/python3*", "usr/lib/python3.*"):
        assert bare.run(f"""
python/bin/python3 -m venv venv
python -m pip install -q --no-index {WHEELS}/adder_runtime-*.whl
adder run -c 'import sys; print(sys.executable, sys.base_prefix)'
echo >pins
adder env new mine --requirements pins >/dev/null
adder run --env mine -c 'import sys; print(sys.base_prefix)'
rm venv/bin/python*
adder serve stop >/dev/null
adder run -c 1 2>&1 || :
""") == [
            "/home/someone/venv/bin/python3 /home/someone/python",
            "/home/someone/python",
            "adder: cannot use /usr/bin/python3: there is no such interpreter",
        ]
