# SPDX-License-Identifier: Apache-2.0
"""Packages that a run is given beside those of its environment: `--with`, and `packages` over HTTP and MCP. pip is real; most
tests give it an index of their own, which counts what it is asked for."""
import contextlib
import json
import os
import pty
import re

import package_index
import ports
import pytest
from harness import Tools, wait_until
from package_index import kept, refusal, zygotes

GREET = "import greeting\nprint(greeting.version)"
SETTINGS = ("PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CERT", "PIP_TRUSTED_HOST", "http_proxy", "https_proxy")


@pytest.fixture
def index():
    with contextlib.closing(package_index.Index()) as made:
        made.add("greeting")
        yield made


@pytest.fixture
def make(make_adder, index):
    return package_index.adders(make_adder, index)


# ---- from the real index ----


@pytest.mark.both_users
def test_from_the_index(make_adder, science):
    """A package, one that brings others along, and those of the environment beside them."""
    adder = make_adder()
    adder.environment = "science"
    adder.variables.update({name: os.environ[name] for name in SETTINGS if name in os.environ})
    cache = adder.folder("cache")
    adder.variables["XDG_CACHE_HOME"] = str(cache)
    code = "import cowsay, jaraco.context, numpy\nprint(cowsay.__file__, numpy.__file__, sep='\\n')"
    result = adder.run(code, "--with", "cowsay==6.1", "--with", "jaraco.context")
    assert result.outcome == "ok", result
    cowsay, numpy = result.stdout.splitlines()
    assert cowsay.startswith(str(adder.state / "with")) and not numpy.startswith(str(adder.state))
    assert not (cache / "pip").exists(), "what was downloaded is not kept twice"
    adder.stop()


# ---- what is kept ----


def test_the_same_is_installed_once(make, index):
    adder = make()
    assert adder.run(GREET, "--with", "greeting").stdout == "1.0\n"
    asked = len(index.asked)
    for spelling in ("greeting", "Greeting", " greeting "):
        assert adder.run(GREET, "--with", spelling).stdout == "1.0\n"
    assert len(index.asked) == asked, "pip did not run again"
    assert list(kept(adder).values()) == [["greeting"]]
    adder.stop()
    index.files.clear()
    assert adder.run(GREET, "--with", "greeting").stdout == "1.0\n", "another daemon has it too"
    assert len(index.asked) == asked
    adder.stop()


def test_an_interpreter_stays_ready(make):
    adder = make()
    for _ in range(3):
        assert adder.run(GREET, "--with", "greeting").outcome == "ok"
    [pool] = [pool for pool in adder.status()["engine"]["pools"] if pool["environment"].startswith("with-")]
    assert pool["starts"] == 1 and pool["serving"]
    adder.stop()


def test_versions_extras_and_what_they_need(make, index):
    index.add("greeting", "2.0", requires=("helper",))
    index.add("helper")
    adder = make()
    assert adder.run(GREET, "--with", "greeting<2").stdout == "1.0\n"
    assert adder.run(f"{GREET}\nimport helper", "--with", "greeting == 2.0").stdout == "2.0\n"
    assert adder.run(GREET, "--with", "greeting>=1,<3", "--with", "helper").stdout == "2.0\n"
    assert sorted(kept(adder).values()) == [["greeting<2"], ["greeting<3,>=1", "helper"], ["greeting==2.0"]]
    adder.stop()


def test_it_is_another_when_its_base_changes(make, index):
    """Here by a manifest that was written again."""
    adder = make()
    adder.variables["ADDER_ENVIRONMENTS_DIR"] = str(adder.folder("environments"))
    created = adder.call("env", "new", "base", "--python", "/usr/bin/python3")
    assert created.returncode == 0, created
    adder.environment = "base"
    assert adder.run(GREET, "--with", "greeting").outcome == "ok"
    manifest = adder.scratch / "environments" / "base" / "environment.conf"
    adder.call("env", "rm", "base")
    assert adder.call("env", "new", "base", "--python", "/usr/bin/python3").returncode == 0
    assert manifest.exists() and adder.run(GREET, "--with", "greeting").outcome == "ok"
    assert len(kept(adder)) == 2 and index.installs_of("greeting") >= 1
    adder.stop()


