# SPDX-License-Identifier: Apache-2.0
"""Bad input gets one clear sentence that names the thing, exit code 125, and leaves nothing running."""
import os
import signal
import subprocess

import pytest

import harness
from harness import quick

pytestmark = pytest.mark.both_users  # root may read what others may not

# name: (arguments, words of the sentence); {...} are paths in the scratch directory.
CASES = {
    "a file that is not there": (["{nowhere}.py"], ["nowhere.py", "No such file"]),
    "a directory as code": (["{directory}"], ["directory"]),
    "code that is not UTF-8": (["{latin}"], ["UTF-8"]),
    "code over 1 MiB": (["{huge}"], ["MiB"]),
    "an input file that is not there": (
        ["--file", "{nowhere}.csv", "-c", "1"],
        ["nowhere.csv", "No such file"],
    ),
    "an input file that may not be read": (["--file", "{unreadable}", "-c", "1"], ["unreadable"]),
    "an input device": (["--file", "/dev/zero", "-c", "1"], ["/dev/zero", "device"]),
    "a stored file that is not there": (["--file", "@none", "-c", "1"], ["none"]),
    "a stored file with a name that leads out": (["--file", "@none=../x", "-c", "1"], ["../x"]),
    "a name that leads out": (["--file", "{plain}:../x", "-c", "1"], ["../x"]),
    "a name deep within that leads out": (["--file", "{plain}:a/../../x", "-c", "1"], ["a/../../x"]),
    "an absolute name": (["--file", "{plain}:/etc/x", "-c", "1"], ["/etc/x"]),
    "an empty name": (["--file", "{plain}:", "-c", "1"], ["name"]),
    "a standard input that is not there": (
        ["--stdin", "{nowhere}.txt", "-c", "1"],
        ["nowhere.txt", "No such file"],
    ),
    "a limit over its maximum": (["--limit", "pids=1000000", "-c", "1"], ["pids", "4096"]),
    "a limit under its minimum": (["--limit", "memory_bytes=1", "-c", "1"], ["memory_bytes"]),
    "a limit that is not there": (["--limit", "no_such_limit=1", "-c", "1"], ["no_such_limit"]),
    "a limit without a number": (["--limit", "pids=many", "-c", "1"], ["pids", "many"]),
    "a limit without a value": (["--limit", "pids", "-c", "1"], ["pids"]),
    "a negative limit": (["--limit", "pids=-1", "-c", "1"], ["pids"]),
    "a number that is too large for any machine": (
        ["--limit", "pids=99999999999999999999999", "-c", "1"],
        ["pids"],
    ),
    "a time-out over its maximum": (["--timeout", "999999", "-c", "1"], ["wall_ms"]),
    "a time-out that is no time": (["--timeout", "soon", "-c", "1"], ["soon"]),
    "a time-out that is not a number": (["--timeout", "nan", "-c", "1"], ["nan"]),
    "a memory over its maximum": (["--memory", "1000T", "-c", "1"], ["memory"]),
    "a memory that is no size": (["--memory", "lots", "-c", "1"], ["lots"]),
    "an unknown profile": (["--profile", "no-such-profile", "-c", "1"], ["no-such-profile", "standard"]),
    "a profile with a path for a name": (["--profile", "../standard", "-c", "1"], ["../standard"]),
    "an unknown environment": (
        ["--env", "no-such-environment", "-c", "1"],
        ["no-such-environment", "system"],
    ),
    "an environment with a path for a name": (["--env", "../../etc", "-c", "1"], ["../../etc"]),
    "an output directory that may not be written": (
        ["--out", "{closed}", "-c", "open('x', 'w').write('1')"],
        ["closed"],
    ),
    "a file as an output directory": (["--out", "{plain}", "-c", "open('x', 'w').write('1')"], ["plain"]),
    "a variable without a value": (["--set-env", "NAME", "-c", "1"], ["NAME"]),
    "a variable without a name": (["--set-env", "=x", "-c", "1"], ["=x"]),
    "an unknown option": (["--no-such-option", "-c", "1"], ["--no-such-option"]),
    "a mistyped option": (["--timeuot=3", "-c", "1"], ["--timeuot=3", "did you mean --timeout?"]),
    "an option of another program": (["--net=host", "-c", "1"], ["--net", "--profile NAME"]),
    "a short option of another program": (["-v", "/a:/b", "-c", "1"], ["-v", "--workdir DIR"]),
    "a variable as an environment": (["-e", "A=1", "-c", "1"], ["--set-env NAME=VALUE"]),
    "arguments of the code": (["{plain}", "a"], ["follow --"]),
    "an option without its value": (["-c", "1", "--timeout"], ["--timeout"]),
    "a file and code": (["{plain}", "-c", "1"], ["-c"]),
    "no code at all": ([], ["code"]),
}


