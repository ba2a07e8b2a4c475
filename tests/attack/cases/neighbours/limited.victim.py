# SPDX-License-Identifier: Apache-2.0
import os, resource, time

print("ready", flush=True)
while True:
    print("BREACH: its limit was lowered" if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 64 else "well", flush=True)
    time.sleep(0.05)
