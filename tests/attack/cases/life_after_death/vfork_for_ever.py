# Must do no harm: a process that waits in vfork for a child which never executes anything nor ends.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2 1
# result: result.outcome == "ok" and "done" in result.stdout
import ctypes, os, platform, time

libc = ctypes.CDLL(None)
libc.prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    # clone(CLONE_VFORK | SIGCHLD): memory of its own, so that the child may be Python.
    if libc.syscall(56 if platform.machine() == "x86_64" else 220, 0x4000 | 17, None, None, None, None) == 0:
        time.sleep(60)
    os._exit(0)
print("done")
