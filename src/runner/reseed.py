# SPDX-License-Identifier: Apache-2.0
"""Random state: every sandbox is a copy of one zygote, so each source that was seeded before the fork is seeded anew.

os.urandom, secrets, uuid4 and numpy's default_rng() ask the kernel and need nothing. The hash seed of a running
interpreter cannot change; docs/threat-model.md says what that means.
"""

import random
import sys


def everything():
    """Reseeds from the kernel whatever is loaded. Costs some tens of microseconds."""
    random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        # Its generator renews itself when the pid changes, but every sandbox has the same small pid.
        tempfile._name_sequence = None
    uuid = sys.modules.get("uuid")
    if uuid is not None:
        uuid._node = None
        uuid._last_timestamp = None
