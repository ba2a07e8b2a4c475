# SPDX-License-Identifier: Apache-2.0
import os, socket, time

listener = socket.socket(socket.AF_UNIX)
listener.bind("\0stream-" + os.environ["ATTACK_TOKEN"])
listener.listen()
listener.settimeout(0.05)
print("ready", flush=True)
while True:
    try:
        listener.accept()
        print("BREACH: somebody connected", flush=True)
    except TimeoutError:
        print("well", flush=True)
