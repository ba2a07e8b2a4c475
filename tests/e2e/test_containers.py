# SPDX-License-Identifier: Apache-2.0
"""Runs in containers of Docker and of Podman: what the code finds there, its limits and how it ends, files, the pool, and what
takes over where there is no container to be had."""
import contextlib
import os
import shutil
import socket

import pytest

import contained as containers
import docker_world
import harness
import http_bed
from contained import DEADLINE, ENDED_BY_TIME, INSISTING, PROFILE, image_facts, native, told, wait_until
from mcp_lines import Lines, text

MIB = 1 << 20

# ---- what everybody shares ----


# Of modules, as in conftest.py: see store_kind.
@pytest.fixture(scope="module", params=docker_world.ENGINES)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def shared(installation, user, common_directory, container_engines, kind):
    engine = containers.engine_or_skip(container_engines, kind)
    directory = harness.new_directory(common_directory, f"{user.name}-{kind}")
    adder = harness.Adder(installation, user, directory, engine.config())
    contained = containers.Contained(adder, engine)
    yield contained
    try:
        contained.stop_and_look()
    finally:
        contained.forget()


@pytest.fixture
def world(shared):
    """One user's Adder whose runs are in containers, for all tests that leave it as it was."""
    for entry in shared.scratch.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    return shared


# ---- what a result tells ----


@pytest.mark.everywhere
def test_the_result_tells_the_container(world, kind):
    result = world.run("print(6 * 7)")
    assert (result.outcome, result.stdout, result.warnings) == ("ok", "42\n", [])
    isolation = result.isolation
    assert isolation["backend"] == "container" and isolation["level"] == 3, isolation
    version = world.engine.ask("GET", "/v1.41/version")["Version"]
    image = image_facts(world.engine)
    container = isolation["container"]
    assert (container["engine"], container["engine_version"]) == (kind, version)
    assert container["image"] == docker_world.IMAGE
    assert container["digest"].removeprefix("sha256:") == image["Id"].removeprefix("sha256:")
    assert container["version"] == image["Config"]["Labels"]["adder.version"]
    assert container["runtime"]


def test_the_limits_of_the_profile(world):
    limits = world.run("1").limits
    assert limits["memory_bytes"] == 256 * MIB
    assert limits["wall_ms"] == 30000
    assert limits["cpu_percent"] == 100
    assert limits["reply_bytes"] == 8192


@pytest.mark.everywhere
def test_what_the_engine_was_asked_for(world, user):
    """Not what the code sees of it, but what the engine says that it made."""
    run = world.start_named()
    try:
        facts = run.facts()
        host = facts["HostConfig"]
        assert host["ReadonlyRootfs"] is True and not host["Privileged"]
        assert host["NetworkMode"] == "none"
        # The code has 256 MB; its zygote, which shares the container, may have some more.
        assert 256 * MIB <= host["Memory"] <= 256 * MIB + 256 * MIB and host["MemorySwap"] == host["Memory"]
        assert host.get("NanoCpus") == 10**9 or host["CpuQuota"] == host["CpuPeriod"] > 0
        assert 0 < host["PidsLimit"] <= 4096
        security = " ".join(host["SecurityOpt"])
        assert "no-new-privileges" in security and "seccomp=unconfined" not in security
        assert "ALL" in [name.upper() for name in host["CapDrop"]] or not facts.get("EffectiveCaps")
        assert not host.get("CapAdd")
        assert facts["Config"]["User"].split(":")[0] not in ("", "0", "root")
        assert not host.get("PidMode") == "host" and not host.get("IpcMode") == "host" and not host.get("UsernsMode") == "host"
        assert not host.get("Devices") and not host.get("PortBindings")
        assert (host.get("RestartPolicy") or {}).get("Name", "") in ("", "no")
        # Nothing of the host's but the place of the socket at which it is met, and what hides the host's names; to look at only.
        places = {mount["Destination"]: mount for mount in facts["Mounts"] if mount["Type"] != "tmpfs"}
        assert {"/run/adder"} <= set(places) <= {"/run/adder", "/etc/hosts", "/etc/resolv.conf"}
        assert not [name for name, mount in places.items() if mount["RW"]]
        assert "size=" in host["Tmpfs"]["/run/workspace"]
    finally:
        run.process.kill()
    run.wait_gone()


