# SPDX-License-Identifier: Apache-2.0
import os, socket, time

listener = None
try:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 20000 + int(os.environ["ATTACK_TOKEN"][:4], 16) // 2))
    listener.listen()
    listener.setblocking(False)
except OSError:
    listener = None  # it may not even make one
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
