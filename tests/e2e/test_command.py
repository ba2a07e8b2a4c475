# SPDX-License-Identifier: Apache-2.0
"""The command line beside `run`: what it prints, what it returns, what it installs."""
import re

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
    for name in ("run", "serve", "status", "stop", "doctor", "env", "bench", "config"):
        assert re.search(rf"\b{name}\b", text)


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
    assert "level" in told.stdout.lower() and str(level) in told.stdout


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
    ended = adder.call("env", "remove", "system")
    assert ended.returncode != 0 and "system" in ended.stderr


def test_configuration_shown(adder):
    told = adder.call("config", "show")
    assert told.returncode == 0 and "max_running" in told.stdout


@pytest.mark.quick
def test_status(adder):
    adder.run("1")
    status = adder.status()
    assert isinstance(status, dict)
    assert adder.call("status").stdout.strip()


def test_status_and_stop_without_a_daemon(own_adder):
    for command in ("status", "stop"):
        ended = own_adder.call(command)
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


def test_order_of_options(adder):
    """Options may come after the file; what follows -- is the script's."""
    script = adder.file("s.py", "import sys\nprint(sys.argv[1:])")
    result = adder.json(script, "--timeout", "9", "--", "--timeout", "5")
    assert result.stdout == "['--timeout', '5']\n" and result.limits["wall_ms"] == 9000


def test_json_is_one_line_also_into_a_terminal(adder):
    """Result.parse asserts the form; here with everything in it that could break a line."""
    result = adder.run("print('a\\nb\\r\\x85\\u2028')\n'v\\n'")
    assert result.stdout == "a\nb\r\x85\u2028\n"