# ---- what the code finds ----

SURROUNDINGS = """
import json, os, pathlib, socket
status = dict(line.split(":\\t", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines() if ":\\t" in line)
def attempt(what):
    try:
        what()
    except OSError as error:
        return error.errno
    return 0
print(json.dumps({
    "ids": [os.getuid(), os.geteuid(), os.getgid(), os.getegid()],
    "groups": os.getgroups(),
    "capabilities": {name: int(value, 16) for name, value in status.items() if name.startswith("Cap")},
    "no_new_privileges": int(status["NoNewPrivs"]),
    "seccomp": int(status["Seccomp"]),
    "directory": os.getcwd(),
    "read_only": [os.statvfs(path).f_flag & os.ST_RDONLY for path in ("/", "/usr", "/etc")],
    "writes": {path: attempt(lambda: open(path + "/made", "w").close()) for path in
               ("/", "/usr", "/etc", "/usr/lib/adder", "/root", "/home", "/var", "/run", "/workspace", "/tmp")},
    "interfaces": [name for _, name in socket.if_nameindex()] if pathlib.Path("/sys/class/net").exists() else None,
    "routes": pathlib.Path("/proc/net/route").read_text().splitlines()[1:] if os.access("/proc/net/route", os.R_OK) else None,
    "pid": os.getpid(),
    "processes": len([name for name in os.listdir("/proc") if name.isdigit()]),
    "environment": dict(os.environ),
    "engine_sockets": [path for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock") if os.path.exists(path)],
}))
"""


@pytest.mark.everywhere
def test_surroundings(world, user):
    facts = told(world.run(SURROUNDINGS, "--set-env", "GIVEN=yes"))
    expected = user.uid or 65530  # [sandbox] root_uid
    assert facts["ids"] == [expected] * 4 and 0 not in facts["groups"]
    assert set(facts["capabilities"]) >= {"CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb"}
    assert not any(facts["capabilities"].values())
    assert facts["no_new_privileges"] == 1 and facts["seccomp"] == 2
    assert facts["directory"] == "/workspace"
    assert facts["read_only"] == [1, 1, 1]
    assert {path for path, error in facts["writes"].items() if error == 0} == {"/workspace", "/tmp"}
    assert facts["interfaces"] in (None, ["lo"]) and not facts["routes"]
    assert facts["pid"] < 1000 and facts["processes"] < 10
    assert facts["environment"]["GIVEN"] == "yes" and facts["environment"]["HOME"] == "/tmp"
    assert not [name for name in facts["environment"] if name.startswith("ADDER_")]
    assert not facts["engine_sockets"]


DIRECTORY = """
import os, pathlib, subprocess
def tell():
    print(os.getcwd(), os.getcwdb().decode(), pathlib.Path.cwd(), os.path.abspath("x"), pathlib.Path("x").absolute())
tell()
subprocess.run(["sh", "-c", "pwd"])
for place in ("made/deep", "/tmp/output", "/usr/lib", "/work", "/run/workspace"):
    os.makedirs(place, exist_ok=True)
    os.chdir(place)
    tell()
os.chdir("/workspace")
os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")
os.getcwd()
"""


def test_the_current_directory(world):
    """By the name that it has for the code, whoever asks; and the directories that links lead to."""
    result = world.run(DIRECTORY)
    places = ["/workspace", "/workspace/made/deep", "/tmp/output", "/usr/lib", "/workspace", "/run/workspace"]
    first, *others = [" ".join([place] * 3 + [f"{place}/x"] * 2) + "\n" for place in places]
    assert result.stdout == first + "/workspace\n" + "".join(others), result
    assert result.error["type"] == "FileNotFoundError" and "places.py" not in result.error["traceback"], result


@pytest.mark.parametrize("access", ["", ":rw"])
def test_a_directory_of_the_host_is_the_current_one(world, access):
    result = world.run("import os\nprint(os.getcwd())", "--workdir", f"{world.folder('mine')}{access}")
    assert result.stdout == "/workspace\n", result


