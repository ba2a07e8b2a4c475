# SPDX-License-Identifier: Apache-2.0
"""No attack is made before it is certain that it would hit a sandbox, and after every one the same daemon serves the next
run as if nothing had been."""
import os
import shutil

import pytest

CONFINED = """
import json, os
print(json.dumps({name: os.readlink("/proc/self/ns/" + name) for name in ("pid", "user", "mnt", "net", "ipc")} | {"uid": os.getuid()}))
"""


@pytest.fixture(scope="session")
def confined(shared_adder):
    """A build whose runs are not confined would let the attacks out on this host: then none is made."""
    result = shared_adder.run(CONFINED)
    if result.outcome != "ok":
        pytest.exit(f"a plain run does not work, so no attack is tried: {result}", 1)
    seen = result.told()
    for name in ("pid", "user", "mnt", "net", "ipc"):
        if seen[name] == os.readlink(f"/proc/self/ns/{name}"):
            pytest.exit(f"runs share the {name} namespace of the host: no attack is tried", 1)


@pytest.fixture(scope="module")
def adder_without_namespaces(make_shared_adder):
    """At level 1, in the host's namespaces. Where a run is not confined, no attack is tried."""
    adder = make_shared_adder("[sandbox]\nisolation = process\nmin_isolation = 1\n")
    result = adder.run("1")
    if result.outcome == "refused":
        pytest.skip(f"there is no level 1 here: {result.error['message']}")
    assert (result.outcome, result.isolation["level"]) == ("ok", 1), result
    yield adder
    adder.stop()


@pytest.fixture
def adder(request, adder, confined):
    """At the user's best level, unless a test is marked parametrize("adder", ["best", "level 1"], indirect=True)."""
    if getattr(request, "param", "best") == "level 1":
        adder = request.getfixturevalue("adder_without_namespaces")
        for entry in adder.scratch.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    before = adder.daemon()
    if before is None:
        assert adder.run("print('alive')").stdout == "alive\n"
        before = adder.daemon()
    yield adder
    after = adder.run("print('alive')")
    assert (after.outcome, after.stdout) == ("ok", "alive\n")
    assert adder.daemon() == before, "the daemon is the same"
