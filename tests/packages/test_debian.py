# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: installed, used, upgraded, removed and purged in bare Debian roots. Each test has a root of its own, or
leaves the shared one as it was."""
import json
import re

import pytest

import debian_root
from debian_machine import APT, Machine, packaged, skip_without
from nats_world import Nats

FIRST_ANSWER_MS = 5000
ACCOUNTS = ("root", "someone")

# Places that are written to whatever is installed: by scripts/debian-root, apt, dpkg, ldconfig and the like.
NOISE = re.compile(
    r"/(dev|proc|sys|run|tmp|mnt|packages)(/|$)|/etc/(resolv\.conf|ld\.so\.cache|ssl/certs/ca-certificates\.crt|\.pwd\.lock)$"
    r"|/var/(lib|cache|log)/(apt|dpkg|debconf|ucf|ldconfig|man)(/|$)|/var/log/(alternatives|dpkg|bootstrap)\.log$"
)


@pytest.fixture(scope="module", params=debian_root.SUITES)
def suite(request):
    skip_without(request.param)
    return request.param


@pytest.fixture(scope="module")
def machine(suite):
    with Machine(suite) as made:
        made.install("adder", "adder-client")
        yield made


@pytest.fixture
def fresh(suite):
    with Machine(suite) as made:
        yield made


# ---- what is installed works


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_first_answer_comes_soon_and_is_isolated(machine, account):
    script = """
    begun=$(date +%s%N)
    adder run -c 'print(6 * 7)'
    echo $(( ($(date +%s%N) - begun) / 1000000 ))
    adder run --json -c 1
    """
    answer, took_ms, result = machine.do(script, user=account).splitlines()
    assert answer == "42" and int(took_ms) < FIRST_ANSWER_MS
    assert json.loads(result)["isolation"]["level"] >= 2


RUN_BY_CLIENT = "python3 -c 'from adder_client import Adder; print(Adder().run(\"6 * 7\").text)'"


def test_the_modules_load(machine):
    """HTTP, requests to others, the page and TLS are programs and modules of their own. The client has the release's httpx."""
    script = f"""
    export ADDER_TOKEN=$(adder token new me)
    adder serve --http=127.0.0.1:7117 --background >/dev/null
    adder --url http://127.0.0.1:7117 run -c 'print(6 * 7)'
    ADDER_URL=http://127.0.0.1:7117 {RUN_BY_CLIENT}
    python3 -c 'import urllib.request as r; print(b"<title>" in r.urlopen("http://127.0.0.1:7117/").read())'
    """
    assert machine.do(script, user="someone").split() == ["42", "42", "True"]


@pytest.fixture
def nats():
    try:
        server = Nats()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    yield server.up()
    server.end()


def test_a_node_of_a_cluster(machine, suite, nats):
    """Its module is a package of its own, for the release that it was built on: each has another libnats. On another one apt
    refuses it, and adder, which is installed without, says what is missing."""
    node = f"""
    export ADDER_CONFIG_DIR=/tmp/node
    mkdir -m 700 /tmp/node
    cd /tmp/node
    od -An -N 32 -t x1 /dev/urandom | tr -d ' \\n' >secret
    chmod 600 secret
    printf '%s\\n' '[cluster]' 'nats = {nats.url}' 'secret_file = /tmp/node/secret' >adder.conf
    """
    assert "cannot load adder-nats" in machine.do(f"{node}adder serve --background 2>&1 || :", user="someone")
    if not debian_root.is_here(suite):
        assert "libnats" in machine.do(f"! {APT} install {packaged('adder-nats')} 2>&1")
        return
    machine.install("adder-nats")
    script = """
    adder doctor | grep -c 'module adder-nats is installed'
    adder serve --background >/dev/null
    until adder node list --json | grep -q '"here": *true'; do sleep 0.1; done
    adder node list --json
    """
    found, listed = machine.do(node + script, user="someone").splitlines()
    assert found == "1" and json.loads(listed)["connected"]
    machine.do(f"{APT} purge --autoremove adder-nats")


def test_the_client_of_python(machine):
    assert machine.do(RUN_BY_CLIENT, user="someone") == "42\n"