LIBRARIES = """
import numpy, pandas, matplotlib, scipy.stats, requests, dateutil.parser, pytz
frame = pandas.DataFrame({"x": numpy.arange(10), "y": numpy.arange(10) * 2.0})
print(scipy.stats.linregress(frame.x, frame.y).slope, dateutil.parser.parse("2024-02-29").day, pytz.timezone("Asia/Tokyo"))
import matplotlib.pyplot as plt
plt.plot(frame.x, frame.y, label="年")
plt.show()
frame.describe().loc["mean", "y"]
"""


def test_the_libraries_of_the_image(world):
    result = world.run(LIBRARIES)
    assert (result.outcome, result.stdout) == ("ok", "2.0 29 Asia/Tokyo\n"), result
    assert result.text == "np.float64(9.0)" or result.text == "9.0"
    assert any("image/png" in bundle for bundle in result.displays)


@pytest.mark.parametrize("code", [
    "import requests\nrequests.get('http://example.com', timeout=5)",
    "import urllib.request\nurllib.request.urlopen('http://192.0.2.1', timeout=5)",
    "import socket\nsocket.create_connection(('1.1.1.1', 53), timeout=5)",
], ids=["requests", "urllib", "socket"])  # fmt: skip
def test_no_network(world, code):
    result = world.run(code)
    assert result.outcome == "error" and "Error" in result.error["type"]
    assert "network" in [denial["kind"] for denial in result.denials], result


@pytest.mark.parametrize("code", [
    "import subprocess, sys\nsys.exit(subprocess.run([sys.executable, '-m', 'pip', 'install', 'six']).returncode)",
    "import os, sys\nsys.exit(os.waitstatus_to_exitcode(os.system('pip install six')))",
], ids=["module", "command"])  # fmt: skip
def test_pip_install(world, code):
    """It fails, and the reply says what to do instead."""
    result = world.run(code)
    assert result.outcome == "error" and result.exit_code not in (0, None)
    said = " ".join([result.stderr, *(denial["hint"] for denial in result.denials), (result.error or {}).get("hint") or ""])
    assert "read-only" in said and "numpy" in said, result
    assert world.run("import importlib.util\nprint(importlib.util.find_spec('six') is None)").outcome == "ok"


def test_nothing_stays_from_one_run_to_the_next(world):
    first = world.run("open('left', 'w').write('x')\nopen('/tmp/left', 'w').write('x')\nopen('/dev/shm/left', 'w').write('x')")
    assert first.outcome == "ok", first
    result = world.run("import os\nprint(os.listdir('.'), 'left' in os.listdir('/tmp'), os.listdir('/dev/shm'))")
    assert result.stdout == "[] False []\n"


# ---- limits, and how runs end ----


@pytest.mark.parametrize("code", [
    pytest.param("kept = []\nwhile True: kept.append(bytearray(b'x') * 10_000_000)", marks=pytest.mark.everywhere),
    "import numpy\nnumpy.ones(400_000_000).sum()",
    "open('/dev/shm/x', 'wb').write(b'x' * 100)\ntext = 'x' * 600_000_000",
], ids=["bytes", "array", "text"])  # fmt: skip
def test_out_of_memory(world, code):
    result = world.run(code)
    assert result.outcome == "memory_limit", result
    assert result.limits["memory_bytes"] == 256 * MIB


def test_another_limit_of_memory(world):
    fits = "x = bytearray(b'x') * 300_000_000\nprint(len(x))"
    assert world.run(fits).outcome == "memory_limit"
    assert world.run(fits, "--memory", "512M").stdout == "300000000\n"


@pytest.mark.everywhere
def test_the_time_limit_ends_the_container(world):
    run = world.start_named(timeout=ENDED_BY_TIME)
    result = run.end()
    assert result.outcome == "timeout" and result.stdout == "started\n"
    assert result.usage["wall_ms"] >= result.limits["wall_ms"] == 15000
    run.wait_gone()


def test_processes(world):
    code = """
import os, time
made = 0
try:
    while made < 5000:
        if os.fork() == 0:
            time.sleep(100)
        made += 1
except OSError as error:
    print(error.errno, flush=True)
print(made < 5000)
os._exit(0)
"""
    result = world.run(code, "--timeout", "2min")
    assert result.stdout == "11\nTrue\n", result
    assert result.outcome in ("ok", "error")


