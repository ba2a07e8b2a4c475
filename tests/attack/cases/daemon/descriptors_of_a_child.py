# Must be refused: finding the sandbox's own socket in a program that the code starts.
# SPDX-License-Identifier: Apache-2.0
# stopped by: descriptors
# cannot succeed: every descriptor is closed by the kernel when a program is executed
import subprocess

SCRIPT = "for n in 3 4 5 6 7 8 9; do if (true <&$n) 2>/dev/null; then echo $n; fi; done"
found = subprocess.run(["sh", "-c", SCRIPT], capture_output=True, text=True, close_fds=False).stdout.split()
print(f"BREACH {found}" if found else "held")
