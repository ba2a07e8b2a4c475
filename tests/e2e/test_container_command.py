# SPDX-License-Identifier: Apache-2.0
"""`adder env image`: the image is made without a registry, tried before it has its name, and what fails leaves the one that was
there."""
import contextlib
import os
import signal
import subprocess

import pytest

import docker_world
import harness

NAME = "localhost/adder:latest"
CANDIDATE = "localhost/adder-candidate:"
BUILD_DEADLINE = 1800


def images(engine):
    """Their names. What is nameless is under one that has a name, or was there before the tests."""
    names = [name for image in engine.ask("GET", "/images/json") for name in image["RepoTags"] or []]
    return [name for name in names if name not in ("<none>:<none>", docker_world.BARE)]


@pytest.fixture
def make_builder(make_adder, make_engine):
    """Makes an Adder with an engine of its own that has no image yet."""

    def make(kind="docker", empty=False):
        engine = make_engine(kind)
        adder = make_adder(engine.config())
        adder.engine = engine
        # Root has the packages that other tests fetched; an ordinary user fetches them as well.
        shared = docker_world.CACHE / "cache/adder"
        adder.variables["ADDER_CACHE_DIR"] = str(adder.folder("cache") if empty or adder.user.uid else shared)
        return adder

    return make


@pytest.fixture
def builder(make_builder):
    return make_builder()


def refused(ended, *words):
    assert ended.returncode == 125
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("adder: ")
    for word in words:
        assert word in last


def told(adder, *command):
    ended = adder.call("env", "image", *command, "--json")
    assert ended.returncode == 0, ended.stderr
    return harness.strict_json(ended.stdout)


def build(adder, *options):
    return adder.call("env", "image", "build", *options, timeout=BUILD_DEADLINE)


# ---- before anything is fetched ----


def test_without_an_engine(make_adder):
    adder = make_adder("[container]\nsocket = /nonexistent/engine.sock\n")
    adder.variables["ADDER_CACHE_DIR"] = str(adder.scratch / "cache")
    for command in ["build"], ["list"], ["show"], ["rm"]:
        refused(adder.call("env", "image", *command), "/nonexistent/engine.sock")
    assert not (adder.scratch / "cache").exists()


BAD = [
    (["build", "--fresh", "--cached"], "exclude each other"),
    (["build", "--base", "python", "--fresh"], "exclude each other"),
    (["build", "something"], ""),
    (["show", "a", "b"], ""),
    (["make"], "make"),
]


@pytest.mark.parametrize(("command", "word"), BAD, ids=[" ".join(command) for command, _ in BAD])
def test_bad_options(make_adder, command, word):
    ended = make_adder().call("env", "image", *command)
    assert ended.returncode == 125
    assert word in ended.stderr


@pytest.mark.slow
def test_what_a_host_lacks(make_builder):
    """Each lack has its own sentence, and nothing of an image is left."""
    offline = make_builder(empty=True)
    for name in "", "UPPER/x", "a b", "../x", "-x", "x" * 300, "x@sha256:" + "0" * 64:
        refused(build(offline, "--name", name), "image")
    refused(build(offline, "--cached"), "leave out --cached")

    # Without a network, where the socket of the engine can still be reached.
    ended = subprocess.run(
        ["unshare", "--net", *offline.command("env", "image", "build")], env=offline.process_environment(), capture_output=True, text=True, timeout=300
    )
    refused(ended, "packages")

    # Without apt: everything else is where it was.
    tools = offline.folder("tools")
    for program in os.listdir("/usr/bin"):
        if program != "apt-get":
            (tools / program).symlink_to(f"/usr/bin/{program}")
    offline.variables["PATH"] = str(tools)
    refused(build(offline), "apt-get", "--base")
    assert images(offline.engine) == []


# ---- an image and what becomes of it ----


