# SPDX-License-Identifier: Apache-2.0
"""The daemon of the whole system (packaging/systemd/system), which systemd gives a control group to divide."""
import json
import pathlib
import subprocess

import pytest

pytestmark = pytest.mark.quick  # what an emulated machine is asked to do

UNITS = ("adder.socket", "adder.service")
SOCKET = "unix:/run/adder-server/adder.http.sock"


def call(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


@pytest.fixture(scope="module")
def run():
    """`adder run --json` of someone with a token; its result."""
    call("systemd-sysusers", "adder.conf")
    call("systemctl", "daemon-reload")
    call("systemctl", "enable", "--now", *UNITS)
    token = call("adder", "token", "new", "someone", "--url", SOCKET).splitlines()[-1]
    account = ["setpriv", "--reuid", "someone", "--regid", "someone", "--init-groups"]
    place = ["env", "HOME=/home/someone", "ADDER_URL=http://127.0.0.1:7117", f"ADDER_TOKEN={token}"]

    def run(code, *options):
        ended = subprocess.run([*account, *place, "adder", "run", "--json", *options, "-c", code], capture_output=True, text=True)
        return json.loads(ended.stdout)

    yield run
    call("adder", "token", "rm", "someone", "--url", SOCKET)
    call("systemctl", "disable", "--now", *UNITS)


def test_runs_reach_level_3_and_have_a_proc_of_their_own(run):
    result = run("import os; print(sorted(name for name in os.listdir('/proc') if name.isdigit()), os.path.exists('/proc/sys'))")
    assert (result["outcome"], result["isolation"]["level"], result["isolation"]["missing"]) == ("ok", 3, [])
    assert result["stdout"] == "['2'] False\n"


def test_their_groups_are_below_the_units(run):
    pid = call("systemctl", "show", "-P", "MainPID", "adder.service").strip()
    assert pathlib.Path(f"/proc/{pid}/cgroup").read_text() == "0::/system.slice/adder.service/supervisor\n"
    result = run("kept = []\nwhile True: kept.append(b'x' * 1_000_000)", "--memory", "100M")
    assert (result["outcome"], result["isolation"]["level"]) == ("memory_limit", 3)
    assert call("systemctl", "is-active", "adder.service") == "active\n"
