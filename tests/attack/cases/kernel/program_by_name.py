# Must be refused: shedding filters and rights' absence by executing a program of the tree.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
import subprocess

status = subprocess.run(["cat", "/proc/self/status"], capture_output=True, check=True).stdout.split(b"\n")
kept = {b"NoNewPrivs:\t1", b"Seccomp:\t2", b"CapEff:\t0000000000000000", b"CapBnd:\t0000000000000000"}
lost = kept - set(status)
print(f"BREACH {lost}" if lost else "held")