@pytest.mark.slow
def test_an_image_from_beginning_to_end(builder):
    engine = builder.engine
    refused(builder.call("env", "image", "show"), "adder env image build")
    ended = build(builder, "--json")
    assert ended.returncode == 0, ended.stderr
    made = harness.strict_json(ended.stdout)
    assert made["name"] == NAME and made["fits"] and made["configured"] and made["warning"] is None
    assert made["modules"] == ["numpy", "pandas", "matplotlib.pyplot"]
    assert images(engine) == [NAME]

    assert told(builder, "show") == made
    assert told(builder, "list") == [made]
    assert builder.call("env", "image", "list", "--names").stdout == f"{NAME}\n"
    labels = engine.ask("GET", f"/images/{NAME}/json")["Config"]["Labels"]
    assert labels["adder.version"] == made["version"]
    assert len(labels["adder.runner"]) == 64
    check_tree(engine)

    # Again: the packages are there, and the one before is gone.
    again = build(builder, "--json")
    assert "using the packages of" in again.stderr and "fetching" not in again.stderr
    assert harness.strict_json(again.stdout)["digest"] != made["digest"]
    everything = engine.ask("GET", "/images/json?all=1")
    assert [image["RepoTags"] for image in everything] == [[NAME]]

    # On top of an image that is there, which has all the wheels already, so that no index is asked.
    based = build(builder, "--base", NAME, "--name", "based:1")
    assert based.returncode == 0, based.stderr
    assert sorted(images(engine)) == ["based:1", NAME]

    # One that cannot be: what has the name keeps it.
    before = told(builder, "show")
    refused(build(builder, "--base", engine.bare_image()), "cannot take the image in")
    assert told(builder, "show") == before
    assert not [name for name in images(engine) if name.startswith(CANDIDATE)]

    # What an interrupted build left is swept by the next.
    engine.ask("POST", f"/images/{NAME}/tag?repo={CANDIDATE.rstrip(':')}&tag={ended_process()}")
    running = builder.popen("env", "image", "build", stderr=subprocess.PIPE)
    for line in running.stderr:
        if b"imports" in line:
            break
    running.send_signal(signal.SIGINT)
    running.wait(harness.DEADLINE)
    running.stderr.close()
    assert told(builder, "show") == before
    harness.wait_until(lambda: build(builder).returncode == 0, "the build after")
    assert sorted(images(engine)) == ["based:1", NAME]
    assert engine.ask("GET", "/containers/json?all=1") == []

    # Only its own are removed.
    refused(builder.call("env", "image", "rm", docker_world.BARE), "was not made by")
    for name in ["based:1"], []:
        assert builder.call("env", "image", "rm", *name).returncode == 0
    assert images(engine) == []
    refused(builder.call("env", "image", "rm"), "adder env image build")


def ended_process():
    with subprocess.Popen(["true"]) as process:
        process.wait()
        return process.pid


LOOK = """
import os, pathlib, stat
for top in "/usr", "/etc", "/run", "/var":
    for path in pathlib.Path(top).rglob("*"):
        found = path.lstat()
        assert found.st_uid == found.st_gid == 0, path
        assert stat.S_ISLNK(found.st_mode) or not found.st_mode & 0o6022, path
assert os.readlink("/workspace") == os.readlink("/work") == "run/workspace/work"
assert os.readlink("/tmp") == "run/workspace/tmp"
assert os.system("pip install six 2>&1 | grep -q read-only") == 0
"""


def check_tree(engine):
    """As a container without anything of the launcher's sees it."""
    host = {"NetworkMode": "none", "ReadonlyRootfs": True, "Tmpfs": {"/run/workspace": "mode=0755"}, "Ulimits": docker_world.ULIMITS}
    body = {"Image": NAME, "Cmd": ["python3", "-I", "-c", LOOK], "Env": ["HOME=/nonexistent"], "HostConfig": host, "Tty": True}
    made = engine.ask("POST", "/containers/create", body)["Id"]
    try:
        engine.ask("POST", f"/containers/{made}/start")
        status = engine.ask("POST", f"/containers/{made}/wait", timeout=300)["StatusCode"]
        assert status == 0, engine.ask("GET", f"/containers/{made}/logs?stdout=1")
    finally:
        with contextlib.suppress(docker_world.Refused):
            engine.remove(made)


@pytest.mark.slow
def test_two_at_once(builder):
    """The second says so at once, instead of spoiling what the first makes."""
    cache = builder.variables["ADDER_CACHE_DIR"] + "/container"
    subprocess.run([*builder.user.prefix, "mkdir", "-p", cache], check=True)
    with subprocess.Popen([*builder.user.prefix, "flock", f"{cache}/lock", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdin.write(b"held\n")
        holder.stdin.flush()
        holder.stdout.readline()
        refused(build(builder), "another build is under way")
        holder.stdin.close()


@pytest.mark.slow
def test_podman(make_builder):
    adder = make_builder("podman")
    ended = build(adder)
    assert ended.returncode == 0, ended.stderr
    assert told(adder, "show")["engine"] == "podman"
    assert images(adder.engine) == [NAME]