def test_sessions(make):
    adder = make()
    assert adder.call("session", "new", "--env", adder.environment, "--with", "greeting", "--name", "s").returncode == 0
    environment, adder.environment = adder.environment, None
    assert adder.run(GREET, "--session", "s").stdout == "1.0\n"
    settled = adder.run("1", "--session", "s", "--with", "greeting")
    assert settled.outcome == "failed" and "settled" in settled.error["message"]
    assert adder.call("session", "replay", "s", "--name", "again").returncode == 0
    assert adder.run(GREET, "--session", "again").stdout == "1.0\n"
    adder.environment = environment
    adder.stop()


def test_without_a_daemon(make):
    adder = make()
    assert adder.run(GREET, "--with", "greeting", "--no-daemon").stdout == "1.0\n"
    assert len(kept(adder)) == 1


@pytest.mark.both_users
def test_removal(make):
    adder = make()
    assert adder.run(GREET, "--with", "greeting").outcome == "ok"
    [name] = kept(adder)
    used = adder.call("env", "rm", name)
    assert used.returncode != 0 and "in use" in used.stderr
    assert adder.call("env", "rm", "--with").stdout == "0 removed, 1 in use\n"
    adder.stop()
    assert adder.call("env", "rm", "--with").stdout == "1 removed, 0 in use\n"
    assert not kept(adder) and not list((adder.state / "with").iterdir())
    assert "begin with with-" in adder.call("env", "new", "with-x", "--python", "/usr/bin/python3").stderr


@pytest.mark.both_users
def test_nobody_else_reads_it(make, user):
    adder = make()
    assert adder.run(GREET, "--with", "greeting").outcome == "ok"
    mode = (adder.state / "with").stat().st_mode & 0o777
    assert mode == (0o755 if user.uid == 0 else 0o700)
    adder.stop()


# ---- what cannot be asked for ----

NO_REQUIREMENTS = {
    "two words": ("cow say", "name each package by itself"),
    "an option": ("--index-url=http://evil.example", "is an option"),
    "a short option": ("-e.", "is an option"),
    "a URL": ("https://evil.example/x.whl", "names a URL"),
    "a URL by name": ("greeting @ https://evil.example/x.whl", "names a URL"),
    "a file": ("greeting @ file:///etc/passwd", "names a URL"),
    "a repository": ("git+ssh://evil.example/x", "names a URL"),
    "a path": ("./greeting", "is a path"),
    "an absolute path": ("/tmp/greeting", "is a path"),
    "a wheel": ("greeting-1.0-py3-none-any.whl", "is a path"),
    "an archive": ("greeting-1.0.tar.gz", "is a path"),
    "a marker": ("greeting; python_version > '3'", "has a marker"),
    "two lines": ("greeting\n--index-url http://evil.example", "names a URL"),
    "nothing": ("", "is no name of a package"),
    "a list": ("greeting,helper", "is no name of a package"),
    "letters of others": ("gréeting", "is no name of a package"),
    "too long": ("g" * 201, "more than 200 bytes"),
}


def test_what_is_no_requirement(make, index):
    adder = make()
    for title, (package, words) in NO_REQUIREMENTS.items():
        assert words in refusal(adder, package), title
    assert words and not index.asked and not kept(adder)
    assert not (adder.state / "with").exists()
    adder.stop()


def test_bounds(make, index):
    adder = make("[packages]\nmost = 1\n")
    assert "2 packages are requested; at most 1" in refusal(adder, "greeting", "helper")
    adder.stop()
    none = make("[packages]\nmost = 0\n")
    assert "at most 0" in refusal(none, "greeting")
    assert "--with" not in none.run("import no_such_module").error["hint"]
    none.stop()
    assert not index.asked


def test_the_size_of_an_environment(make, index):
    index.add("heavy", files={"heavy.py": "version = 1\n", "heavy.bin": os.urandom(3 << 20)})
    adder = make("[packages]\nenvironment_bytes = 2MiB\nbuild_bytes = 64MiB\n")
    assert re.search(r"the packages have [3-9]\.?\d* MiB, and may have 2 MiB", refusal(adder, "heavy"))
    assert not kept(adder) and not list((adder.state / "with").iterdir())
    adder.stop()


