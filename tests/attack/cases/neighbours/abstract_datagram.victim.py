# SPDX-License-Identifier: Apache-2.0
import os, socket, time

try:
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind("\0datagram-" + os.environ["ATTACK_TOKEN"])
    receiver.setblocking(False)
except OSError:
    receiver = None  # there are no such names here
print("ready", flush=True)
while True:
    try:
        if receiver:
            print("BREACH: it got", receiver.recv(100), flush=True)
    except BlockingIOError:
        pass
    time.sleep(0.05)
    print("well", flush=True)
