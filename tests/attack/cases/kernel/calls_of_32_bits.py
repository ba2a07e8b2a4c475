# Must be refused: system calls by the 32-bit gate (int 0x80), where numbers mean other calls.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py machine_code.py
import attempt
import machine_code

CALLS = {"getpid": 20, "socketcall": 102, "ptrace": 26, "mount": 21, "clone": 120}
attempts = {}
if machine_code.COLUMN == 0:
    for name, number in CALLS.items():
        attempts[name] = lambda number=number: machine_code.gate(number)
attempt.all_refused(attempts, attempt.REFUSALS | {"SIGSEGV"})