def test_the_size_of_the_cache(make, index):
    """What was not used for longest goes, unless it is in use."""
    for name in ("one", "two", "three"):
        index.add(name, files={f"{name}.py": "", f"{name}.bin": os.urandom(3 << 20)})
    adder = make("[packages]\ncache_bytes = 8MiB\nwarm = 1\n")
    assert adder.run("import one", "--with", "one").outcome == "ok"
    assert adder.run("import two", "--with", "two").outcome == "ok"
    wait_until(lambda: zygotes(adder) == 1, "the interpreter of the first to end")
    assert adder.run("import three", "--with", "three").outcome == "ok"
    assert sorted(kept(adder).values()) == [["three"], ["two"]]
    adder.stop()
    busy = make("[packages]\ncache_bytes = 5MiB\n")
    made = busy.call("session", "new", "--env", busy.environment, "--with", "one", "--name", "s")
    assert made.returncode == 0, made
    assert "all are in use" in refusal(busy, "two")
    assert busy.call("session", "rm", "s").returncode == 0
    assert busy.run("import two", "--with", "two").outcome == "ok", "an interpreter that nobody uses is not in the way"
    assert list(kept(busy).values()) == [["two"]]
    busy.stop()


def test_interpreters_that_are_kept_ready(make, index):
    index.add("other")
    adder = make("[packages]\nwarm = 1\n")
    for package, code in [("greeting", GREET), ("other", "import other"), ("greeting", GREET)]:
        assert adder.run(code, "--with", package).outcome == "ok"
        wait_until(lambda: zygotes(adder) == 1, "one interpreter")
    adder.stop()


# ---- what goes wrong ----


def test_an_unknown_package(make):
    adder = make()
    message = refusal(adder, "no-such-package")
    assert message.startswith("cannot install no-such-package: ") and "No matching distribution found" in message
    assert "\n" not in message and not list((adder.state / "with").iterdir())
    adder.stop()


def test_an_index_that_cannot_be_reached(make):
    adder = make()
    with ports.reserve() as nobodys:
        adder.variables.update(PIP_RETRIES="1", PIP_INDEX_URL=f"http://127.0.0.1:{ports.number_of(nobodys)}/simple")
        assert "the package index cannot be reached" in refusal(adder, "greeting")
    adder.stop()


def test_an_index_that_does_not_answer(make, index):
    adder = make("[packages]\ninstall_ms = 3s\n")
    index.gate.clear()
    assert "did not end within 3 seconds" in refusal(adder, "greeting")
    assert not list((adder.state / "with").iterdir())
    index.gate.set()
    adder.stop()
    adder.configure("")
    assert adder.run(GREET, "--with", "greeting").outcome == "ok", "nothing is left that would be in the way"
    adder.stop()


def test_a_package_without_a_wheel(make, index):
    index.add("source", archive="source-1.0.tar.gz")
    adder = make()
    assert "only wheels are installed" in refusal(adder, "source")
    adder.stop()


def test_a_long_list_of_versions_ends_between_two_of_them(make, index):
    versions = [f"1.{number}" for number in range(100, 160)]
    for version in versions:
        index.add("greeting", version)
    adder = make()
    said = refusal(adder, "greeting==2")
    listed = said.split("from versions: ")[1].split(" ...")[0]
    assert " ..." in said and set(listed.rstrip(",").split(", ")) <= {"1.0", *versions}, said
    adder.stop()


def test_two_at_once_install_once(make, index):
    adder = make()
    adder.call("serve", "status")
    index.gate.clear()
    runs = [adder.start(GREET, "--with", "greeting", json_reply=True) for _ in range(3)]
    index.arrived.wait(adder.deadline)
    index.gate.set()
    for run in runs:
        out, _ = run.communicate(timeout=adder.deadline)
        assert json.loads(out)["stdout"] == "1.0\n"
    assert index.installs_of("greeting") <= 2, "pip reads the metadata and the file"
    assert sum(path == "/simple/greeting/" for path in index.asked) == 1
    adder.stop()


def test_a_run_that_is_cancelled_does_not_wait(make, index):
    adder = make()
    index.gate.clear()
    run = adder.start(GREET, "--with", "greeting")
    index.arrived.wait(adder.deadline)
    run.terminate()
    run.communicate(timeout=adder.deadline)
    index.gate.set()
    assert adder.run(GREET, "--with", "greeting").stdout == "1.0\n"
    assert sum(path == "/simple/greeting/" for path in index.asked) == 1, "what was begun is used"
    adder.stop()


