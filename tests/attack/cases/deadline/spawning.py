# Must end as timeout: one program after another, so that the deadline falls into a spawn.
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
while True:
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
