# SPDX-License-Identifier: Apache-2.0
"""Checkpoints, rollbacks and branches at the command line, with the packages that people use; and that nothing is left of
them."""
import re
import signal

import pytest

import harness
from harness import named, unique, with_name


def branches(sessions, session, *options):
    made = [one["session_id"] for one in sessions.ask("branch", session, *options)["sessions"]]
    sessions.made.extend(made)
    return made


@pytest.mark.quick
def test_back_and_forth(sessions):
    session = sessions.new()
    sessions.cell(session, "x = [1]; numbers = iter(range(9)); first = next(numbers)\nopen('f', 'w').write('then')")
    made = sessions.adder.call("session", "checkpoint", session, "then")
    assert made.returncode == 0 and re.fullmatch(r"[0-9a-f-]{36}\n", made.stdout) and made.stderr == ""
    for checkpoint in ("then", made.stdout.strip()):
        changed = "x.append(2); open('f', 'w').write('now'); print(x, next(numbers))"
        assert sessions.cell(session, changed).stdout == "[1, 2] 1\n"
        assert sessions.adder.call("session", "rollback", session, checkpoint).returncode == 0
        assert sessions.cell(session, "print(x, open('f').read())").stdout == "[1] then\n"
        sessions.ask("rollback", session, checkpoint)
    one, two = branches(sessions, session, "-n", "2")
    sessions.cell(one, "x.append('one'); open('f', 'a').write(' one')")
    assert sessions.cell(two, "print(x, open('f').read(), next(numbers))").stdout == "[1] then 1\n"
    assert sessions.cell(one, "print(x, open('f').read())").stdout == "[1, 'one'] then one\n"
    assert [sessions.show(one)["parent"], sessions.show(session)["parent"]] == [session, None]
    assert [kept["name"] for kept in sessions.show(session)["checkpoints"]] == ["then"]
    sessions.ask("forget", session, "then")
    assert "no checkpoint" in sessions.refused("rollback", session, "then")


def test_packages_go_on(sessions, science):
    """pandas, numpy and an open figure; random numbers of numpy are each branch's own."""
    session = sessions.new()
    sessions.cell(session, "import numpy as np, pandas as pd\nfrom matplotlib import pyplot as plt\nnp.random.seed(1)\n"
                  "data = pd.DataFrame({'k': list('aba'), 'x': [1, 2, 3]})\ngroups = data.groupby('k')\n"
                  "rng = np.random.default_rng(5); m = np.random.rand(300, 300)")
    one, two = branches(sessions, session, "-n", "2")
    drawn = {sessions.cell(each, "print(np.random.random())").stdout for each in (session, one, two)}
    assert len(drawn) == 3
    assert len({sessions.cell(each, "print(rng.random())").stdout for each in (session, one, two)}) == 1
    for each in (one, two):
        code = "plt.plot(data.x); plt.show()\nprint(groups.x.sum().to_dict(), np.allclose(m @ np.linalg.inv(m), np.eye(300)))"
        result = sessions.cell(each, code)
        assert result.stdout == "{'a': 4, 'b': 2} True\n" and len(result.displays) == 1


def test_programs_find_the_same_places(sessions):
    session = sessions.new()
    sessions.cell(session, "open('/work/a', 'w').close(); open('/tmp/b', 'w').close()")
    (one,) = branches(sessions, session)
    sessions.cell(one, "open('/work/own', 'w').close()")
    code = (
        "import subprocess, multiprocessing, os\n"
        "print(sorted(subprocess.run(['ls', '/work'], capture_output=True, text=True).stdout.split()),\n"
        "      subprocess.getoutput('test -e /tmp/b && echo there'),\n"
        "      multiprocessing.get_context('spawn').Pool(1).map(os.listdir, ['/work']))"
    )
    assert sessions.cell(session, code).stdout == "['a'] there [['a']]\n"
    assert "['a', 'own'] there" in sessions.cell(one, code).stdout


def test_refused_by_the_name_of_a_thread(sessions):
    session = sessions.new()
    sessions.cell(session, "import threading; e = threading.Event(); threading.Thread(target=e.wait, name='ticker', daemon=True).start()")
    for command in (("checkpoint", session), ("branch", session)):
        assert "ticker" in sessions.refused(*command, status=75)
    sessions.cell(session, "e.set()")
    assert sessions.refused("branch", session, "-n", "0").startswith("adder: count must be at least 1")
    assert "max_sessions_per_owner" in sessions.refused("branch", session, "-n", "4096")
    assert "at most 4096" in sessions.refused("branch", session, "-n", "4097")


def test_nothing_is_left(make_sessions):
    """Neither when all of them ended, in whatever order, nor when the daemon is killed."""
    sessions = make_sessions()
    name = unique()
    session = sessions.new()
    sessions.cell(session, named(name, "x = 1"))
    sessions.ask("checkpoint", session, "c")
    made = branches(sessions, session, "-n", "3")
    assert len(list(with_name(name))) >= 5
    traces = sessions.adder.traces()
    sessions.ask("rm", session, *made)
    harness.wait_until(lambda: not list(with_name(name)), "all branches to end")

    session = sessions.new()
    sessions.cell(session, named(name, "x = 1"))
    sessions.ask("checkpoint", session, "c")
    branches(sessions, session, "-n", "3", "--from", "c")
    harness.Process(sessions.adder.daemon()).signal(signal.SIGKILL)
    traces.wait_gone()
    harness.wait_until(lambda: not list(with_name(name)), "all branches to end")
