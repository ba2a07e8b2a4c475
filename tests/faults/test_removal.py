# SPDX-License-Identifier: Apache-2.0
"""What a run without mounts of its own leaves is removed while others run: code can make trees that take many seconds to remove."""
import pytest

import harness
from harness import wait_until
from serving import CONFIG, Faults

pytestmark = pytest.mark.both_users


def test_nobody_waits_for_what_another_left(make_adder, tools, user, common_directory):
    place = harness.new_directory(common_directory, f"left-{user.name}")
    place.chmod(0o777)
    adder = make_adder(CONFIG + "[sandbox]\nisolation = process\nmin_isolation = 1\n", {"TMPDIR": str(place)})
    faults = Faults(adder, tools, ["unlinkat"])
    wait_until(faults.works, "a run to work")
    faults.set("unlinkat hold who=adder-remove")
    for number in range(20):  # more than may wait to be removed
        result = adder.run("import os\nos.mkdir('d')\nopen('d/left', 'w').close()\nprint(os.getcwd())")
        assert result.outcome == "ok", (number, result)
    faults.wait_hit()
    faults.clear()
    faults.stop()
    assert list(place.iterdir()) == []