def test_one_core(world):
    """Whatever the host has, four processes together get no more than one core."""
    code = "import os, time\nend = time.monotonic() + 1.5\nfor _ in range(3):\n    if os.fork() == 0: break\nwhile time.monotonic() < end: pass"
    result = world.run(code)
    usage = result.usage
    assert 0 < usage["cpu_ms"] <= usage["wall_ms"] * 1.35 + 200, usage


def test_usage_is_of_this_run(world):
    light, heavy = world.run("pass"), world.run("x = bytearray(b'x') * 100_000_000\nn = 0\nwhile n < 3_000_000: n += 1")
    assert heavy.usage["peak_memory_bytes"] > 100_000_000
    assert heavy.usage["cpu_ms"] > light.usage["cpu_ms"]
    assert 0 < light.usage["cpu_ms"] < 10_000


def test_cpu_limit(world):
    assert world.run("while True: pass", "--limit", "cpu_ms=500").outcome == "cpu_limit"


def test_exceptions_exit_codes_and_crashes(world):
    result = world.run("print('before')\n1/0")
    assert (result.outcome, result.stdout) == ("error", "before\n") and result.error["type"] == "ZeroDivisionError"
    assert world.run("raise SystemExit(7)").exit_code == 7
    crashed = world.run("import ctypes\nctypes.string_at(0)")
    assert (crashed.outcome, crashed.signal) == ("crashed", "SIGSEGV")
    assert world.run("import os\nos.kill(os.getpid(), 9)").outcome in ("crashed", "error")


def test_the_workspace_is_bounded(world):
    result = world.run("open('large', 'wb').write(b'x' * 80_000_000)", "--limit", "workspace_bytes=32M", "--limit", "file_bytes=1G")
    assert result.outcome == "error" and not [file for file in result.files if file["bytes"] > 40_000_000], result


@pytest.mark.parametrize("bytes_, truncated", [(8191, False), (8192, False), (8193, True), (100_000, True)])
def test_exactly_8192_bytes(world, bytes_, truncated):
    result = world.run(f"import sys\nsys.stdout.write('x' * {bytes_})")
    assert (result.truncated, result.stdout_bytes) == (truncated, bytes_)
    if not truncated:
        assert result.stdout == "x" * bytes_


def test_cancelled(world):
    run = world.start_named()
    harness.wait_for_handlers(run.process)
    run.process.send_signal(2)
    assert run.end().outcome == "cancelled"
    run.wait_gone()


# ---- files ----


@pytest.mark.everywhere
def test_files_in_and_out(world, user):
    data = world.file("data.csv", "a,b\n1,2\n3,4\n")
    out = world.folder("out")
    code = """
import os, pandas
frame = pandas.read_csv("/workspace/in/data.csv")
os.mkdir("made")
frame.assign(c=frame.a + frame.b).to_csv("made/sum.csv", index=False)
open("/workspace/exact.bin", "wb").write(bytes(range(256)) * 32)
print(sorted(os.listdir("/workspace")))
"""
    result = world.run(code, "--file", f"{data}:in/data.csv", "--out", out)
    assert (result.outcome, result.stdout) == ("ok", "['exact.bin', 'in', 'made']\n"), result
    assert result.names == ["exact.bin", "made/sum.csv"]
    assert (out / "made/sum.csv").read_text() == "a,b,c\n1,2,3\n3,4,7\n"
    exact = out / "exact.bin"
    assert exact.read_bytes() == bytes(range(256)) * 32 and len(exact.read_bytes()) == 8192
    assert {os.stat(path).st_uid for path in (exact, out / "made/sum.csv")} == {user.uid}


def test_files_come_out_however_it_ended(world):
    out = world.folder("out")
    result = world.run("import time\nopen('kept', 'w').write('x')\ntime.sleep(1000)", "--timeout", "5s", "--out", out)
    assert result.outcome == "timeout" and (out / "kept").read_text() == "x"


def test_standard_input_and_arguments(world):
    assert world.run("import sys\nprint(sys.stdin.read()[::-1])", "--stdin", "-", input="olleh").stdout == "hello\n"
    assert world.adder.json(*PROFILE, *INSISTING, "-c", "import sys\nprint(sys.argv[1:])", "--", "a", "b c").stdout == "['a', 'b c']\n"


