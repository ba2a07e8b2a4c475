# Must be refused: making /usr writable by mount_setattr.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import attempt

HERE, RDONLY = -100, 1
attributes = attempt.block(0, RDONLY, 0, 0, form="=QQQQ")
attempt.all_refused({"clear": lambda: attempt.call("mount_setattr", HERE, b"/usr", 0, attributes, 32)})
