# SPDX-License-Identifier: Apache-2.0
"""A free-threaded CPython, which Adder cannot fork safely, is refused in one sentence: scripts/test --pythons builds one."""
import os
import subprocess

import pytest

pytestmark = pytest.mark.both_users


@pytest.fixture(scope="module")
def python(user):
    program = os.environ.get("ADDER_FREE_THREADED")
    if not program:
        pytest.skip("no free-threaded CPython: ADDER_FREE_THREADED is its path")
    ended = subprocess.run([*user.prefix, program, "-c", "import sys; print(sys._is_gil_enabled())"], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        pytest.skip(f"{user} cannot run {program}")
    assert ended.stdout == "False\n"
    return program


def refused(ended):
    assert ended.returncode == 125 and ended.stdout == ""
    assert "free-threaded Python 3.13" in ended.stderr and "which Adder cannot fork safely" in ended.stderr
    assert ended.stderr.startswith("adder: ") and ended.stderr.count("\n") == 1, ended.stderr


def test_no_environment_is_made_of_it(own_adder, python):
    refused(own_adder.call("env", "new", "free", "--python", python))
    assert not own_adder.has_environment("free")


def test_an_environment_of_it_is_not_adopted(own_adder, python):
    venv = own_adder.home / "venv"
    subprocess.run([*own_adder.user.prefix, python, "-m", "venv", "--without-pip", venv], check=True)
    refused(own_adder.call("env", "new", "free", "--python", venv / "bin/python"))
    assert own_adder.run("print(6 * 7)", env="system").stdout == "42\n"