def test_links_do_not_lead_out(world):
    """The workspace is a directory of the host, where the same links would be followed elsewhere."""
    out = world.folder("out")
    code = "import os\nos.symlink('/etc/shadow', 'link')\nos.symlink('../../../../..', 'up')\nos.link('/etc/passwd', 'hard') if False else None"
    result = world.run(code, "--out", out)
    assert result.outcome == "ok" and not [name for name in os.listdir(out) if os.path.exists(out / name) and not os.path.islink(out / name)]


# ---- a directory of the host ----


def bound(world, name):
    place = world.folder(name)
    (place / "data.csv").write_text("a,b\n1,2\n")
    place.chmod(0o700)
    return place


def test_a_directory_to_read(world):
    place = bound(world, "a: b")
    code = """
import os, socket
print(os.listdir("/workspace"), os.listdir("/work"), open("data.csv").read().split(), os.getuid() != 0)
for attempt in (lambda: open("/workspace/new", "w"), lambda: socket.socket(socket.AF_UNIX)):
    try:
        attempt()
    except OSError as error:
        print(error.errno)
"""
    result = world.run(code, "--workdir", place)
    assert (result.outcome, result.files, result.warnings) == ("ok", [], []), result
    assert result.stdout == "['data.csv'] ['data.csv'] ['a,b', '1,2'] True\n30\n97\n"
    assert os.listdir(place) == ["data.csv"]


def test_a_directory_to_write_to(world, user):
    place = bound(world, "place")
    out = world.folder("out")
    code = "import os\nos.mkdir('made')\nopen('made/x', 'w').write('1')\nos.remove('data.csv')\nopen('/tmp/output/y', 'w').write('2')"
    result = world.run(code, "--workdir", f"{place}:rw", "--out", out)
    assert (result.outcome, result.warnings) == ("ok", []), result
    assert os.listdir(place) == ["made"] and (place / "made/x").read_text() == "1"
    assert {os.stat(place / path).st_uid for path in ("made", "made/x")} == {user.uid}
    # What is in the directory stays there alone.
    assert len(result.names) == 1 and result.names[0].endswith("y")


def test_a_directory_that_no_container_has(world):
    """Of the kernel, an engine would bind it, and its files speak of the user's other processes."""
    for place in ("/proc", "/"):
        refused = world.run("1", "--workdir", place)
        assert refused.outcome in ("failed", "refused") and place in refused.error["message"], refused


# ---- the tool of chat assistants ----

TRUNCATED = "[Output truncated at 8192 bytes]"


@pytest.fixture
def snippet(world):
    """What `run_python_container` replies, in a container."""

    def call(code, status=0):
        reply = harness.Tools(world.adder, "assistant").call("run_python_container", {"code": code}, status=status)
        assert (reply["backend"], reply["warnings"]) == ("container", []), reply
        return reply

    return call


@pytest.mark.everywhere
def test_the_tool(snippet):
    reply = snippet("print(round(1000 * (1 + 0.05 / 12) ** (12 * 10), 2))\nwith open('/workspace/sums.csv', 'w') as f: f.write('a,b\\n1,2\\n')")
    assert reply["text"] == "1647.01"
    assert [(file["name"], file["bytes"]) for file in reply["files"]] == [("sums.csv", 8)]
    assert snippet("x = 1")["text"] == "(no output)"


def test_the_tool_cuts_at_8192_bytes(snippet):
    assert snippet("print('a' * 9000)")["text"] == "a" * 8192 + "\n" + TRUNCATED
    assert snippet("print('a' * 8191)")["text"] == "a" * 8191
    assert snippet("print('€' * 5000)")["text"] == "€" * 2730 + "\n" + TRUNCATED


def test_the_tool_tells_errors(snippet):
    text = snippet("print('before')\n1/0", 1)["text"]
    assert text.startswith("before\nTraceback (most recent call last):\n") and text.endswith("ZeroDivisionError: division by zero")
    assert "[Out of memory]" in snippet("x = bytearray(b'x') * 600_000_000", 1)["text"]


def test_the_tool_draws(snippet):
    reply = snippet("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()")
    assert len(reply["pictures"]) == 1


# ---- through other interfaces ----


