# SPDX-License-Identifier: Apache-2.0
import os, time

before = os.getpriority(os.PRIO_PROCESS, 0)
print("ready", flush=True)
while True:
    print("well" if os.getpriority(os.PRIO_PROCESS, 0) == before else "BREACH: it was put behind others", flush=True)
    time.sleep(0.05)
