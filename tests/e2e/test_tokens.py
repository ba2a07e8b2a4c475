# SPDX-License-Identifier: Apache-2.0
"""`adder token`: the file of tokens as its owner sees it. docs/tokens.md"""
import hashlib
import json
import os
import stat

import pytest

pytestmark = pytest.mark.both_users


def create(adder, *arguments):
    ended = adder.call("token", "new", *arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def stored(adder):
    return adder.state / "tokens.json"


@pytest.mark.quick
def test_a_secret_is_printed_once_and_alone(make_adder):
    adder = make_adder()
    secret = create(adder, "ci", "--profiles", "standard,comp*", "--expires", "90d")
    assert secret.startswith("adder_") and secret.endswith("\n") and len(secret.strip()) == 49
    text = stored(adder).read_text()
    assert secret.strip() not in text and hashlib.sha256(secret.strip().encode()).hexdigest() in text
    assert stat.S_IMODE(os.stat(stored(adder)).st_mode) == 0o600
    for command in (["list"], ["list", "--json"], ["show", "ci"], ["show", "ci", "--json"]):
        ended = adder.call("token", *command)
        assert ended.returncode == 0 and "ci" in ended.stdout
        assert "adder_" not in ended.stdout and "digest" not in ended.stdout
    shown = json.loads(adder.call("token", "show", "ci", "--json").stdout)
    assert shown["role"] == "user" and shown["profiles"] == ["standard", "comp*"] and not shown["may_decide"]
    assert shown["expires"] is not None and not shown["expired"]


def test_rotating_and_revoking(make_adder):
    adder = make_adder()
    first = json.loads(create(adder, "a", "--json", "--may-decide"))
    create(adder, "b")
    again = json.loads(adder.call("token", "rotate", "a", "--json").stdout)
    assert again["secret"] != first["secret"] and again["may_decide"] and again["created"] == first["created"]
    assert adder.call("token", "list", "--names").stdout == "a\nb\n"
    assert adder.call("token", "rm", "a", "nobody").returncode == 125, "all of them or none"
    assert adder.call("token", "list", "--names").stdout == "a\nb\n"
    assert adder.call("token", "rm", "a", "b").returncode == 0
    ended = adder.call("token", "list")
    assert ended.stdout == "" and "adder token new" in ended.stderr


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["1000"], "a letter"),
        (["uid:0"], "a letter"),
        (["x" * 65], "at most 64"),
        (["a\nb"], "a letter"),
        (["taken"], "already"),
        (["c", "--role", "king"], "not one of the roles"),
        (["c", "--toolset", "none"], "toolset"),
        (["c", "--profiles", "standart"], "no profile"),
        (["c", "--roots", "data"], "[http] roots"),
        (["c", "--rate", "0"], "between"),
        (["c", "--concurrent", "100000"], "between"),
        (["c", "--expires", "2001-01-01"], "future"),
        (["c", "--expires", "soon"], "soon"),
    ],
    ids=lambda value: value[-1][:20] if isinstance(value, list) else None,
)
def test_what_cannot_be_is_said(adder, arguments, told):
    if arguments == ["taken"]:
        adder.call("token", "new", "taken")
    ended = adder.call("token", "new", *arguments)
    assert ended.returncode == 125 and ended.stdout == "" and told in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_file_that_others_may_read_is_refused(make_adder):
    adder = make_adder()
    create(adder, "a")
    before = stored(adder).read_bytes()
    stored(adder).chmod(0o640)
    for command in (["list"], ["new", "b"], ["rm", "a"], ["rotate", "a"]):
        ended = adder.call("token", *command)
        assert ended.returncode == 125 and ended.stdout == "" and "chmod 600" in ended.stderr
    assert stored(adder).read_bytes() == before
    stored(adder).chmod(0o600)
    stored(adder).write_text('{"schema_version": 1, "tokens": [{"name": "a"}]}')
    ended = adder.call("token", "new", "b")
    assert ended.returncode == 125 and "digest" in ended.stderr


def test_many_writers_lose_nothing(make_adder):
    adder = make_adder()
    running = [adder.popen("token", "new", f"t{number}") for number in range(12)]
    secrets = set()
    for process in running:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b"")
        secrets.add(out)
    assert len(secrets) == len(running)
    assert len(adder.call("token", "list", "--names").stdout.split()) == len(running)
    assert {path.name for path in stored(adder).parent.glob("tokens.json*")} == {"tokens.json", "tokens.json.lock"}
