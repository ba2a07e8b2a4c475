# SPDX-License-Identifier: Apache-2.0
"""Profiles as people write and use them: what they say, what is wrong with them, who may use them, how far a run may go."""
import json
import os

import pytest

from harness import unique, wait_until

SHIPPED = {"standard", "compute", "analysis", "snippet", "notebook", "workbench", "code_executor"}


@pytest.fixture
def profile(adder):
    """profile(text) -> the name of a profile of the user's own."""
    folder = adder.config / "profiles"
    folder.mkdir(exist_ok=True)
    adder.own(folder)
    made = []

    def make(text, name=None):
        path = folder / f"{name or unique()}.conf"
        path.write_text(text)
        made.append(adder.own(path))
        return path.stem

    yield make
    for path in made:
        path.unlink()


# ---- what they say ----


def test_those_that_adder_brings(adder):
    listed = adder.call("profile", "list")
    assert listed.returncode == 0 and listed.stderr == ""
    rows = {line.split()[0]: line.split(None, 2) for line in listed.stdout.splitlines()}
    assert SHIPPED <= set(rows)
    assert rows["snippet"][1] == "guest" and rows["workbench"][1] == "user" and len(rows["snippet"][2]) > 10
    folder = adder.installation.root
    for file in folder.rglob("share/adder/profiles/*.conf"):
        checked = adder.call("profile", "check", file)
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", ""), checked


def shown(adder, name):
    ended = adder.call("profile", "show", name, "--json")
    assert ended.returncode == 0 and ended.stderr == "", ended
    return json.loads(ended.stdout)


# The numbers of the contracts that are a profile's business.
@pytest.mark.parametrize(
    "name,wall,most",
    [("snippet", 10, 10), ("notebook", 30, 30), ("workbench", 60, None), ("code_executor", 30, 60)],
)
def test_time_of_each(adder, name, wall, most):
    said = shown(adder, name)
    assert said["limits"]["wall_ms"] == wall * 1000
    assert most is None or said["maxima"]["wall_ms"] == most * 1000
    assert said["limits"]["cpu_ms"] >= said["limits"]["wall_ms"], "code that only computes has all of its time"


def test_what_an_analysis_may_use(adder):
    said = shown(adder, "analysis")
    for limits, allowed in (("limits", (15000, 5000, 512 << 20)), ("maxima", (600000, 600000, 16 << 30))):
        assert tuple(said[limits][name] for name in ("wall_ms", "cpu_ms", "memory_bytes")) == allowed


def test_what_each_says_beside(adder):
    assert shown(adder, "snippet")["session"]["allowed"] is False
    assert shown(adder, "notebook")["session"] == {"allowed": True, "idle_ms": 30 * 60 * 1000}
    assert shown(adder, "notebook")["blocked"] == {"calls": None, "modules": None}
    assert shown(adder, "code_executor")["variables"] == {"MPLBACKEND": "Agg"}
    assert shown(adder, "code_executor")["role"] == "guest" and shown(adder, "workbench")["role"] == "user"


def test_only_the_workbench_reaches_the_network(adder):
    said = {name: shown(adder, name)["network"]["mode"] for name in SHIPPED}
    assert {name for name in SHIPPED if said[name] != "none"} == {"workbench"} and said["workbench"] == "full"
    result = adder.run("import socket\nsocket.create_connection(('192.0.2.1', 80), 5)", "--profile", "code_executor")
    assert result.outcome == "error" and [denial["kind"] for denial in result.fields["denials"]] == ["network"]


def test_show_is_what_the_file_says(adder, profile):
    name = profile("[profile]\ntitle = Mine\n[limits]\npids = 9\n[maxima]\npids = 12\n[variables]\nA = b c\n[blocked]\ncalls = os.system,os.popen\n")
    said = adder.call("profile", "show", name).stdout
    assert said.startswith(f"{name}: Mine\n{adder.config}/profiles/{name}.conf\n")
    assert "\n[variables]\nA = b c\n" in said and "\n[blocked]\ncalls = os.system os.popen\n" in said
    assert [line.split()[:3] for line in said.splitlines() if line.startswith("pids ")] == [["pids", "9", "12"]]


# ---- what is wrong with them ----

BAD = """# a profile
[profile]
titel = x
role = root
[limit]
x = 1
[limits]
wall_ms = 5 weeks
wall_ms = 6s
pids
"""

PROBLEMS = [
    (3, "profile", "titel", "there is no such key; did you mean title?"),
    (4, "profile", "role", '"root" is not one of: guest, user, admin'),
    (5, None, None, "there is no group [limit]; did you mean [limits]?"),
    (8, "limits", "wall_ms", None),
    (9, "limits", "wall_ms", "it is set twice; line 8 has it as well"),
    (10, "limits", None, 'the line is neither "[group]", "key = value" nor a comment'),
]


@pytest.mark.quick
def test_show_has_variables_of_any_name(adder, profile):
    name = profile("[variables]\nname = alice\nfile = x.csv\nhome = /h\n")
    shown = adder.call("profile", "show", name).stdout
    assert "\n[variables]\n" in shown and all(f"\n{line}\n" in shown for line in ("name = alice", "file = x.csv", "home = /h"))