def test_other_isolation(make, index):
    adder = make()
    for kind in ("process", "none", "container"):
        result = adder.run("1", "--with", "greeting", "--isolation", kind)
        assert result.outcome == "refused" and "level 2" in result.error["message"], result
    assert not index.asked
    adder.stop()


@pytest.mark.both_users
def test_what_is_installed_runs_in_sandboxes_alone(make, index):
    """A .pth file is code that each interpreter runs when it starts, and pip, compiling and finding out what the interpreter needs
    start none."""
    adder = make()
    mark = adder.folder("marks")
    write = f"import os; open({str(mark)!r} + '/' + str(os.getpid()), 'w').close() if os.path.isdir({str(mark)!r}) else None"
    index.add("hostile", files={"hostile.py": "", "hostile.pth": write + "\n"})
    result = adder.run("import hostile, os\nprint(os.path.exists('/etc/shadow'))", "--with", "hostile")
    assert (result.outcome, result.stdout) == ("ok", "False\n"), result
    adder.call("env", "list")
    [name] = kept(adder)
    assert adder.call("env", "show", name).returncode == 0
    adder.stop()
    assert not list(mark.iterdir())


# ---- who may ----


@pytest.fixture
def served(make):
    with package_index.served(make()) as bed:
        yield bed


def test_over_http_the_profile_decides(served, index):
    body = {"code": GREET, "packages": ["greeting"]}
    refused = served.post("/v1/runs", body).json()
    assert refused["outcome"] == "refused" and "does not allow it ([packages] with)" in refused["error"]["message"]
    assert served.post("/v1/sessions", {"packages": ["greeting"]}).status == 403
    assert not index.asked
    allowed = served.post("/v1/runs", {**body, "profile": "open"}).json()
    assert allowed["outcome"] == "ok" and allowed["stdout"] == "1.0\n", allowed
    made = served.post("/v1/sessions", {"packages": ["greeting"], "profile": "open", "name": "s"})
    assert made.status == 201, made
    assert served.post("/v1/sessions/s/cells", {"code": GREET}).json()["stdout"] == "1.0\n"
    wrong = served.post("/v1/runs", {"code": "1", "packages": ["-r x"], "profile": "open"}).json()
    assert "is an option" in wrong["error"]["message"]


def test_a_replay_over_http_has_the_packages_that_its_profile_allows_now(served):
    made = served.post("/v1/sessions", {"packages": ["greeting"], "profile": "open", "name": "s"})
    assert made.status == 201, made
    assert served.post("/v1/sessions/s/cells", {"code": GREET}).json()["stdout"] == "1.0\n"
    replayed = served.post("/v1/sessions/s/replay", {"name": "again"})
    assert replayed.status in (200, 201), replayed
    profile = served.adder.config / "profiles" / "open.conf"
    profile.write_text(profile.read_text().replace("with = true", "with = false"))
    wait_until(lambda: served.post("/v1/sessions", {"packages": ["greeting"], "profile": "open"}).status == 403, "the daemon has read it")
    assert served.ask("DELETE", "/v1/sessions/again").status == 200
    refused = served.post("/v1/sessions/s/replay", {"name": "later"})
    assert refused.status == 403 and "does not allow it ([packages] with)" in refused.json()["detail"], refused


def test_over_http_the_hint_is_of_what_the_caller_has(served):
    missing = {"code": "import no_such_module"}
    assert "packages" not in served.post("/v1/runs", missing).json()["error"]["hint"].replace("This package", "")
    assert "member packages" in served.post("/v1/runs", {**missing, "profile": "open"}).json()["error"]["hint"]
    at_home = served.adder.run("import no_such_module").error["hint"]
    assert "--with NAME" in at_home


def test_events_tell_what_is_installed(served):
    reply = served.post("/v1/runs", {"code": GREET, "packages": ["greeting"], "profile": "open", "stream": True})
    told = re.findall(r'event: progress\n(?:id: \d+\n)?data: {"text":"([^"]*)"', reply.body.decode())
    assert any("greeting" in line for line in told), reply
    assert reply.body.decode().index("event: progress") < reply.body.decode().index("event: started")


