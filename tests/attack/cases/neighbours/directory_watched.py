# Must be refused: being told whenever somebody else reads in a directory that all share.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: 3 2 1
import fcntl, os, signal

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
directory = os.open("/usr/share", os.O_RDONLY)
try:
    fcntl.fcntl(directory, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
    print("BREACH: told" if signal.sigtimedwait([signal.SIGIO], 5) else "BREACH: told in time")
except OSError:
    print("held")
