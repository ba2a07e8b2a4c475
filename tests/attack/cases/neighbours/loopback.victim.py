# SPDX-License-Identifier: Apache-2.0
import os, socket, time

# An address that nobody else has: a port of 127.0.0.1 may be some client's where the host's network is shared.
ADDRESS = ("127." + ".".join(str(byte) for byte in bytes.fromhex(os.environ["ATTACK_TOKEN"])[:3]), 20000)
listener = None
try:
    listener = socket.socket()
    listener.bind(ADDRESS)
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
