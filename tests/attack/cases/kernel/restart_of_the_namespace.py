# Must be refused: the reboot call, by which the owner of a pid namespace kills everything in it.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import attempt

# The magic numbers are right and the command is none: EINVAL says that only the command was wrong.
attempt.all_refused({"reboot": lambda: attempt.call("reboot", 0xFEE1DEAD, 672274793, 0x12345678, 0)})
