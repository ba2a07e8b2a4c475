# SPDX-License-Identifier: Apache-2.0
"""clients/python without an address: it finds the daemon of its user, and starts it where there is none."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

import adder_client
import harness

pytestmark = pytest.mark.both_users
PACKAGE = pathlib.Path(adder_client.__file__).parents[1]
FIRST = "from adder_client import Adder; print(Adder().run('6*7').text)"
AWAITED = """
import asyncio
from adder_client import AsyncAdder

async def main():
    async with AsyncAdder() as adder:
        results = await asyncio.gather(*(adder.run(f"{n} * 7") for n in range(6)))
        print([result.text for result in results])

asyncio.run(main())
"""


class Machine:
    """One where Adder is installed, and nothing is started."""

    def __init__(self, adder):
        self.adder = adder
        self.http = adder.runtime / "adder.http.sock"
        self.path = [adder.installation.program.parent, "/usr/bin", "/bin"]
        self.told = {"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1"}

    def python(self, code):
        """A program of the user, which may be still running."""
        environment = {**self.adder.process_environment(), **self.told, "PATH": ":".join(map(str, self.path))}
        command = [*self.adder.user.prefix, sys.executable, "-c", code]
        options = {"cwd": self.adder.scratch, "env": environment, "text": True}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def says(self, code=FIRST):
        with self.python(code) as process:
            out, err = process.communicate(timeout=2 * harness.DEADLINE)
        assert process.returncode == 0, err
        return out

    def fails(self, code=FIRST):
        """The last line of the error."""
        with self.python(code) as process:
            _, err = process.communicate(timeout=2 * harness.DEADLINE)
        assert process.returncode == 1, err
        return err.strip().splitlines()[-1]

    def program(self, text):
        """Another `adder`, which is a script."""
        path = self.adder.file("bin/adder", f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        self.path = [path.parent, "/usr/bin", "/bin"]


@pytest.fixture
def machine(make_adder):
    adder = make_adder()
    adder.configure("[environment]\ndefault = system\n")
    readable = subprocess.run([*adder.user.prefix, sys.executable, "-c", "import httpx"], capture_output=True, check=False)
    if readable.returncode != 0:
        pytest.skip(f"{adder.user.name} may not read the Python of these tests")
    yield Machine(adder)
    adder.stop()


def test_the_first_line_of_the_readme(machine):
    assert machine.adder.daemon() is None
    assert machine.says() == "42\n"
    daemon = machine.adder.daemon()
    assert daemon is not None and machine.http.stat().st_mode & 0o777 == 0o600
    assert machine.says() == "42\n" and machine.adder.daemon() == daemon


def test_programs_that_begin_together_have_one_daemon(machine):
    programs = [machine.python(FIRST) for _ in range(6)]
    assert [program.communicate(timeout=2 * harness.DEADLINE)[0] for program in programs] == ["42\n"] * 6


def test_it_is_awaited(machine):
    assert machine.says(AWAITED) == "['0', '7', '14', '21', '28', '35']\n"


def test_a_daemon_that_ended_is_started_again(machine):
    """As one does that was idle, while the program has its connection still."""
    code = """
import subprocess
from adder_client import Adder

with Adder() as adder:
    for number in range(3):
        print(adder.run(f"{number} + 1").text, flush=True)
        if number < 2:
            subprocess.run(["adder", "serve", "stop"], check=True, stdout=subprocess.DEVNULL)
    print(adder)
"""
    assert machine.says(code) == "1\n2\n3\n<Adder this machine>\n"


def test_the_program_may_be_named(machine):
    machine.told["ADDER_PROGRAM"] = str(machine.adder.installation.program)
    machine.path = ["/usr/bin", "/bin"]
    assert machine.says() == "42\n"
    machine.told["ADDER_PROGRAM"] = "/no/such/adder"
    assert "ADDER_PROGRAM is '/no/such/adder', which is no program that can be run" in machine.fails()


def test_a_socket_is_found_without_the_program(machine):
    machine.says()
    machine.path = ["/usr/bin", "/bin"]
    assert machine.says() == "42\n"
    if os.geteuid() == 0:
        os.chown(machine.http, 4242, 4242)
        assert f"no socket {machine.http}" in machine.fails(), "it is somebody else's"
    machine.adder.stop()
    said = machine.fails()
    assert f"no program `adder` on PATH, and no socket {machine.http}" in said
    assert "install Adder, or set ADDER_PROGRAM" in said and "ADDER_URL" in said


def test_the_configuration_may_put_the_socket_elsewhere(machine):
    place = machine.adder.folder("else")
    place.chmod(0o700)
    machine.adder.configure(f"[environment]\ndefault = system\n[daemon]\nsocket = {place}/own.sock\n")
    try:
        assert machine.says() == "42\n" and (place / "own.http.sock").is_socket() and not machine.http.exists()
    finally:
        ended = machine.adder.call("serve", "stop")
        assert ended.returncode == 0, ended


def test_an_address_goes_first(machine):
    machine.told["ADDER_URL"] = "http://127.0.0.1:1"
    assert "ConnectionFailed" in machine.fails() and machine.adder.daemon() is None


def test_a_variable_of_the_client_is_not_the_programs(machine):
    """The program would ask another server, or refuse to start a daemon."""
    machine.told["ADDER_URL"] = ""
    assert machine.says() == "42\n"


def test_what_keeps_the_daemon_from_starting_is_told(machine):
    machine.adder.configure("[sessions]\nidle_ms = soon\n")
    said = machine.fails()
    assert "ConnectionFailed" in said and "idle_ms" in said
    machine.adder.configure("")


WRONG_PROGRAMS = {
    "no JSON": ("echo hello", "` ended with status 0: hello"),
    "another JSON": ("echo '[1]'", "` ended with status 0: [1]"),
    "a failure": ("echo 'no luck' >&2; exit 9", "` ended with status 9: no luck"),
    "no HTTP": (
        f"echo '{json.dumps({'daemon': True, 'socket': '/nowhere/adder.sock'})}'",
        "does not answer HTTP at /nowhere/adder.http.sock: if it is of an older version, `adder serve stop` ends it",
    ),
}


@pytest.mark.parametrize("script, words", WRONG_PROGRAMS.values(), ids=WRONG_PROGRAMS)
def test_what_else_may_be_called_adder(machine, script, words):
    machine.program(script)
    said = machine.fails()
    assert said.startswith("adder_client.errors.ConnectionFailed: ") and words in said and len(said) < 3000


def test_nothing_is_started_before_the_first_request(machine):
    assert machine.says("from adder_client import Adder\nwith Adder() as adder: print(adder)") == "<Adder this machine>\n"
    assert machine.adder.daemon() is None
    assert os.listdir(machine.adder.runtime) == []
