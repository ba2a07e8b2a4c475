# Must end as crashed: the process that the run waits for kills itself, its child lives on.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2 1
import ctypes, os, signal, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
