# Must be refused: descriptors of segments by modify_ldt.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

attempts = {}
if attempt.is_there("modify_ldt"):
    attempts["modify_ldt"] = lambda: attempt.call("modify_ldt", 0, attempt.room(8), 8)
attempt.all_refused(attempts)
