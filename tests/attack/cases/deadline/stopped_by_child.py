# Must end as timeout: a child stops the process that the run waits for.
# SPDX-License-Identifier: Apache-2.0
# stopped by: deadline
# levels: 3 2 1
# limits: wall_ms=300
import os, signal, time

if os.fork() == 0:
    time.sleep(int(os.environ["ATTACK_PATIENCE"]))
    os.write(1, b"BREACH: it lives much longer than it may\n")
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)
if os.fork() == 0:
    os.kill(os.getppid(), signal.SIGSTOP)
    os._exit(0)
while True:
    time.sleep(1)
