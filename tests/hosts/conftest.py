# SPDX-License-Identifier: Apache-2.0
"""Tests of a host with systemd and control groups v2, on which they run as root: scripts/test --cgroup2 boots one."""
import os
import pathlib

import pytest

import harness

BOOTED = pathlib.Path("/run/systemd/system").exists() and pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()


@pytest.fixture(autouse=True, scope="session")
def host():
    if not BOOTED or os.geteuid() != 0:
        pytest.skip("needs root on a host that systemd booted, with control groups v2")


@pytest.fixture
def new_adder(installation, common_directory):
    """Makes Adders of someone, which end with the test."""
    made = []

    def make(user):
        directory = harness.new_directory(common_directory, user.name)
        directory.chmod(0o755)
        adder = harness.Adder(installation, user, directory, variables={"NO_COLOR": "1"})
        adder.environment = "system"
        made.append(adder)
        return adder

    yield make
    for adder in made:
        adder.kill()
