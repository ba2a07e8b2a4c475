# Must be refused: thousands of signals queued in the kernel.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# levels: 3 2 1
import ctypes, os, signal

libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
queued = 0
while queued < 2000 and libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) == 0:
    queued += 1
print("held" if queued < 2000 else f"BREACH: {queued} signals queued")
