# Must end as timeout: a child stops the process that runs the code, and lets it go on only after the deadline.
# SPDX-License-Identifier: Apache-2.0
# stopped by: deadline
# limits: wall_ms=300ms
import os
import signal
import time

if os.fork() == 0:
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(int(os.environ["ATTACK_PATIENCE"]))
    os.kill(os.getppid(), signal.SIGCONT)
    os._exit(0)
os.wait()
