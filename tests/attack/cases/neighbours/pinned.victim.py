# SPDX-License-Identifier: Apache-2.0
import os, time

before = os.sched_getaffinity(0)
print("ready", flush=True)
while True:
    print("well" if os.sched_getaffinity(0) == before else "BREACH: it was sent to another processor", flush=True)
    time.sleep(0.05)