@pytest.mark.everywhere
def test_over_http(make_contained):
    world = make_contained()
    bed = http_bed.Served(world.adder)
    try:
        result = bed.run("print(open('in.txt').read())\nopen('made', 'w').write('x')", profile="container", isolation="container", files=[{"name": "in.txt", "text": "hi"}])
        assert (result["outcome"], result["stdout"], result["warnings"]) == ("ok", "hi\n", []), result
        assert result["isolation"]["backend"] == "container" and result["isolation"]["container"]["image"] == docker_world.IMAGE
        assert [file["name"] for file in result["files"]] == ["made"]
        label = world.label()
    finally:
        bed.stop()
    wait_until(lambda: not world.containers(label), "the daemon's containers to be gone")


@pytest.mark.everywhere
def test_over_mcp(world):
    with Lines(world.adder, "--toolset", "assistant") as lines:
        result = lines.call("run_python_container", {"code": "import os\nprint(os.getcwd(), 6 * 7)"})
        assert not result["isError"] and text(result) == "/workspace 42", result
        said = result["structuredContent"]
        assert (said["backend"], said["warnings"]) == ("container", [])
        failed = lines.call("run_python_container", {"code": "1/0"})
        assert not failed["isError"] and "ZeroDivisionError" in text(failed)
        assert lines.end() == ([], 0, "")


# ---- the pool ----


@pytest.mark.everywhere
def test_two_wait_and_each_is_used_once(world):
    world.run("1")
    before = set(world.wait_parked())
    run = world.start_named()
    assert run.container in before
    run.process.kill()
    run.wait_gone()
    after = set(world.wait_parked())
    assert len(after) == 2 and run.container not in after
    pool = world.pool()
    assert (pool["backend"], pool["parked"], pool["running"] if "running" in pool else 0) == ("container", 2, 0)


def test_parked_ones_have_packages_loaded(world):
    world.run("1")
    world.wait_parked()
    result = world.run("import sys\nprint('pandas' in sys.modules)")
    assert result.stdout == "True\n"
    code = "import time\nbegan = time.process_time()\nimport numpy, pandas, matplotlib.pyplot, scipy\nprint(time.process_time() - began)"
    assert result.outcome == "ok" and float(world.run(code).stdout) < 1.0


def test_ten_callers_and_a_pool_of_two(world):
    """All of them are served, each in a container of its own."""
    code = "import os, time\nopen('mine', 'x').write(os.environ['WHO'])\ntime.sleep(0.2)\nprint(os.environ['WHO'], os.listdir('.'))"
    runs = [
        world.adder.start(code, *PROFILE, *INSISTING, "--set-env", f"WHO={number}", json_reply=True) for number in range(10)
    ]
    for number, run in enumerate(runs):
        out, err = run.communicate(timeout=DEADLINE)
        harness.gathered.append((run.args, run.returncode, out, err))
        result = harness.Adder.parse(out.decode(), err.decode(), run.returncode)
        assert (result.outcome, result.stdout) == ("ok", f"{number} ['mine']\n"), result
        assert result.isolation["backend"] == "container"
    assert len(world.wait_parked()) == 2


# What somebody else does to a container that waits for its run.
MEDDLING = {
    "removed": lambda engine, container: engine.remove(container),
    "killed": lambda engine, container: engine.kill_container(container),
}


@pytest.mark.parametrize("what", MEDDLING)
def test_meddled_with_while_parked(world, what):
    """It is replaced, and no run sees it."""
    world.run("1")
    for container in world.wait_parked():
        MEDDLING[what](world.engine, container)
    result = world.run("print(1)")
    assert (result.outcome, result.stdout) == ("ok", "1\n"), result
    assert len(world.wait_parked()) == 2


@pytest.mark.parametrize("what", MEDDLING)
def test_meddled_with_in_mid_run(world, what):
    run = world.start_named()
    MEDDLING[what](world.engine, run.container)
    result = run.end()
    assert result.outcome in ("crashed", "failed") and result.stdout == "started\n", result
    run.wait_gone()
    assert world.run("print(1)").stdout == "1\n"


