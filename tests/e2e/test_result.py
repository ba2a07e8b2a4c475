# SPDX-License-Identifier: Apache-2.0
"""The result object: the same fields for every run, with the facts of that run in them."""
import json
import os

import pytest

import harness

NAMESPACES = """
import json, os
names = ("pid", "mnt", "user", "net", "ipc", "uts", "cgroup")
print(json.dumps({name: os.readlink("/proc/self/ns/" + name) for name in names}))
"""


@pytest.mark.quick
def test_print(adder):
    result = adder.run("print(2**32)")
    assert result.outcome == "ok"
    assert result.stdout == "4294967296\n"
    assert (result.stdout_bytes, result.stderr_bytes, result.stderr) == (11, 0, "")
    assert result.exit_code == 0 and result.signal is None and result.truncated is False
    assert result.value is None and result.error is None
    assert result.files == result.displays == result.charts == result.violations == []
    assert result.warnings == [] and result.denials == []
    assert result.session is None and result.approval_id is None and result.result_id is None


@pytest.mark.quick
def test_usage_is_measured(adder):
    usage = adder.run("sum(bytearray(b'x') * 5_000_000)").usage
    assert usage["wall_ms"] > 0 and usage["cpu_ms"] > 0 and usage["queue_ms"] >= 0
    assert usage["peak_memory_bytes"] > 0


def test_usage_follows_the_code(adder):
    small, large = adder.run("pass"), adder.run("b = bytearray(b'x') * 100_000_000\nsum(range(3_000_000))")
    # What both have is counted where it was touched first, which may be in either or neither.
    assert large.usage["peak_memory_bytes"] >= 100_000_000 > 2 * small.usage["peak_memory_bytes"]
    assert large.usage["cpu_ms"] > small.usage["cpu_ms"]


def test_usage_counts_all_processes(adder):
    code = """
import os, time
pid = os.fork()
if pid == 0:
    end = time.process_time() + 0.3
    while time.process_time() < end: pass
    os._exit(0)
os.waitpid(pid, 0)
"""
    result = adder.run(code)
    assert result.outcome == "ok" and result.usage["cpu_ms"] >= 270, "but for the kernel's ticks"


def test_usage_counts_children_that_are_left(adder):
    code = """
import os, time
here, there = os.pipe()
if os.fork() == 0:
    while time.process_time() < 0.2: pass
    os.write(there, b"x")
    while True: pass
while time.process_time() < 0.05: pass
os.read(here, 1)
"""
    result = adder.run(code)
    assert result.outcome == "ok" and result.usage["cpu_ms"] >= 150


@pytest.mark.quick
@pytest.mark.both_users
def test_isolation_level(adder):
    isolation = adder.run("pass").isolation
    assert isolation["level"] in (2, 3)
    assert (isolation["level"] == 3) == (isolation["missing"] == []), "what a lower level lacks is named"


@pytest.mark.both_users
def test_root_with_cgroups_reaches_level_three(adder):
    if adder.user.uid != 0:
        pytest.skip("only root may write the cgroup tree here")
    controllers = "/sys/fs/cgroup/cgroup.controllers"
    v2 = os.path.exists(controllers) and "memory" in open(controllers).read()
    v1 = os.access("/sys/fs/cgroup/memory/cgroup.procs", os.W_OK)
    if not (v1 or v2):
        pytest.skip("no cgroup tree with a memory controller is writable")
    assert adder.run("pass").isolation == {"level": 3, "missing": [], "backend": "native", "container": None}


@pytest.mark.quick
def test_each_run_is_on_its_own(adder):
    """Both at once: the kernel gives the numbers of dead namespaces out again."""
    running = adder.start(
        NAMESPACES.rstrip() + "\nsys = __import__('sys'); sys.stdout.flush()\nwhile True: pass",
        "--timeout",
        "60",
    )
    first = json.loads(running.stdout.readline())
    second = adder.run(NAMESPACES).told()
    running.terminate()
    running.communicate(timeout=60)
    for name in ("pid", "mnt", "user", "ipc"):
        assert first[name] != second[name]
    for name, link in first.items():
        assert link != os.readlink(f"/proc/self/ns/{name}"), f"the host's own {name} namespace"


def test_each_run_has_its_own_id(adder):
    assert len({adder.run("1").run_id for _ in range(10)}) == 10


