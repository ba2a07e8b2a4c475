# Must be refused: a seccomp filter of its own, with a listener that would answer system calls in the kernel's name.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
import ctypes

import attempt

SET_MODE_FILTER, NEW_LISTENER, ALLOW = 1, 8, 0x7FFF0000
program = attempt.block(6, 0, 0, ALLOW, form="=HBBI")
filters = attempt.block(1, ctypes.addressof(program), form="=H6xQ")
attempt.all_refused({"seccomp": lambda: attempt.call("seccomp", SET_MODE_FILTER, NEW_LISTENER, filters)})