def test_paused_in_mid_run(world):
    """Nothing in it can end it: the time limit does, from outside."""
    run = world.start_named(timeout=ENDED_BY_TIME)
    try:
        world.engine.pause(run.container)
    except docker_world.Refused as error:
        run.process.kill()
        pytest.skip(f"this engine cannot pause here: {error}")
    result = run.end()
    assert result.outcome in ("timeout", "failed"), result
    run.wait_gone()


def test_no_more_is_held_afterwards(world):
    """After many runs there is what there was before: descriptors, containers, processes, directories."""
    keeping = "open('x', 'w').write('x')"
    world.run(keeping)  # the store's folders are made for the first file
    world.wait_parked()

    def held():
        world.wait_parked()
        pid = world.daemon()
        return {
            "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "processes": len(harness.descendants(pid)),
            "containers": len(world.containers()),
            "files": len([path for top in (world.runtime, world.state) for path, _, _ in os.walk(top)]),
            "mounts": len(harness.host_mounts()) + len(world.engine.mounts()),
        }

    before = held()
    for _ in range(5):
        assert world.run(keeping).outcome == "ok"

    now = {}

    def same():
        now.update(held())
        return all(now[name] <= before[name] + (name == "descriptors") for name in now)

    wait_until(same, ("no more to be held than", before, now))


# ---- where there is no container to be had ----


def unreachable(world):
    """A socket of an engine that is not for everybody."""
    path = world.directory / "closed.sock"
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    path.chmod(0o600)
    return path, listening


def fallback(adder, *words):
    """Both forms: with a warning, and refused. What the warning says."""
    result = adder.run("print(1)", *PROFILE)
    assert (result.outcome, result.stdout) == ("ok", "1\n"), result
    sentence = native(result)
    assert all(word in sentence for word in words), sentence
    insisted = adder.run("print(1)", *PROFILE, *INSISTING)
    assert insisted.outcome in ("failed", "refused") and insisted.stdout == "", insisted
    assert all(word in insisted.error["message"] for word in words), insisted.error["message"]
    return sentence


def own(make_adder, config):
    adder = make_adder(config)
    adder.environment = None
    return adder


@pytest.mark.quick
def test_no_engine_is_wanted(make_adder):
    adder = own(make_adder, "[container]\nengine = none\n")
    fallback(adder, "none")
    adder.stop()


def log_of(adder):
    return "".join(path.read_text() for path in adder.runtime.glob("*.log"))


@pytest.mark.quick
def test_no_engine_runs(make_adder):
    adder = own(make_adder, f"[container]\nengine = docker\nsocket = /var/tmp/{harness.unique()}.sock\n")
    sentence = fallback(adder, "docker")
    for _ in range(3):
        assert native(adder.run("print(1)", *PROFILE)) == sentence
    # Once, however many runs there are.
    assert log_of(adder).count(sentence.rstrip(".")) <= 1, log_of(adder)
    assert "container" in log_of(adder)
    adder.stop()


@pytest.mark.parametrize(
    "user", [user for user in harness.users() if user.uid and not user.why_not][:1], ids=lambda user: user.name, indirect=True
)
def test_no_right_to_the_socket(make_adder):
    if os.geteuid() != 0:
        pytest.skip("a socket of somebody else's needs root")
    adder = own(make_adder, "")
    path, listening = unreachable(adder)
    with listening:
        adder.configure(f"[environment]\ndefault = system\n[container]\nengine = docker\nsocket = {path}\n")
        sentence = fallback(adder)
        assert f"may not use {path}: it is its owner's" in sentence and "rootless" in sentence, sentence
        adder.stop()


def test_an_engine_that_is_none(make_adder):
    """Something listens there, and speaks nonsense."""
    adder = own(make_adder, "")
    path = adder.directory / "other.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        path.chmod(0o666)
        adder.configure(f"[environment]\ndefault = system\n[container]\nengine = docker\nsocket = {path}\nstart_ms = 1s\n")
        listening.settimeout(DEADLINE)
        run = adder.start("print(1)", *PROFILE, json_reply=True)
        connection, _ = listening.accept()
        with contextlib.suppress(BrokenPipeError):  # it may have waited long enough already
            connection.sendall(b"220 mail.example ESMTP\r\n\r\n")
        connection.close()
        listening.close()
        out, err = run.communicate(timeout=DEADLINE)
        harness.gathered.append((run.args, run.returncode, out, err))
        native(harness.Adder.parse(out.decode(), err.decode(), run.returncode))
    adder.stop()