def test_check_tells_all_problems_at_once(adder):
    file = adder.file("bad.conf", BAD)
    ended = adder.call("profile", "check", file)
    assert ended.returncode == 1 and ended.stderr == ""
    lines = ended.stdout.splitlines()
    assert len(lines) == len(PROBLEMS)
    for line, (number, group, key, what) in zip(lines, PROBLEMS):
        place = f" [{group}]" * bool(group) + f" {key}" * bool(key) + ":" * bool(group)
        assert line.startswith(f"{file}:{number}:{place} ") and (what is None or line.endswith(what)), line
    said = json.loads(adder.call("profile", "check", "--json", file).stdout)
    assert said["ok"] is False and said["file"] == str(file)
    assert [(p["line"], p["group"], p["key"]) for p in said["problems"]] == [p[:3] for p in PROBLEMS]


def test_a_file_that_is_none(adder):
    os.mkfifo(adder.scratch / "pipe.conf")
    for path, words in (
        (adder.scratch / "no.conf", "No such file"),
        (adder.scratch, "is a directory, not a file"),
        (adder.scratch / "pipe.conf", "is a device or a pipe, not a file"),
        ("/dev/zero", "is a device or a pipe"),
        (adder.file("long.conf", "#" * (257 * 1024)), "is longer than 256 KiB"),
    ):
        ended = adder.call("profile", "check", path)
        assert ended.returncode == 125 and ended.stdout == "" and words in ended.stderr, ended


@pytest.mark.parametrize(
    "content,line,words",
    [
        (b"[profile]\n\xff\n", 2, "UTF-8"),
        (b"[profile]\na\0b\n", 2, "UTF-8"),
        (b"[profile]\ntitle = \x1b[2J\n", 2, "control character"),
        (b"title = x\n", 1, "before the first [group]"),
        (b"[profile\n", 1, "does not end"),
        (b"[]\n", 1, "there is no group []"),
        (b"[profile]\n= x\n", 2, "neither"),
        (b"[profile]\r\ntitle = x\r\nnone = y\r\n", 3, "there is no such key"),
        (b"[maxima]\nwall_ms = 1s\n", 2, "less than"),
        (b"[variables]\n" + b"".join(b"V%d = x\n" % i for i in range(300)), 258, "more than 256 variables"),
    ],
)
def test_bytes_of_any_kind(adder, content, line, words):
    file = adder.file("odd.conf", content)
    ended = adder.call("profile", "check", file)
    assert ended.returncode == 1 and ended.stdout.startswith(f"{file}:{line}: "), ended.stdout
    assert words in ended.stdout.splitlines()[0]


def test_a_run_names_file_line_and_key(adder, profile):
    name = profile("[limits]\n\nwall_m = 5s\n")
    result = adder.run("print(1)", "--profile", name)
    assert result.outcome == "failed" and result.stdout == ""
    assert result.error["message"].endswith(f"/{name}.conf:3: [limits] wall_m: there is no such limit; did you mean wall_ms?")


# ---- how far a run may go ----


def test_maxima(adder, profile):
    name = profile("[limits]\nwall_ms = 5s\n[maxima]\nwall_ms = 8s\nmemory_bytes = 1G\n")
    assert adder.run("1", "--profile", name).fields["limits"]["wall_ms"] == 5000
    assert adder.run("1", "--profile", name, "--timeout", "8").fields["limits"]["wall_ms"] == 8000
    result = adder.run("print(1)", "--profile", name, "--timeout", "9")
    assert result.outcome == "failed" and result.stdout == ""
    assert result.error["message"] == "wall_ms = 9 s is over its maximum in the profile, 8 s"
    result = adder.run("1", "--profile", name, "--memory", "2G")
    assert result.error["message"] == "memory_bytes = 2 GiB is over its maximum in the profile, 1 GiB"


def test_the_cells_of_a_session_have_its_maxima(sessions):
    session = sessions.new("--profile", "notebook")
    assert sessions.cell(session, "6 * 7", "--timeout", "30").text == "42"
    result = sessions.cell(session, "print(1)", "--timeout", "31")
    assert result.outcome == "failed" and result.stdout == ""
    assert result.error["message"] == "wall_ms = 31 s is over its maximum in the profile, 30 s"


def test_time_of_a_code_executor(adder):
    assert adder.run("1", "--profile", "code_executor").fields["limits"]["wall_ms"] == 30000
    assert adder.run("1", "--profile", "code_executor", "--timeout", "60").outcome == "ok"
    assert "1 min" in adder.run("1", "--profile", "code_executor", "--timeout", "61").error["message"]


def test_a_snippet_ends_after_its_time(adder):
    result = adder.run("import time\nprint('started', flush=True)\ntime.sleep(60)", "--profile", "snippet", "--limit", "wall_ms=4s")
    assert (result.outcome, result.exit_code, result.stdout) == ("timeout", 124, "started\n")


# ---- sessions ----


