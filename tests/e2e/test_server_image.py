# SPDX-License-Identifier: Apache-2.0
"""The image of the server in a real Docker: with the options that docs/server-image.md gives, without some of them, and without
any; from outside, by HTTP."""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import docker_world
import harness
import pytest
import server_image
import stored

# What the quick tests of these files ask of the shared Adder, a server elsewhere answers as well.
OUTSIDE = """
    test_denials test_displays test_files test_files_kept test_guard test_limits test_output test_python test_result test_results_kept
    test_snippets test_stored_inputs test_terminal test_tools
""".split()
OUTSIDE_MIN = 70  # as many there are at least


@pytest.fixture(scope="module")
def engine():
    why_not = docker_world.Docker.why_not()
    if why_not or not server_image.archive():
        pytest.skip(why_not or "there is no image of the server: sh -c '. scripts/common.sh; server_image' makes it")
    engine = server_image.Engine()
    yield engine
    engine.end()


@pytest.fixture
def make_server(engine):
    made = []

    def make(*options, **more):
        made.append(server_image.Server(engine, *options, **more))
        return made[-1]

    yield make
    for server in made:
        server.end()


def with_token(server, name="tests"):
    return server.run("token", "new", name).stdout.strip()


# ---- with the options ----


@pytest.fixture(scope="module")
def server(engine):
    """One with all options of the page, and a token."""
    server = server_image.Server(engine, *engine.options())
    server.token = with_token(server)
    server.url = server.start().reach()
    yield server
    server.end()


def test_the_documented_options_give_level_3(server):
    told, facts = server_image.doctor(server.exec("adder", "doctor", "--json"))
    assert told["level"] == told["trial"]["level"] == 3 and told["trial"]["outcome"] == "ok", told["trial"]
    assert told["trial"]["missing"] == [] and not told["root"]
    assert [row["state"] for row in told["surroundings"] if row["name"] == "container"] == ["docker"]
    assert all(fact["good"] for name, fact in facts.items() if name != "huge pages"), facts


def test_nothing_more_than_that(server):
    assert server.exec("id", "-u").stdout.strip() == str(server_image.USER)
    status = dict(line.split(":\t", 1) for line in server.exec("cat", "/proc/1/status").stdout.splitlines() if ":\t" in line)
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0 and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    for path in ("/x", "/usr/local/x", "/etc/adder/x"):
        assert "Read-only file system" in server.exec("touch", path, check=False).stderr, path


def test_all_libraries_are_there(server):
    """Those of modules that these tests do not load, too."""
    load = "import ctypes, glob; [print(ctypes.CDLL(path)._name.rpartition('/')[2]) for path in glob.glob('/usr/local/libexec/adder/adder-*.so')]"
    found = set(server.exec("python3", "-c", load).stdout.split())
    assert {"adder-http-client.so", "adder-http.so", "adder-nats.so", "adder-postgres.so"} <= found


def test_it_becomes_healthy(server):
    docker_world.until(lambda: server.state()["Health"]["Status"] == "healthy", "the health check to succeed")


def test_quick_tests_pass_from_outside(server, tmp_path):
    """They run in a pytest of their own, which is told of the server (ADDER_TEST_SERVER in conftest.py)."""
    results = tmp_path / "results.xml"
    files = [str(server_image.REPOSITORY / f"tests/e2e/{name}.py") for name in OUTSIDE]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "quick", f"--junitxml={results}", *files],
        env={**os.environ, "ADDER_TEST_SERVER": f"{server.url} {server.token}"}, cwd=server_image.REPOSITORY,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    suite = xml.etree.ElementTree.parse(results).getroot().find("testsuite")
    assert int(suite.get("tests")) - int(suite.get("skipped")) >= OUTSIDE_MIN, suite.attrib


def test_orphans_are_reaped(server):
    """One that its parent left goes to the first process of the container, which must not collect such."""
    server.exec("sh", "-c", "sleep 0 & exec sleep 0")
    zombies = "for p in /proc/[0-9]*; do read -r line <$p/stat && case $line in *') Z 1 '*) echo $line ;; esac; done; :"
    docker_world.until(lambda: not server.exec("sh", "-c", zombies).stdout, "all zombies to be reaped")
    assert server.state()["Running"]


# ---- without options ----


