# Must be refused: system calls by the numbers of the x32 interface.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

attempts = {}
if attempt.COLUMN == 0:
    for number in (39, 57, 101, 165, 520):
        attempts[f"x32 call {number}"] = lambda number=number: attempt.raw(number | 0x40000000, 0, 0, 0)
attempt.all_refused(attempts)
