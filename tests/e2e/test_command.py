# SPDX-License-Identifier: Apache-2.0
"""The command line beside `run`: what it prints, what it returns, what it installs."""
import importlib.util
import re
import struct

import pytest

import harness


@pytest.mark.quick
def test_version(adder):
    ended = adder.call("--version")
    assert (
        ended.returncode == 0 and re.search(r"\d+\.\d+\.\d+", ended.stdout) and ended.stdout.count("\n") == 1
    )


@pytest.mark.quick
@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["env", "--help"], ["serve", "--help"], ["bench", "--help"]]
)
def test_help(adder, arguments):
    ended = adder.call(*arguments)
    assert ended.returncode == 0 and len(ended.stdout) > 100 and ended.stderr == ""


def test_help_names_every_command(adder):
    text = adder.call("--help").stdout
    for name in ("run", "serve", "history", "tool", "approval", "doctor", "env", "config"):
        assert re.search(rf"^  {name} ", text, re.MULTILINE)
    assert re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE) == ["Run", "Keep", "Agents", "Serve", "Set up", "Examples"]
    assert not re.search(r"^  (bench|telegram|record|status) ", text, re.MULTILINE)
    assert re.search(r"^More:\n  bench ", adder.call("help", "--all").stdout, re.MULTILINE)


def test_help_of_a_command(adder):
    for words in (["run"], ["session", "new"], ["env", "image"], ["env", "image", "build"], ["serve", "status"]):
        told = adder.call("help", *words)
        assert told.returncode == 0 and told.stdout == adder.call(*words, "--help").stdout and "\nExamples:\n" in told.stdout
    assert adder.call("help", "no-such-command").returncode == 125
    first = adder.call("run", "--help").stdout.split("\nOptions:\n")[1].split("\n\n")[0]
    assert re.findall(r"--([a-z]+)", "\n".join(line[:20] for line in first.splitlines())) == [
        "code", "file", "session", "env", "profile", "with", "timeout", "json",
    ]  # fmt: skip


def manual(adder, part):
    return [line.split("\t") for line in adder.call("manual", part).stdout.splitlines()]


def test_every_command_has_examples_that_are_right(adder):
    """Their commands, options and numbers of arguments are: `adder manual examples` parses each."""
    told = manual(adder, "examples")
    assert [row for row in told if row[2]] == []
    assert {"run", "session new", "env image build", "approval deny", "doctor store"} <= {row[0] for row in told}


def test_a_letter_means_one_thing(adder):
    """Whatever the command: -n is a number of things, and -o where something is written."""
    meanings = {}
    for _, letter, option in manual(adder, "letters"):
        meanings.setdefault(letter, set()).add(option)
    assert meanings.pop("n") == {"count", "limit", "rounds", "rows"} and meanings.pop("o") == {"out", "output"}
    assert {letter: options for letter, options in meanings.items() if len(options) > 1} == {}
    assert {letter: min(meanings[letter]) for letter in "cfpe"} == {"c": "code", "f": "file", "p": "profile", "e": "env"}


@pytest.mark.parametrize(
    "words, told",
    [
        (["tool", "call", "run_python", "-c", "x"], "--conversation ID"),
        (["run", "-m", "1G", "-c", "1"], "--memory SIZE"),
        (["session", "new", "-n", "x"], "--name NAME"),
        (["run", "-v", "/tmp:/tmp", "-c", "1"], "--workdir DIR"),
        (["run", "--net", "-c", "1"], "--profile NAME"),
        (["run", "-e", "A=1", "-c", "1"], "--set-env NAME=VALUE"),
        (["run", "-it", "python"], "adder repl"),
        (["serve", "--port", "8000"], "--http=ADDRESS"),
    ],
)
def test_letters_that_went_and_those_of_others_name_an_option(adder, words, told):
    ended = adder.call(*words)
    assert ended.returncode == 125 and told in ended.stderr


def test_checked_and_not_run(adder):
    made = adder.scratch / "made"
    ended = adder.call("run", "--check", "-p", "analysis", "-c", f"open({str(made)!r}, 'w')")
    assert ended.returncode == 126 and ended.stdout.startswith("-c:1:") and not made.exists()
    for words, told in (([], "--profile is missing"), (["-p", "analysis", "-s", "x"], "--check runs nothing: leave out --session")):
        refused = adder.call("run", "--check", *words, "-c", "1")
        assert refused.returncode == 125 and told in refused.stderr


@pytest.mark.quick
def test_logs(own_adder):
    assert "no daemon has run" in own_adder.call("serve", "logs").stderr
    assert own_adder.call("serve", "start").returncode == 0
    harness.wait_until(lambda: "environment is warm" in own_adder.call("serve", "logs").stdout, "the last line of the start")
    lines = own_adder.call("serve", "logs").stdout.splitlines()
    assert any("listens on" in line for line in lines)
    assert own_adder.call("serve", "logs", "-n", "1").stdout.splitlines() == lines[-1:]
    assert own_adder.call("serve", "logs", "-n", "0").returncode == 125


