# SPDX-License-Identifier: Apache-2.0
"""Random state: every sandbox is a copy of one zygote, so each source that was seeded before the fork is seeded anew.

os.urandom, secrets, uuid4 and numpy's default_rng() ask the kernel and need nothing; the generator of `random` has CPython
seed it after every fork. The hash seed of a running interpreter cannot change; docs/threat-model.md says what that means.
"""

import sys

from adder_runner import _adder


def forget():
    """Drops what processes that are forked from this one would share."""
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        # Its generator renews itself when the pid changes, but every sandbox has the same small pid.
        tempfile._name_sequence = None
    uuid = sys.modules.get("uuid")
    if uuid is not None:
        uuid._node = None
        uuid._last_timestamp = None


def settle():
    """To be called once, in the zygote: forgets what sandboxes would share, and finds out how to seed the rest quickly."""
    forget()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
        try:
            key, position = numpy_random.get_state()[1:3]
            _adder.watch_twister(numpy_random.mtrand._rand._bit_generator.capsule, key.tobytes(), position)
        except Exception:  # another numpy than those we know
            pass


def everything():
    """Seeds anew, from the kernel. numpy's own way to do so costs a millisecond in a process that was just forked."""
    if not _adder.reseed_twister() and "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
