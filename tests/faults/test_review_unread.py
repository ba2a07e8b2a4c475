# SPDX-License-Identifier: Apache-2.0
"""A run on an overlay of a directory whose layer the daemon cannot open: it does not look like one that changed nothing."""
import itertools
import os

import pytest

from harness import wait_until
from serving import daemon_with_faults

pytestmark = pytest.mark.both_users

# By which the layer is opened, of a thread that serves a run; others open directories with the same flags.
OPENS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@pytest.fixture(scope="module")
def faults(installation, user, common_directory, tools):
    with daemon_with_faults(installation, user, common_directory, tools, ("openat",)) as served:
        yield served


@pytest.mark.parametrize("mode", ["review", "overlay"])
def test_changes_that_cannot_be_read_are_no_success(faults, mode):
    """Whichever of these openings fails: the change is told, or the run failed."""
    wait_until(faults.works, "a run to work")
    told = 0
    for number in itertools.count(1):
        faults.adder.file(f"{mode}-{number}/kept", "kept")
        directory = faults.adder.scratch / f"{mode}-{number}"
        options = (directory, "--review") if mode == "review" else (f"{directory}:overlay",)
        faults.set(f"openat EIO 2={OPENS} nth={number} who=connection")
        result = faults.adder.run("open('made', 'w').close()", "--workdir", *options)
        hit = faults.hits.read_text()
        faults.clear()
        assert os.listdir(directory) == ["kept"]
        if result.outcome == "failed":
            assert result.error["type"] == "Failed" and "Input/output error" in result.error["message"]
            if "what the code changed in the work directory cannot be read" in result.error["message"]:
                told += 1
                assert "as it was before" in result.error["hint"] and result.approval_id is None and result.changes == []
        else:
            assert result.outcome == ("approval_required" if mode == "review" else "ok")
            assert [change["path"] for change in result.changes] == ["made"]
        if result.approval_id:
            assert faults.adder.call("approval", "deny", result.approval_id).returncode == 0
        if not hit:
            break
    assert told == 1
    assert "review_id" not in faults.adder.call("approval", "list", "--json").stdout, "nothing waits for a yes"