@pytest.fixture
def paths(adder):
    made = {
        "plain": adder.file("plain.txt", "print(1)"),
        "latin": adder.file("latin.py", b"print('\xe9')\n"),
        "huge": adder.file("huge.py", b"#" * ((1 << 20) + 1)),
        "directory": adder.folder("directory"),
        "closed": adder.folder("closed"),
        "unreadable": adder.file("unreadable", "x"),
        "nowhere": adder.scratch / "nowhere",
    }
    made["closed"].chmod(0o500)
    made["unreadable"].chmod(0)
    return made


@pytest.mark.parametrize(
    "name", quick(CASES, "a file that is not there", "an unknown profile", "a limit over its maximum")
)
def test_bad_input(adder, paths, name):
    arguments, words = CASES[name]
    if adder.user.uid == 0 and ("may not" in name):
        pytest.skip("root may read and write everything")
    arguments = [argument.format(**paths) if argument.startswith("{") else argument for argument in arguments]

    told = adder.call("run", *arguments)
    assert told.returncode == 125 and told.stdout == ""
    lines = told.stderr.rstrip("\n").splitlines()
    assert len(lines) == 1, "one sentence"
    assert len(lines[0]) < 600
    for word in words:
        assert word.lower() in lines[0].lower()

    result = adder.json(*arguments)
    assert (result.outcome, result.exit_status) == ("failed", 125)
    for word in words:
        assert word.lower() in result.error["message"].lower()


def test_the_largest_code(adder):
    tail = b"\nprint('ran')\n"
    result = adder.json(adder.file("large.py", b"#" * ((1 << 20) - len(tail)) + tail))
    assert (result.outcome, result.stdout) == ("ok", "ran\n")


def test_more_files_than_go_into_one_message(adder):
    data = adder.file("x", "x")
    options = []
    for index in range(300):
        options += ["--file", f"{data}:{index}"]
    result = adder.run("1", *options)
    assert result.outcome == "ok" or "files" in result.error["message"]


def test_output_directory_that_goes_away(adder):
    directory, name = adder.folder("out"), harness.unique()
    code = (
        "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        "print('started', flush=True)\nopen('x', 'w').write('1')\nsignal.sigwait([signal.SIGUSR1])"
    )
    run = adder.start(harness.named(name, code), "--out", directory)
    assert run.stdout.readline() == b"started\n"
    directory.rmdir()
    [process] = harness.with_name(name)
    process.signal(signal.SIGUSR1)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 125 and b"out" in err and not directory.exists()


def test_environment_whose_python_is_gone(make_adder):
    adder = make_adder()
    environments = adder.folder("environments")
    adder.variables["ADDER_ENVIRONMENTS_DIR"] = str(environments)
    venv = adder.scratch / "venv"
    subprocess.run(
        [*adder.user.prefix, "/usr/bin/python3", "-m", "venv", "--without-pip", venv],
        check=True,
        cwd=adder.scratch,
        env=adder.process_environment(),
    )
    made = adder.call("env", "new", "mine", "--python", venv / "bin/python")
    assert made.returncode == 0
    assert adder.run("print(1)", env="mine").outcome == "ok"
    (venv / "bin/python").unlink()
    result = adder.run("print(1)", env="mine")
    assert result.outcome == "failed" and str(venv) in result.error["message"]
    assert adder.run("print(1)").outcome == "ok"
    adder.stop()


