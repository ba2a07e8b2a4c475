# Must end as timeout: everything is closed, the socket to the daemon too, so that the run looks as if it were over.
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
os.closerange(0, 1000)
while True:
    time.sleep(1)