def test_without_options_it_says_what_is_missing(make_server):
    server = make_server()
    token = with_token(server)
    server.start().reach()
    told, facts = server_image.doctor(server.exec("adder", "doctor", "--json", check=False))
    assert told["level"] == 1 and told["trial"]["outcome"] == "refused", told
    assert "--security-opt seccomp=" in facts["user namespaces"]["remedy"]
    refused = server.exec("adder", "run", "-c", "1", check=False)
    for text in (server.log(), told["trial"]["message"], refused.stderr):
        assert "isolation level 2 is required" in text and "docker run --security-opt seccomp=" in text, text
    assert token not in server.log()


def test_level_1_can_be_allowed(make_server, tmp_path):
    config = tmp_path / "adder.conf"
    config.write_text("[environment]\ndefault = system\n[sandbox]\nmin_isolation = 1\n")
    server = make_server("--volume", f"{config}:/etc/adder/adder.conf:ro")
    with_token(server)
    server.start().reach()
    result = json.loads(server.exec("adder", "run", "--json", "-c", "6 * 7").stdout)
    assert (result["outcome"], result["isolation"]["level"]) == ("ok", 1)


# Each option left out by itself: the level that remains, and which fact names it.
LEFT_OUT = {
    "seccomp=": (1, "user namespaces", "--security-opt seccomp="),
    "systempaths=unconfined": (1, "/proc", "--security-opt systempaths=unconfined"),
    "--cgroup-parent": (2, "control groups", "--cgroup-parent="),
}


@pytest.mark.parametrize("option", LEFT_OUT)
def test_doctor_names_the_option_that_is_left_out(engine, make_server, option):
    level, fact, named = LEFT_OUT[option]
    options = engine.options(level=2 if option == "--cgroup-parent" else 3)
    at = next((i for i, word in enumerate(options) if word.startswith(option)), None)
    if at is not None:
        del options[at - 1 : at + 1]
    told, facts = server_image.doctor(make_server(*options).run("doctor", "--json", check=False))
    assert told["level"] == level and named in facts[fact]["remedy"], (told["level"], facts[fact])
    assert told["trial"]["level"] in (None, level), told["trial"]


# ---- Podman ----


