# Must be refused: making /usr writable by mount_setattr.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# levels: 3 2
# files: attempt.py
import attempt

HERE, RDONLY = -100, 1
attributes = attempt.block(0, RDONLY, 0, 0, form="=QQQQ")
attempt.all_refused({"clear": lambda: attempt.call("mount_setattr", HERE, b"/usr", 0, attributes, 32)})
