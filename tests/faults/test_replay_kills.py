# SPDX-License-Identifier: Apache-2.0
"""The daemon is killed at a system call of a replay, early and late: what was kept of the session before is there
afterwards, whole, and of the replay there is nothing half. A session itself lives in the daemon's memory."""
import json
import subprocess

import pytest

from harness import DEADLINE, unique, wait_until
from serving import CONFIG, SPARED, Faults
from test_any_call import CALLS
from test_store_kills import check, kill_daemon

CODE = ["x = len(open('given.txt').read())", "x += 1"]


@pytest.fixture
def faults(make_adder, tools):
    served = Faults(make_adder(CONFIG), tools, CALLS)
    yield served
    served.clear()
    served.adder.kill()
    served.process.wait(DEADLINE)


def ask(adder, *arguments):
    ended = adder.call(*arguments, "--json")
    assert ended.returncode == 0, ended
    return json.loads(ended.stdout)


# The first call, some of the way, and more than a replay makes: then it is killed when the replay was told of.
@pytest.mark.parametrize("number", [1, 30, 60, 90, 120, 150, 180, 210, 240, 100_000])
def test_kills(faults, number):
    adder, name = faults.adder, unique()
    wait_until(faults.works, "a run to work")
    data = adder.file("given.txt", "given\n" * 1000)
    assert adder.call("session", "new", "--name", name, "--file", data).returncode == 0
    cells = [adder.json("--session", name, "-c", code).run_id for code in CODE]
    before = {file["file_id"] for file in ask(adder, "file", "list", "--outputs")["files"]}
    assert before, "the file that was given"
    faults.set(f"{SPARED}\nany hold nth={number}")
    replaying = adder.popen("session", "replay", name, stdin=subprocess.DEVNULL)
    wait_until(lambda: faults.hits.read_text() or replaying.poll() is not None, "a call to be held, or the end")
    assert number == 100_000 or replaying.poll() is None, "a replay makes fewer calls"
    kill_daemon(adder)
    faults.clear()
    replaying.communicate(timeout=DEADLINE)
    check(adder)
    assert [ask(adder, "history", "show", cell)["code"] for cell in cells] == CODE
    assert before <= {file["file_id"] for file in ask(adder, "file", "list", "--outputs")["files"]}
    assert ask(adder, "session", "list")["sessions"] == []