def test_podman():
    """Without options it names those of Podman; with those of the page, level 2, since control groups are not delegated here."""
    why_not = docker_world.Podman.why_not() or (docker_world.FIRST_ALONE and "Podman is tried in the deep tier")
    if why_not or not server_image.archive():
        pytest.skip(why_not or "there is no image of the server")
    world = docker_world.Podman()

    def podman(*arguments):
        command = ["podman", *map(str, world.options()), *map(str, arguments)]
        return subprocess.run(command, env={**os.environ, **world.variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)

    def doctor(*options):
        limits = [f"--ulimit={limit['Name']}={limit['Soft']}" for limit in docker_world.ULIMITS]
        return server_image.doctor(podman("run", "--rm", "--network=none", *limits, *options, image, "doctor", "--json"))

    try:
        image = podman("load", "--input", server_image.archive()).stdout.strip().rpartition("Loaded image: ")[2]
        told, facts = doctor("--read-only")
        assert told["level"] == 1 and "podman run --security-opt seccomp=" in facts["user namespaces"]["remedy"], facts
        told, facts = doctor(*[option for option in server_image.documented("### Podman") if option != "--detach"])
        assert told["level"] == told["trial"]["level"] == 2 and "podman run --cgroup-parent=" in facts["control groups"]["remedy"], told
    finally:
        world.end()


# ---- tokens ----


def test_it_does_not_start_without_a_token(make_server):
    server = make_server().start()
    docker_world.until(lambda: not server.state()["Running"], "the server to give up")
    assert server.state()["ExitCode"] != 0 and "adder token new NAME" in server.log()


def test_the_first_token_may_be_a_secret_file(engine, make_server, tmp_path):
    secret, config = tmp_path / "token", tmp_path / "adder.conf"
    secret.write_text("0123456789abcdef0123456789abcdef\n")
    os.chown(secret, server_image.USER, server_image.USER)
    secret.chmod(0o400)
    config.write_text("[environment]\ndefault = system\n[http]\ntoken_file = /run/secrets/token\n")
    server = make_server(*engine.options(), "--volume", f"{secret}:/run/secrets/token:ro", "--volume", f"{config}:/etc/adder/adder.conf:ro")
    url = server.start().reach()
    for token, status in (("0123456789abcdef0123456789abcdef", "200"), ("0123456789abcdef0123456789abcdee", "401")):
        done = subprocess.run(
            ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", f"Authorization: Bearer {token}", f"{url}/v1/records"],
            capture_output=True, text=True, timeout=harness.DEADLINE,
        )  # fmt: skip
        assert done.stdout == status, (token, done.stdout)


# ---- servers ----


def test_records_and_files_on_servers(engine, make_server, store_servers, tmp_path):
    """A real PostgreSQL and a real S3 server, by the files of secrets that the container gets."""
    try:
        store = stored.Remote(store_servers, server_image.USER)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    config, secrets = tmp_path / "adder.conf", pathlib.Path(re.search("credentials=([^&\n]*)", store.config)[1]).parent
    config.write_text("[environment]\ndefault = system\n" + store.config)
    binds = [f"{config}:/etc/adder/adder.conf:ro", f"{store.postgres.directory}:{store.postgres.directory}", f"{secrets}:{secrets}:ro"]
    options = [word for bind in binds for word in ("--volume", bind)]
    server = make_server(*engine.options(), *options, command=["serve", "--http=127.0.0.1:0"], network="host").start()
    server.wait(lambda: "listens on /" in server.log(), "the server to listen")
    result = json.loads(server.exec("adder", "run", "--json", "-c", "open('a.txt', 'w').write('kept')").stdout)
    assert result["outcome"] == "ok" and result["warnings"] == [], result
    assert result["run_id"] in store.run_ids() and b"kept" in store.blobs().values()


def test_compose_has_the_documented_options():
    """compose.yaml, which was tried by hand: it needs images of others."""
    text = (server_image.REPOSITORY / "packaging/server-image/compose.yaml").read_text()
    options = re.findall(r"--security-opt (\S+)", " ".join(server_image.documented("## Start")))
    assert len(options) == 4
    for option in options:
        there = option.replace(str(server_image.SECCOMP), "./seccomp.json")
        assert re.search(rf"- {re.escape(there)}(:true)?$", text, re.MULTILINE), option
    assert "read_only: true" in text and "cap_drop: [ALL]" in text and "tmpfs: [/tmp]" in text


# ---- the end ----


def seconds_to_end(log):
    """From the signal to the last word of the last life."""
    moments = [
        datetime.datetime.fromisoformat(re.search(rf"(\S+)Z info: {text}", life)[1])
        for life in [log.rpartition("listens on /")[2]]
        for text in ("ending: signal 15", "ended")
    ]
    return (moments[1] - moments[0]).total_seconds()


def test_sigterm_loses_nothing_and_is_quick(engine, make_server, installation, user, common_directory):
    """Runs that were acknowledged are on record when a container with the same volume starts, one that goes on is cancelled and
    says so, and the end takes less than a second: of three, since something else may happen on the machine at that moment."""
    server = make_server(*engine.options())
    token = with_token(server)
    acknowledged, ends = set(), []
    for life in range(3):
        url = server.start().reach()
        away = harness.Adder(
            installation, user, harness.new_directory(common_directory, f"outside-{user.name}-{life}"), variables={"ADDER_URL": url, "ADDER_TOKEN": token}
        )
        ids = {record["run_id"] for record in json.loads(away.call("history", "list", "--limit", "1000", "--json").stdout)["records"]}
        assert ids >= acknowledged
        acknowledged |= {away.run(str(number)).run_id for number in range(10)}
        with away.popen("run", "-c", "print('begun', flush=True)\nimport time\ntime.sleep(600)") as running:
            assert running.stdout.readline() == b"begun\n"
            state = server.stop()
            assert running.wait(harness.DEADLINE) == 130
        assert state["ExitCode"] == 0 and not state["OOMKilled"]
        ends.append(seconds_to_end(server.log()))
        server.engine.world.remove(server.container)
    assert min(ends) < 1, ends
    listed = json.loads(server.run("history", "list", "--owner", "all", "--limit", "1000", "--json").stdout)["records"]
    assert {record["run_id"] for record in listed} >= acknowledged
    assert [record["outcome"] for record in listed].count("cancelled") == len(ends)
    assert server.run("history", "verify").returncode == 0