def test_what_a_daemon_elsewhere_can_be_asked(adder):
    """Commands that it cannot be asked refuse --url before they do anything."""
    for words in (["serve", "stop"], ["serve", "start"], ["serve", "logs"], ["env", "image", "list"], ["tool", "show", "x"]):
        refused = adder.call("--url", "http://127.0.0.1:9", *words)
        assert refused.returncode == 125 and "with the daemon of this machine alone" in refused.stderr, words
    for words in (["serve"], ["doctor"]):
        refused = adder.call("--url", "http://127.0.0.1:9", *words)
        assert refused.returncode == 125 and "with the daemon of this machine alone" in refused.stderr, words
    for words in (["serve", "status"], ["history", "list"], ["tool", "list"], ["doctor", "store"], ["approval", "list"]):
        asked = adder.call("--url", "http://127.0.0.1:9", *words)
        assert asked.returncode != 0 and "no daemon answers at http://127.0.0.1:9" in asked.stderr, words


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-option"], ["env", "no-such"], []])
def test_usage_errors(adder, arguments):
    ended = adder.call(*arguments)
    assert ended.returncode != 0 and ended.stderr.strip() and "\x1b" not in ended.stderr


@pytest.mark.quick
def test_doctor(adder):
    told, parsed = adder.call("doctor"), adder.call("doctor", "--json")
    assert told.returncode == parsed.returncode == 0
    level = adder.run("pass").isolation["level"]
    assert harness.strict_json(parsed.stdout)["level"] == level
    assert f"isolation level {level} of 4" in told.stdout
    short = adder.call("doctor", "--short").stdout.splitlines()
    assert len(short) == 3 and f"level {level} of 4" in short[0] and short[2].endswith(f"isolation level {level}")


def test_doctor_in_short_names_a_mistake_of_the_configuration(make_adder):
    ended = make_adder("[sandbox]\nno_such_key = 1\n").call("doctor", "--short")
    assert ended.returncode == 1 and len(ended.stdout.splitlines()) == 3 and "no_such_key" in ended.stdout


def test_environments(adder):
    told = adder.call("env", "list")
    assert told.returncode == 0 and "system" in told.stdout
    parsed = harness.strict_json(adder.call("env", "list", "--json").stdout)
    assert "system" in str(parsed)


def test_environment_shown(adder):
    shown = harness.strict_json(adder.call("env", "show", "system", "--json").stdout)
    assert (
        shown["name"] == "system"
        and shown["python"].startswith("/")
        and re.match(r"3\.\d+", shown["version"])
    )
    assert adder.call("env", "show", "system").returncode == 0


def test_environment_that_is_not_there(adder):
    ended = adder.call("env", "show", "no-such")
    assert ended.returncode != 0 and "no-such" in ended.stderr and "system" in ended.stderr


def test_system_cannot_be_removed(adder):
    ended = adder.call("env", "rm", "system")
    assert ended.returncode != 0 and "system" in ended.stderr


def test_configuration_shown(adder):
    told = adder.call("config", "show")
    assert told.returncode == 0 and "max_running" in told.stdout


@pytest.mark.quick
def test_status(adder):
    adder.run("1")
    status = adder.status()
    assert isinstance(status, dict)
    assert adder.call("serve", "status").stdout.strip()


def test_status_and_stop_without_a_daemon(own_adder):
    for command in ("status", "stop"):
        ended = own_adder.call("serve", command)
        assert ended.returncode in (0, 1, 3) and ended.stdout + ended.stderr != ""
        assert len((ended.stdout + ended.stderr).strip().splitlines()) == 1
    assert own_adder.daemon() is None, "asking starts none"


def test_what_is_installed(installation):
    share = installation.prefix / "share"
    assert list(share.glob("man/man1/adder.1*")), "the man page"
    assert list(share.glob("bash-completion/completions/adder")), "the completion"
    assert (installation.prefix / "include/adder.h").exists()
    assert list(installation.prefix.glob("lib/**/pkgconfig/adder.pc"))
    assert list(share.glob("adder/profiles/standard.conf"))


def test_bytecode_is_that_of_the_installed_source(installation):
    """Else interpreters would compile it at each start."""
    runner = installation.prefix / "libexec/adder"
    sources = list(runner.glob("*.py"))
    assert sources
    for source in sources:
        (compiled,) = runner.glob(f"__pycache__/{source.stem}.*.pyc")
        flags, digest = struct.unpack("<4xI8s", compiled.read_bytes()[:16])  # PEP 552
        assert flags == 3 and digest == importlib.util.source_hash(source.read_bytes()), source


def test_order_of_options(adder):
    """Options may come after the file; what follows -- is the script's."""
    script = adder.file("s.py", "import sys\nprint(sys.argv[1:])")
    result = adder.json(script, "--timeout", "9", "--", "--timeout", "5")
    assert result.stdout == "['--timeout', '5']\n" and result.limits["wall_ms"] == 9000


def test_json_is_one_line_also_into_a_terminal(adder):
    """Result.parse asserts the form; here with everything in it that could break a line."""
    result = adder.run("print('a\\nb\\r\\x85\\u2028')\n'v\\n'")
    assert result.stdout == "a\nb\r\x85\u2028\n"