def test_no_service_runs_and_none_is_enabled(machine):
    assert not list(machine.path.glob("etc/systemd/*/*.wants/adder*"))
    assert (machine.path / "lib/systemd/system/adder.service").exists()


def test_a_program_in_c(fresh, request):
    if not request.config.getoption("--deep"):
        pytest.skip("a compiler is fetched: with --deep")
    fresh.do(f"{APT} install gcc libc6-dev pkg-config")
    fresh.install("adder", "libadder0", "libadder-dev")
    source = (debian_root.SOURCE / "examples/embed.c").read_text()
    (fresh.path / "root/embed.c").write_text(source)
    assert fresh.do("cc -o embed embed.c $(pkg-config --cflags --libs adder) && ./embed 'print(6 * 7)'")


# ---- its life


def installed_version(machine):
    return machine.do("dpkg-query -W -f '${Version}' adder")


def older(machine, version):
    """The package of the same files with a lower VERSION: an upgrade replaces every file."""
    machine.do(f"dpkg-deb -R {packaged('adder')} /root/older")
    control = machine.path / "root/older/DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.MULTILINE))
    machine.do("dpkg-deb -b --root-owner-group -Znone /root/older /root/older.deb")
    return "/root/older.deb"


def test_an_upgrade_keeps_records_and_sessions_and_tells_them(fresh):
    fresh.do(f"{APT} install {older(fresh, '0.0.9')}")
    assert installed_version(fresh) == "0.0.9"
    script = f"""
    adder run -c 'print("before the upgrade")'
    adder serve --background
    adder session new --name kept >/dev/null
    adder run --session kept -c 'value = 42'
    adder --url unix:/run/adder/adder.http.sock serve status --json
    dpkg -i --force-unsafe-io {packaged('adder')} >/dev/null
    adder run --session kept -c 'print(value)'
    adder --url unix:/run/adder/adder.http.sock serve status --json
    adder session rm kept
    adder serve stop
    """
    told, before, value, after = [line for line in fresh.do(script).splitlines() if line[:1] in "b{4"]
    assert (told, value) == ("before the upgrade", "42")
    before, after = json.loads(before), json.loads(after)
    assert (before["pid"], before["program_replaced"]) == (after["pid"], False) and after["program_replaced"]
    assert installed_version(fresh) != "0.0.9"
    assert fresh.do("adder history list --outcome ok -n 10").count("ok") == 3
    assert "no" not in fresh.do("adder history verify | head -n 1").split()


def check_profile(machine):
    """AppArmor may come after adder. That of Debian 12 knows nothing of user namespaces, and would fail to start with a profile
    that names them."""
    machine.do(f"{APT} install apparmor")
    profile = machine.path / "etc/apparmor.d/adder-zygote"
    if (machine.path / "etc/apparmor.d/abi/4.0").exists():
        machine.do("apparmor_parser --skip-kernel-load --skip-cache /etc/apparmor.d/adder-zygote")
        assert profile.is_symlink()
    else:
        assert not profile.is_symlink() and not profile.exists()


def test_purging_leaves_nothing_and_removing_what_people_made(fresh):
    fresh.install("adder")
    check_profile(fresh)
    fresh.do(f"{APT} purge adder")
    before = fresh.paths()  # what it depends on is there, and none of its own
    assert not [path for path in before if "adder" in path]
    fresh.install("adder")
    use = """
    adder run -c 'print(1)'
    adder token new me >/dev/null
    echo '[daemon]' >/etc/adder/adder.conf
    """
    fresh.do(use)
    fresh.do("adder run -c 'print(1)'", user="someone")
    assert [path for path in fresh.paths() if path.startswith("/usr/libexec/adder/__pycache__/session.")], "compiled there"
    fresh.do(f"{APT} remove adder")
    kept = fresh.paths()
    assert {"/etc/adder/adder.conf", "/var/lib/adder/store/records.db", "/var/lib/adder/tokens.json"} <= kept
    assert "/usr/bin/adder" not in kept
    fresh.do(f"{APT} purge adder")
    left = {path for path in fresh.paths() ^ before if not NOISE.match(path)}
    # Their homes are theirs.
    assert left and all(path.startswith("/home/someone/.local") for path in left), left
    assert not fresh.do("getent passwd adder || true")
