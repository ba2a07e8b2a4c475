# SPDX-License-Identifier: Apache-2.0
"""Names that commands had in the version before: each works, says what it is called now, and is shown nowhere."""
import pytest

import harness


def old_names(adder):
    return [line.split("\t") for line in adder.call("manual", "old-names").stdout.splitlines()]


def notice(old, now):
    return f'adder: "adder {old}" is now "adder {now}"; the old name is removed in the next version\n'


@pytest.mark.quick
def test_each_is_the_command_of_its_present_name(adder):
    """By the help, which is that of the present name; a command with an option in its name has that of the command."""
    told = old_names(adder)
    assert len(told) > 20 and ["record", "history"] in told
    for old, now in told:
        words = [word for word in now.split() if not word.startswith("-")]
        asked, expected = adder.call(*old.split(), "--help"), adder.call(*words, "--help")
        assert (asked.returncode, asked.stdout, asked.stderr) == (0, expected.stdout, notice(old, now)), old
        assert expected.stderr == ""


def test_none_is_shown(adder):
    text = adder.call("help", "--all").stdout
    for old, _ in old_names(adder):
        assert f"\n  {old} " not in text
        assert old not in adder.call("complete", "").stdout.splitlines()


DOES = {
    "record list": (["--json"], 0),
    "record verify": ([], 0),
    "status": (["--json"], 0),
    "reload": (["--json"], 0),
    "tools": (["--toolset", "compute"], 0),
    "call": (["run_python", '{"code": "1 + 1"}'], 0),
    "guard": (["--profile", "analysis", "-c", "import os"], 126),
    "review list": (["--json"], 0),
    "store show": ([], 0),
    "store check": ([], 0),
    "result show": (["01a2029e-b7c3-733d-aa66-f687e2034c5b"], 125),
    "container list": ([], None),
    "env remove": (["system"], 125),
    "token revoke": (["no-such"], 125),
    "model remove": (["no-such"], 125),
    "data remove": (["no-such"], 125),
    "session end": (["no-such"], 125),
    "tools disable": (["no-such"], 125),
}


@pytest.mark.quick
@pytest.mark.parametrize("old", DOES)
def test_each_does_what_it_did(adder, old):
    """What it prints and returns is what the present name does, after one line of notice."""
    [(begins, now)] = [row for row in old_names(adder) if f"{old} ".startswith(f"{row[0]} ")][:1]
    options, code = DOES[old]
    asked = adder.call(*old.split(), *options)
    same = adder.call(*now.split(), *old.split()[len(begins.split()) :], *options)
    assert asked.returncode == same.returncode and code in (None, asked.returncode), asked
    assert asked.stderr == notice(begins, now) + same.stderr
    assert (asked.stdout == "") == (same.stdout == "")


def test_sessions_and_environments(own_adder):
    """Made and ended by their former names."""
    name = harness.unique()
    assert own_adder.call("session", "new", "--name", name).returncode == 0
    assert own_adder.call("session", "end", name).returncode == 0
    made = own_adder.call("token", "create", name)
    assert made.returncode == 0 and made.stdout.startswith("adder_") and made.stderr.startswith(notice("token create", "token new"))
    assert own_adder.call("token", "revoke", name).returncode == 0
    assert own_adder.call("stop", "--force").returncode == 0
    assert own_adder.call("status").returncode == 3
