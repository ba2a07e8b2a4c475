# SPDX-License-Identifier: Apache-2.0
import os, time

print("ready", flush=True)
while True:
    os.listdir("/usr/share")
    time.sleep(0.05)
    print("well", flush=True)
