# SPDX-License-Identifier: Apache-2.0
import time

print("ready", flush=True)
while True:
    time.sleep(0.05)
    print("well", flush=True)
