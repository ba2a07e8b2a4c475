# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the fault suite."""
import pathlib
import shutil

import pytest

import harness
from harness import wait_until
from serving import CONFIG, Served, daemon_with_faults


@pytest.fixture(scope="session")
def tools(installation, common_directory):
    """The folder of the programs `without` and `inject`, where every user can execute them."""
    folder = common_directory / "tools"
    folder.mkdir()
    for name in ("without", "inject"):
        shutil.copy(pathlib.Path(installation.build) / "tests/faults" / name, folder / name)
    return folder


@pytest.fixture
def serve(make_adder):
    """Starts a daemon under a wrapper; whatever comes of the test, it ends."""
    started = []

    def start(wrapper, config=""):
        started.append(Served(make_adder(CONFIG + config), wrapper))
        return started[-1]

    yield start
    for served in started:
        served.adder.kill()
        served.process.wait(harness.DEADLINE)


@pytest.fixture(scope="session")
def faults(installation, user, common_directory, tools):
    """One user's daemon for all tests that switch faults of it on and off."""
    with daemon_with_faults(installation, user, common_directory, tools) as served:
        yield served


def outlived(faults):
    """That daemon, which must have lived through the test's faults: it serves, and nothing is left over."""
    wait_until(faults.works, "a run to work")
    before = faults.at_rest()
    yield faults
    faults.clear()
    wait_until(faults.works, "a run to work now that the fault is gone")
    faults.wait_rest(before)
    assert faults.adder.daemon() == faults.pid


@pytest.fixture
def faulty(faults):
    yield from outlived(faults)


@pytest.fixture
def faulty_alone(installation, user, common_directory, tools):
    """The same, for one test only: a daemon whose zygotes are lost again and again waits ever longer for the next."""
    with daemon_with_faults(installation, user, common_directory, tools) as served:
        yield from outlived(served)