@pytest.mark.parametrize(
    "text, words",
    [
        ("[pool]\nparked = many\n", ["parked", "many"]),
        ("[pool]\nno_such_key = 1\n", ["no_such_key"]),
        ("[no such group]\nx = 1\n", ["no such group"]),
        ("no key file at all\n", ["adder.conf"]),
        ("[pool]\nparked = 100000\n", ["parked"]),
    ],
    ids=["no number", "no such key", "no such group", "no key file", "out of bounds"],
)
def test_bad_configuration(make_adder, text, words):
    adder = make_adder()
    adder.configure(text)
    ended = adder.call("run", "-c", "print(1)")
    assert ended.returncode == 125 and ended.stdout == ""
    assert len(ended.stderr.strip().splitlines()) == 1
    for word in [*words, "adder.conf"]:
        assert word in ended.stderr
    assert adder.json("-c", "print(1)").outcome == "failed"
    assert adder.daemon() is None and not list(adder.runtime.glob("*.sock"))


@pytest.mark.parametrize(
    "text",
    [
        "[http]\nlisten = nowhere\n",
        "[http]\nlisten = 127.0.0.1:0\ncertificate = /no/such.pem\n",
        "[http]\nlisten = https://127.0.0.1:0\n",
        "[http]\nlisten = 0.0.0.0:0\n",
        "[network]\nprivate_networks = x\n",
        "[sandbox]\nmitigations = x\n",
        "[store]\nblobs = x\n",
    ],
    ids=["address", "certificate", "https", "no token", "network", "mitigation", "store"],
)
def test_config_show_rejects_what_serve_rejects(make_adder, text):
    adder = make_adder()
    adder.configure(text)
    shown, served = adder.call("config", "show"), adder.call("serve")
    assert shown.returncode == served.returncode == 125 and shown.stdout == ""
    assert shown.stderr == served.stderr and len(shown.stderr.splitlines()) == 1


def test_config_show_rejects_what_serve_would_not_answer_http_for(make_adder):
    adder = make_adder()
    adder.configure("[http]\nroots = a\n")
    assert '[http] roots: "a"' in adder.call("config", "show").stderr
    adder.configure("[oauth]\nissuer = https://issuer.example\n")
    assert "introspection is missing" in adder.call("config", "show", "--json").stderr
    adder.configure("[http]\nlisten = 127.0.0.1:0\ncertificate = /no/such.pem\nkey = /no/such.pem\n")
    assert "cannot use the certificate and key: Failed to open" in adder.call("config", "show").stderr


def test_code_given_twice(adder):
    for command in (["run"], ["run", "--check", "--profile", "standard"]):
        ended = adder.call(*command, "-c", "print(1)", "--code", "print(2)")
        assert (ended.returncode, ended.stdout) == (125, "") and "-c is given more than once" in ended.stderr


def test_runtime_directory_open_to_others(make_adder):
    adder = make_adder()
    adder.runtime.chmod(0o755)
    result = adder.run("1")
    assert (
        result.outcome == "failed"
        and str(adder.runtime) in result.error["message"]
        and "0700" in result.error["message"]
    )
    adder.runtime.chmod(0o700)
    assert adder.run("1").outcome == "ok"
    adder.stop()


@pytest.mark.both_users
def test_runtime_directory_of_somebody_else(make_adder):
    adder = make_adder()
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    os.chown(adder.runtime, 12345, 12345)
    result = adder.run("1")
    assert result.outcome == "failed" and str(adder.runtime) in result.error["message"]


def test_runtime_directory_that_is_a_link(make_adder):
    adder = make_adder()
    elsewhere = adder.folder("elsewhere")
    elsewhere.chmod(0o700)
    adder.runtime.rmdir()
    adder.runtime.symlink_to(elsewhere)
    result = adder.run("1")
    assert result.outcome == "failed" and not list(elsewhere.iterdir())


def test_runtime_directory_with_a_long_name(make_adder):
    """A socket's path has at most 107 bytes."""
    adder = make_adder()
    adder.runtime = adder.directory / ("long" * 40)
    result = adder.run("print(1)")
    assert result.outcome == "ok" or "long" in result.error["message"]
    if result.outcome == "ok":
        adder.stop()


