# Must be refused: a lease on a shared file, which holds up processes of the host that open it.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: 3 2 1
import fcntl, os

with open("leased", "w"):
    pass
descriptor = os.open("leased", os.O_RDONLY)
try:
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    print("BREACH: a lease")
except OSError:
    print("held")
os.unlink("leased")
