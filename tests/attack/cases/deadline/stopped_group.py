# Must end as timeout: the process group stops itself, whole.
# SPDX-License-Identifier: Apache-2.0
# stopped by: deadline
# levels: 3 2
# limits: wall_ms=300
import os, signal, time

watch = os.fork()
os.setpgid(watch, watch)
if watch == 0:
    time.sleep(int(os.environ["ATTACK_PATIENCE"]))
    os.write(1, b"BREACH: it lives much longer than it may\n")
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)
os.fork()
os.kill(0, signal.SIGSTOP)
while True:
    time.sleep(1)