def test_snippets_make_no_sessions(sessions):
    said = sessions.refused("new", "--profile", "snippet")
    assert "the profile snippet allows no sessions" in said


def test_an_idle_session_ends_when_its_profile_says(sessions, profile):
    name = profile("[session]\nidle_ms = 300ms\n")
    session = sessions.new("--profile", name)
    wait_until(lambda: sessions.show(session)["state"] == "ended", "the idle session to end")
    assert sessions.show(session)["reason"] == "it was idle for 300 ms"


# ---- who may use them ----


def assert_refused(result, words):
    assert (result.outcome, result.exit_code, result.stdout) == ("refused", 126, "")
    assert result.error["type"] == "Refused" and words in result.error["message"], result.error


@pytest.mark.quick
def test_a_role_that_may_not(adder, profile):
    name = profile("[profile]\nrole = user\n")
    assert adder.run("print(1)", "--profile", name).outcome == "ok", "who asks at the local socket is an admin"
    assert adder.run("print(1)", "--profile", name, "--role", "user").outcome == "ok"
    assert adder.run("print(1)", "--role", "guest").outcome == "ok", "standard is for everybody"
    result = adder.run("print(1)", "--profile", name, "--role", "guest")
    assert_refused(result, f"the profile {name} needs the role user; the caller's is guest")
    assert result.usage["wall_ms"] == 0


def test_the_same_without_a_daemon(adder):
    result = adder.run("print(1)", "--profile", "workbench", "--role", "guest", "--no-daemon")
    assert_refused(result, "the profile workbench needs the role user")


def test_people_are_told_in_one_sentence(adder):
    ended = adder.call("run", "--profile", "workbench", "--role", "guest", "-c", "print(1)")
    assert (ended.returncode, ended.stdout) == (126, "")
    assert "the profile workbench needs the role user; the caller's is guest" in ended.stderr


def test_a_role_that_is_none(adder):
    result = adder.run("print(1)", "--role", "root")
    assert result.outcome == "failed" and result.error["message"] == '"root" is not one of the roles: guest, user, admin'


def test_roles_in_sessions(sessions, profile):
    name = profile("[profile]\nrole = user\n")
    assert "needs the role user" in sessions.refused("new", "--profile", name, "--role", "guest")
    session = sessions.new("--profile", name)
    assert sessions.cell(session, "x = 1", "--role", "user").outcome == "ok"
    assert_refused(sessions.cell(session, "print(x)", "--role", "guest"), f"the profile {name} needs the role user")
    assert "needs the role user" in sessions.refused("replay", session, "--role", "guest")
    assert sessions.cell(session, "x").text == "1", "the session went on"


def test_lists_of_the_configuration(make_adder):
    adder = make_adder("[roles]\ndefault = guest\nguest_profiles = snip*\n")
    assert adder.run("print(1)", "--profile", "snippet").outcome == "ok"
    assert_refused(adder.run("print(1)"), "the profile standard is not for the role guest here: [roles] guest_profiles of adder.conf leaves it out")
    assert_refused(adder.run("1", "--profile", "workbench"), "needs the role user")
    assert adder.run("print(1)", "--role", "admin").outcome == "ok"
    sessions = adder.call("session", "new", "--profile", "notebook")
    assert sessions.returncode == 125 and "not for the role guest" in sessions.stderr


# ---- a user's own ----


def test_the_users_own_wins(make_adder):
    adder = make_adder()
    folder = adder.own(adder.config)
    (folder / "profiles").mkdir()
    (folder / "profiles" / "snippet.conf").write_text("[profile]\ntitle = My own\n[limits]\nwall_ms = 7s\n")
    assert adder.run("1", "--profile", "snippet").fields["limits"]["wall_ms"] == 7000
    assert "My own" in adder.call("profile", "list").stdout
    (folder / "profiles" / "snippet.conf").unlink()
    wait_until(lambda: adder.run("1", "--profile", "snippet").fields["limits"]["wall_ms"] == 10000, "the change to count")


# ---- directories and variables of the caller ----


@pytest.mark.parametrize("name", ["compute", "analysis", "snippet", "notebook", "code_executor"])
def test_those_for_guests_allow_no_work_directory(adder, name):
    result = adder.run("print(1)", "--profile", name, "--workdir", adder.folder("work"))
    assert_refused(result, f"the profile {name} allows no work directory")


def test_the_workbench_works_where_the_user_does(make_adder):
    adder = make_adder(variables={"PMG_HOME": "/pmg", "PMG_MAPI_KEY": "secret", "OMP_NUM_THREADS": "2", "OTHER": "x"})
    folder = adder.folder("work")
    code = "import os\nopen('made', 'w').write('x')\nprint(*[os.environ.get(n) for n in ('PMG_HOME', 'PMG_MAPI_KEY', 'OMP_NUM_THREADS', 'OTHER')])"
    result = adder.run(
        code, "--profile", "workbench", "--workdir", f"{folder}:rw", "--dangerously-accept-all"
    )
    assert result.outcome == "ok", result.error
    assert result.stdout == "/pmg None 2 None\n" and (folder / "made").read_text() == "x"
