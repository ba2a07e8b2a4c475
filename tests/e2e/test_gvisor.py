# SPDX-License-Identifier: Apache-2.0
"""Runs in containers of gVisor's runtime, where the code has another kernel than the host's (level 4)."""
import os
import shutil

import pytest

import contained as containers
import docker_world
import harness
from contained import INSISTING, PROFILE

pytestmark = pytest.mark.skipif(not shutil.which("runsc"), reason="there is no runsc on this host (scripts/packages, group test)")

OTHER = 54321  # neither root's nor nobody's
STRICT = "[profile]\ntitle = Strict\nbackend = container\nmin_isolation = 4\n"


@pytest.fixture(scope="module")
def shared(installation, user, common_directory, container_engines):
    engine = containers.engine_or_skip(container_engines, "docker")
    directory = harness.new_directory(common_directory, f"{user.name}-gvisor")
    adder = harness.Adder(installation, user, directory, engine.config(runtime="runsc", parked=1))
    contained = containers.Contained(adder, engine, kept=1)
    yield contained
    try:
        contained.stop_and_look()
    finally:
        contained.forget()


def profile(adder):
    folder = adder.config / "profiles"
    folder.mkdir()
    (folder / "strict.conf").write_text(STRICT)
    for path in (folder, folder / "strict.conf"):
        adder.own(path)


WHOLE = """
import os, sys, pathlib
name = os.uname()
print(name.release, name.version)
print(sys.stdin.read(), pathlib.Path("in/a.txt").read_text())
print(pathlib.Path("in/b.txt").read_text())
pathlib.Path("in/b.txt").write_text("changed")
os.makedirs("made/below")
pathlib.Path("made/below/large").write_bytes(b"x" * 3000000)
pathlib.Path("/tmp/output").mkdir(exist_ok=True)
pathlib.Path("/tmp/output/empty").touch()
os.symlink("/etc/passwd", "made/link")
os.mkfifo("made/pipe")
"""


def test_a_run(shared):
    """Input, output, files in and out, and what the result tells."""
    folder = shared.scratch / "in"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"of {name}")
    profile(shared.adder)
    result = shared.adder.run(WHOLE, "--profile", "strict", "--file", folder, "--stdin", "-", input="words")
    assert (result.outcome, result.exit_code, result.warnings) == ("ok", 0, []), result.fields
    kernel, words, other = result.stdout.splitlines()
    assert os.uname().version not in kernel and (words, other) == ("words of a.txt", "of b.txt")
    files = {file["name"]: file["bytes"] for file in result.files}
    assert files == {"in/b.txt": 7, "made/below/large": 3000000, "tmp/output/empty": 0}
    isolation = result.isolation
    assert isolation["backend"] == "container" and isolation["container"]["runtime"] == "runsc"
    assert (isolation["level"], isolation["missing"]) == (4, ["user_namespace", "landlock"])


# As WIRE_FILE has it: the code can write what it likes to the socket on which its files go back.
HOSTILE = """
import os, pathlib, struct
def send(path, data=b""):
    os.write(3, struct.pack("II", 16, len(path) + 1 + len(data)) + path + b"\\0" + data)
for path in (b"work/../../escaped", b"/etc/escaped", b"work//escaped", b"etc/escaped", b"work/\\xff", b"work/" + b"a/" * 600 + b"b"):
    send(path, b"x")
send(b"work/kept", b"abc")
send(b"", b"def")
send(b"work/kept/below", b"x")
status = pathlib.Path("/proc/self/status").read_text()
print([line.split()[1] for line in status.splitlines() if line.startswith(("CapPrm", "CapBnd", "Seccomp"))])
for what in (lambda: os.listdir("/run/adder"), lambda: open("/made", "w")):
    try:
        what()
    except OSError as error:
        print(error.errno)
"""


def test_hostile_files(shared):
    """Paths that lead out of the workspace, or are none, are left out and told."""
    result = shared.run(HOSTILE)
    assert result.outcome == "ok", result.fields
    assert {file["name"]: file["bytes"] for file in result.files} == {"kept": 6}
    [warning] = result.warnings
    assert "7 files did not come back" in warning
    assert not list(shared.scratch.rglob("escaped")), "it is somewhere else"
    assert result.stdout.splitlines()[0] == "['0000000000000000', '0000000000000000', '2']"


def test_ends(shared):
    """Files come back only where the code got to its end."""
    result = shared.run("import os\nopen('a', 'w').write('x')\nos._exit(3)")
    assert (result.outcome, result.exit_code, result.files) == ("error", 3, [])
    result = shared.run("while True: pass", "--timeout", "1s")
    assert (result.outcome, result.files) == ("timeout", [])
    result = shared.run("bytearray(1 << 30)")
    assert result.outcome == "memory_limit"
    # Linux would not let it: the first process of a namespace takes no signal from within.
    result = shared.run("import os, time\nos.kill(1, 9)\ntime.sleep(60)")
    assert result.outcome == "failed" and "the container of the run ended" in result.error["message"]


def test_a_directory_of_the_host(shared):
    """There is none; a sandbox of the host's has it, unless the run insists."""
    place = shared.scratch / "bind"
    place.mkdir()
    refused = shared.adder.run("1", *PROFILE, *INSISTING, "--workdir", place)
    assert refused.outcome in ("failed", "refused") and "takes no directory of the host's" in refused.error["message"]
    result = shared.adder.run("print(1)", *PROFILE, "--workdir", place)
    assert result.stdout == "1\n" and "takes no directory of the host's" in containers.native(result)


def test_who_could_not_end_it(user, installation, common_directory, container_engines):
    """The kernel is a process of nobody's."""
    other = harness.User("other", OTHER, ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", f"--groups={docker_world.NOBODY}"])
    engine = containers.engine_or_skip(container_engines, "docker")
    directory = harness.new_directory(common_directory, f"{user.name}-gvisor-other")
    world = containers.Contained(harness.Adder(installation, other, directory, engine.config(runtime="runsc")), engine)
    try:
        result = world.run("print(1)")
        assert result.stdout == "" and "takes root's daemon" in result.error["message"], result.fields
    finally:
        world.forget()


def test_the_level_that_another_runtime_does_not_reach(make_contained):
    world = make_contained(runtime="other-runc")
    profile(world.adder)
    result = world.adder.run("print(1)", "--profile", "strict")
    assert (result.outcome, result.stdout) == ("refused", ""), result.fields
    assert "level 4 is required" in result.error["message"] and "kernel of its own (gVisor" in result.error["message"]
    world.stop_and_look()


def test_a_runtime_without_sockets_of_the_host(make_contained):
    """One sentence says what it lacks."""
    world = make_contained(runtime="runsc-closed")
    result = world.run("print(1)")
    assert result.stdout == "" and "--host-uds=open" in result.error["message"]
    world.stop_and_look()