def test_nothing_of_a_run_is_left_for_the_next(adder):
    adder.run(
        "import builtins, os\n"
        "builtins.left = 1\n"
        "open('/work/left', 'w').close()\n"
        "open('/tmp/left', 'w').close()\n"
        "os.environ['LEFT'] = '1'\nopen('/dev/shm/left', 'w').close()"
    )
    result = adder.run(
        "import builtins, os\n"
        "[hasattr(builtins, 'left'), 'LEFT' in os.environ] + \n"
        "[os.path.exists(d + '/left') for d in ('/work', '/tmp', '/dev/shm')]".replace(" + \n", " + ")
    )
    assert result.text == "[False, False, False, False, False]"


@pytest.mark.parametrize(
    "code, text",
    [
        ("6", "6"),
        ("x = 3\nx * 2", "6"),
        ("'text'", "'text'"),
        ("x = 1", None),
        ("None", None),
        ("print('a')", None),
        ("", None),
        ("# only a comment", None),
        ("if True:\n    5", None),
        ("1; 2", "2"),
        ("def f():\n    return 4\nf()", "4"),
        ("[i for i in range(3)]", "[0, 1, 2]"),
        ("float('nan'), float('inf'), -0.0", "(nan, inf, -0.0)"),
        ("10**30", "1" + "0" * 30),
        ("'\\ud800'", "'\\ud800'"),
        ("'\\0'", "'\\x00'"),
        ("'日本語 🐍'", "'日本語 🐍'"),
        ("...", "Ellipsis"),
    ],
)
def test_value_of_the_last_expression(adder, code, text):
    result = adder.run(code)
    assert result.outcome == "ok"
    assert result.text == text
    assert result.stdout == ("a\n" if "print" in code else "")


def test_value_that_ends_in_a_semicolon(adder):
    """As notebooks have it, or as Python has it: either way the run is fine."""
    assert adder.run("6;").outcome == "ok"


VALUES = {
    "a lone surrogate in the text": ("class V:\n    def __repr__(self): return 'a\\ud800b\\0c'\nV()", "a"),
    "a very long text": ("'x' * 10_000_000", "'xxx"),
    "a list that holds itself": ("x = []\nx.append(x)\nx", "[[...]]"),
}


@pytest.mark.parametrize("name", VALUES)
def test_awkward_values(adder, name):
    code, start = VALUES[name]
    result = adder.run(code)
    assert result.outcome == "ok", "code that did its work is fine, whatever its value looks like"
    assert result.value is not None
    if start:
        assert result.text.startswith(start)
    assert len(result.text.encode()) <= result.limits["value_bytes"] + 1000


def test_long_value_is_capped(adder):
    result = adder.run("'x' * 10_000", "--limit", "value_bytes=100")
    assert result.outcome == "ok" and len(result.text) < 1000


def test_value_whose_repr_fails(adder):
    result = adder.run("class V:\n    def __repr__(self): raise ValueError('no text')\nV()")
    assert "ValueError" in str(result.fields)
    assert result.outcome in ("ok", "error")


def test_integer_of_more_digits_than_python_shows(adder):
    result = adder.run("10**4999")
    assert result.outcome == "ok" or result.error["type"] == "ValueError"


def test_value_whose_repr_never_ends(adder):
    result = adder.run(
        "class V:\n" "    def __repr__(self):\n" "        while True: pass\n" "V()", "--limit", "wall_ms=1500"
    )
    assert result.outcome == "timeout"


@pytest.mark.quick
def test_limits_are_those_applied(adder):
    plain = adder.run("pass").limits
    chosen = adder.run("pass", "--limit", "pids=7", "--timeout", "9", "--memory", "100M").limits
    changed = {name for name in plain if plain[name] != chosen[name]}
    assert changed == {"pids", "wall_ms", "memory_bytes"}
    assert (chosen["pids"], chosen["wall_ms"], chosen["memory_bytes"]) == (7, 9000, 100 * 1024 * 1024)


def test_every_outcome_has_all_fields(adder):
    """check_result has looked at each; here they are compared with one another."""
    crash = "import os\nos.kill(os.getpid(), 11)"
    ends = [
        adder.run("1"),
        adder.run("1/0"),
        adder.run("while True: pass", "--limit", "wall_ms=300"),
        adder.run("while True: print('x' * 999)", "--limit", "output_bytes=9999"),
        adder.run(crash),
        adder.run("1", "--profile", "no-such-profile"),
        adder.run("1", "--limit", "wall_ms=99999999999"),
    ]
    assert [end.outcome for end in ends] == [
        "ok",
        "error",
        "timeout",
        "output_limit",
        "crashed",
        "failed",
        "failed",
    ]
    assert len({frozenset(end.fields) for end in ends}) == 1
    assert set(ends[0].fields) == set(harness.FIELDS), "and no more than the contract has"
