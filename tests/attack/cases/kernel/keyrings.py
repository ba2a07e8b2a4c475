# Must be refused: keys and keyrings, which are not divided by namespaces and outlive a run.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

SESSION, USER = -3, -4
attempts = {
    "add_key": lambda: attempt.call("add_key", b"user", b"attack", b"x", 1, SESSION),
    "session keyring": lambda: attempt.call("keyctl", 1, 0, 0, 0, 0),
    "user keyring": lambda: attempt.call("keyctl", 0, USER, 1, 0, 0),
    "request_key": lambda: attempt.call("request_key", b"user", b"attack", 0, SESSION),
}
attempt.all_refused(attempts)