@pytest.mark.parametrize(
    "typed,meant",
    {
        "ps": "adder session list", "logs": "adder serve logs", "version": "adder --version", "-v": "adder --version", "-c": "adder run -c",
        "rm": "adder session rm", "session delete": "adder session rm", "images": "adder env image list", "sessoin": "adder session",
        "tool ls": "adder tool list", "histroy": "adder history", "shell": "adder repl", "env make": "adder env new",
        "print(1)": "adder run -c",
    }.items(),  # fmt: skip
)
def test_a_command_of_another_program(adder, typed, meant):
    refused = adder.call(*typed.split())
    assert refused.returncode == 125 and f'did you mean "{meant}"?' in refused.stderr


@pytest.mark.parametrize("typed", ["ui", "web", "upgrade", "session xy"])
def test_a_word_that_is_like_no_command_is_no_guess(adder, typed):
    refused = adder.call(*typed.split())
    assert refused.returncode == 125 and "did you mean" not in refused.stderr and "--help lists them" in refused.stderr


@pytest.mark.parametrize(
    "words, told",
    [
        (["token", "new"], "adder token new NAME, as in: adder token new ci --role guest --expires 90d ("),
        (["run", "print(6 * 7)"], 'there is no file "print(6 * 7)"; code itself follows -c'),
        (["ask", "-"], 'as in: adder ask sales.csv "Which month'),
        (["ask", "-", "How many?", "--code", "result = 1"], "--code names a file"),
        (["session", "show", "no-such"], 'there is no session "no-such" (adder session list shows what there is)'),
        (["token", "rm", "no-such"], "(adder token list shows what there is)"),
        (["history", "show", "01a20422-db31"], "(adder history list shows what there is)"),
        (["mcp", "install"], "--client is missing: it is one of claude-desktop, claude-code, "),
    ],
)
def test_what_is_missing_is_shown(adder, words, told):
    refused = adder.call(*words)
    assert refused.returncode == 125 and refused.stdout == "" and told in refused.stderr


PRINTING = (
    ["run", "-c", "print('x' * 100)"], ["run", "--json", "-c", "1"], ["run", "--json", "--env", "no-such"], ["run", "--help"], ["--help"],
    ["--version"], ["history", "list"], ["history", "list", "--json"], ["session", "list", "--json"],
    ["file", "list", "--json"], ["data", "list", "--json"], ["approval", "list", "--json"], ["approval", "list", "--json"],
    ["tool", "call", "run_python", '{"code": "1"}'], ["tool", "list"], ["tool", "list", "--format", "markdown"], ["run", "--check", "-c", "1"], ["serve", "status"],
    ["serve", "status", "--json"], ["doctor", "store"], ["doctor", "store", "--check"], ["env", "list"], ["profile", "list"], ["profile", "show"],
    ["model", "list", "--json"], ["token", "list", "--json"], ["config", "show"], ["config", "document"], ["doctor"], ["serve", "reload"],
    ["manual", "options"], ["complete", "bash"],
)  # fmt: skip


@pytest.mark.parametrize("command", PRINTING, ids=" ".join)
def test_full_disk(adder, command):
    """/dev/full refuses every write: the sentence goes to standard error, and the exit code says so."""
    with open("/dev/full", "w") as full:
        process = adder.popen(*command, stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 125 and err.splitlines()[-1].startswith(b"adder: "), err
    assert err.count(b"adder:") == 1, err


def test_a_reader_that_has_enough_is_no_error(adder):
    with adder.popen("config", "document") as process:
        process.stdout.close()
        assert process.wait(timeout=60) == 0 and process.stderr.read() == b""


@pytest.mark.both_users
def test_output_directory_on_a_full_disk(adder):
    if os.geteuid() != 0 or adder.user.uid != 0:
        pytest.skip("only root can mount a small file system to fill")
    directory = adder.folder("small")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", directory], check=True)
    try:
        result = adder.run("open('x', 'wb').write(bytes(1_000_000))", "--out", directory)
        assert "No space left" in str(result.fields) and "x" in str(result.fields)
        assert os.listdir(directory) == [], "each whole or not at all"
    finally:
        subprocess.run(["umount", directory], check=True)


def test_nothing_was_left_running(adder):
    """After all of these the daemon is the same and answers."""
    before = adder.daemon()
    adder.run("1", "--profile", "no-such-profile")
    assert adder.run("print(1)").stdout == "1\n"
    assert before in (None, adder.daemon())
