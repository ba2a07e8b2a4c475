# SPDX-License-Identifier: Apache-2.0
import os, time

path = "/dev/shm/" + os.environ["ATTACK_TOKEN"]
with open(path, "w") as file:
    file.write("mine")
print("ready", flush=True)
while True:
    print("well" if open(path).read() == "mine" else "BREACH: it was changed", flush=True)
    time.sleep(0.05)
