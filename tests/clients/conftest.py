# SPDX-License-Identifier: Apache-2.0
"""These run by the Python of build/clients, which has the clients: build/clients/bin/python -m pytest tests/clients. Another leaves
them out."""
import importlib.util
import pathlib
import sys
import tempfile

import pytest

import harness
import served as world_of

collect_ignore_glob = [] if importlib.util.find_spec("adder_client") else ["test_*.py"]

if not collect_ignore_glob:  # the SDK openai-agents has a package `agents`; the module of the tests is for those of e2e alone
    sys.path.append(sys.path.pop(sys.path.index(str(harness.REPOSITORY / "tests"))))


@pytest.fixture(scope="session")
def served(installation, user, common_directory):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="served-", dir=common_directory))
    directory.chmod(0o755)
    adder = harness.Adder(installation, user, directory)
    adder.configure(world_of.configuration(adder.runtime))
    adder.environment = "system"
    world = world_of.Served(adder)
    yield world
    try:
        world.end()
    finally:
        adder.kill()
        world.daemon.kill()


@pytest.fixture
def breaking(served):
    way = world_of.Breaking(served.url)
    yield way
    way.end()


@pytest.fixture
def anyio_backend():
    return "asyncio"
