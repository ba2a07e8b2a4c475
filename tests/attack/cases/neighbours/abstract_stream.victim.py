# SPDX-License-Identifier: Apache-2.0
import os, socket, time

try:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0stream-" + os.environ["ATTACK_TOKEN"])
    listener.listen()
    listener.setblocking(False)
except OSError:
    listener = None  # there are no such names here
print("ready", flush=True)
while True:
    try:
        if listener:
            listener.accept()
            print("BREACH: somebody connected", flush=True)
    except BlockingIOError:
        pass
    time.sleep(0.05)
    print("well", flush=True)
