# SPDX-License-Identifier: Apache-2.0
"""No attack is made before it is certain that it would hit a sandbox, and after every one the same daemon serves the next
run as if nothing had been."""
import os

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


@pytest.fixture
def adder(adder, confined):
    before = adder.daemon()
    if before is None:
        assert adder.run("print('alive')").stdout == "alive\n"
        before = adder.daemon()
    yield adder
    after = adder.run("print('alive')")
    assert (after.outcome, after.stdout) == ("ok", "alive\n")
    assert adder.daemon() == before, "the daemon is the same"