def test_the_name_of_what_was_made_is_no_way_around_the_profile(served, index):
    made = served.post("/v1/runs", {"code": GREET, "packages": ["greeting"], "profile": "open"}).json()
    assert made["outcome"] == "ok", made
    [name] = kept(served.adder)
    refused = served.post("/v1/runs", {"code": "import greeting", "environment": name}).json()
    assert refused["outcome"] == "refused", refused
    assert served.post("/v1/sessions", {"environment": name}).status == 403
    allowed = served.post("/v1/runs", {"code": "import greeting", "environment": name, "profile": "open"}).json()
    assert allowed["outcome"] == "ok", allowed


def test_what_others_had_installed_is_shown_to_admins_alone(served):
    """Neither lists nor errors tell an ordinary caller of it, nor does naming it tell whether it is there."""
    made = served.post("/v1/runs", {"code": GREET, "packages": ["greeting"], "profile": "open"}).json()
    assert made["outcome"] == "ok", made
    [name] = kept(served.adder)
    secret = served.token("caller", "--role", "user")
    listed = served.get("/v1/environments").json()["environments"]
    assert [each["packages"] for each in listed if each["name"] == name] == [["greeting"]], "the admin sees it"
    assert "with-" not in str(served.get("/v1/environments", secret=secret))
    unknown = served.post("/v1/runs", {"code": "1", "environment": "no-such"}, secret=secret)
    assert unknown.status == 404 and "with-" not in str(unknown), unknown
    there, missing = (
        served.post("/v1/runs", {"code": "1", "environment": each}, secret=secret).json()["error"]["message"]
        for each in (name, "with-0123456789abcdef")
    )
    assert there == missing and "does not allow it" in there


def test_no_session_ends_for_one_whose_packages_cannot_be_installed(make_adder):
    adder = make_adder("[sessions]\nmax_sessions_per_owner = 1\n")
    assert adder.call("session", "new", "--name", "kept").returncode == 0
    failed = adder.call("session", "new", "--evict", "--with", "no-such-package-at-all")
    assert failed.returncode != 0 and "no-such-package-at-all" in failed.stderr, failed
    assert adder.call("run", "--session", "kept", "-c", "print(1)").stdout == "1\n"
    adder.stop()


def test_tools_of_agents_need_the_profile(served, index):
    tools = Tools(served.adder, "adder")
    refused = tools.call("run_python", {"code": GREET, "packages": ["greeting"]}, status=126)
    assert "does not allow it" in refused["error"]["message"] and not index.asked
    allowed = tools.call("run_python", {"code": GREET, "packages": ["greeting"], "profile": "open"})
    assert allowed["stdout"] == "1.0\n"


def test_an_approval_is_for_the_packages_too(make, index):
    """Nothing is installed before somebody said yes, and the yes is for these packages alone."""
    adder = make()
    profiles = adder.config / "profiles"
    profiles.mkdir(mode=0o755)
    (profiles / "asks.conf").write_text("[profile]\napproval = always\n")
    waits = adder.run(GREET, "--profile", "asks", "--with", "greeting")
    assert waits.outcome == "approval_required" and not index.asked
    shown = adder.call("approval", "show", waits.approval_id).stdout
    assert "with greeting" in shown
    assert adder.call("approval", "approve", waits.approval_id).returncode == 0
    assert adder.run(GREET, "--profile", "asks").outcome == "approval_required"
    assert adder.run(GREET, "--profile", "asks", "--with", "greeting").stdout == "1.0\n"
    adder.stop()


def test_a_terminal_shows_what_is_installed(make):
    """Elsewhere nothing is added to standard error."""
    adder = make()
    ours, theirs = pty.openpty()
    words = ("run", "--env", adder.environment, "--with", "greeting==1.0", "-c", GREET)
    with adder.popen(*words, stderr=theirs, env={**adder.process_environment(), "TERM": "xterm"}) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # the last one who had it is gone
            while part := os.read(ours, 4096):
                seen += part
        assert process.wait() == 0 and process.stdout.read() == b"1.0\n"
    os.close(ours)
    assert b"Collecting greeting" in seen and seen.endswith(b"\r\x1b[K"), seen
    quiet = adder.call("run", "--env", adder.environment, "--with", "greeting", "-c", GREET)
    assert (quiet.stdout, quiet.stderr) == ("1.0\n", "")
    adder.stop()