@pytest.mark.parametrize("kind", docker_world.ENGINES)
def test_no_image(make_contained, kind):
    world = make_contained(kind=kind, image="localhost/no-such-image:latest")
    fallback(world.adder, "no-such-image", "adder env image build")
    world.stop_and_look()


STRANGE = {
    "one of somebody else's": ([], ("adder env image build",)),
    "of another version": (
        ["LABEL adder.version=0.0.1", "LABEL adder.runner=0123", "LABEL adder.built=2024-01-01T00:00:00Z", "LABEL adder.modules="],
        ("adder env image build",),
    ),
}


@pytest.mark.parametrize("what", STRANGE)
def test_an_image_that_does_not_fit(make_contained, what):
    changes, words = STRANGE[what]
    world = make_contained(image=docker_world.BARE)
    world.engine.bare_image(*changes)
    fallback(world.adder, *words)
    world.stop_and_look()


def test_an_old_image(make_contained):
    """It serves, and results say that it should be built anew."""
    world = make_contained(image_age_ms="1s")
    result = world.run("print(1)")
    assert (result.outcome, result.stdout) == ("ok", "1\n") and result.isolation["backend"] == "container"
    [warning] = result.warnings
    assert "adder env image build" in warning
    world.stop_and_look()


def test_never_weaker_than_was_asked_for(make_adder):
    """The native sandbox takes over where it comes to the level that the profile asks for, and not below."""
    adder = own(make_adder, "[sandbox]\ncgroup = none\n[container]\nengine = none\n")
    folder = adder.config / "profiles"
    folder.mkdir()
    for name, level in (("strict", 3), ("lax", 2)):
        (folder / f"{name}.conf").write_text(f"[profile]\ntitle = {name}\nbackend = auto\nmin_isolation = {level}\n")
    for path in (folder, *folder.iterdir()):
        adder.own(path)
    strict = adder.run("print(1)", "--profile", "strict")
    assert strict.outcome in ("failed", "refused") and strict.stdout == "" and "3" in strict.error["message"]
    lax = adder.run("print(1)", "--profile", "lax")
    assert lax.outcome == "ok" and lax.isolation["level"] == 2
    native(lax)
    adder.stop()


# What a container has not; a word of the sentence.
WANTING = {
    "a session": (["--session"], "session"),
    "changes that are kept apart": (["--workdir"], "kept apart"),
    "an environment": (["--env", "system"], "environment"),
}


@pytest.mark.parametrize("what", WANTING)
def test_what_a_container_has_not(world, what):
    options, word = WANTING[what]
    world.adder.environment = None
    if options == ["--session"]:
        made = world.adder.call("session", "new", "--json")
        assert made.returncode == 0, made
        options = ["--session", harness.strict_json(made.stdout)["session_id"]]
    elif options == ["--workdir"]:
        options = ["--workdir", f"{world.folder('place')}:overlay"]
    try:
        insisted = world.adder.run("print(1)", *INSISTING, *options)
        assert insisted.outcome in ("failed", "refused") and word in insisted.error["message"], insisted
        if options[0] != "--session":
            assert word in native(world.run_or_fall_back("print(1)", *options))
    finally:
        if options[0] == "--session":
            world.adder.call("session", "rm", options[1])


def test_an_isolation_that_is_named_wins(world):
    result = world.adder.run("print(1)", *PROFILE, "--isolation", "namespaces")
    assert result.outcome == "ok" and result.isolation["backend"] == "native" and not result.warnings


def test_profiles_without_a_backend_are_native(world):
    result = world.adder.run("print(1)")
    assert result.outcome == "ok" and result.isolation["backend"] == "native" and result.isolation["container"] is None


def test_another_runtime(make_contained):
    world = make_contained(runtime="other-runc")
    result = world.run("print(1)")
    assert result.outcome == "ok" and result.isolation["container"]["runtime"] == "other-runc"
    world.stop_and_look()


def test_a_runtime_that_the_engine_does_not_know(make_contained):
    world = make_contained(runtime="no-such-runtime")
    fallback(world.adder, "no-such-runtime")
    world.stop_and_look()
