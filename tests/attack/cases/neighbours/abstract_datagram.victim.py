# SPDX-License-Identifier: Apache-2.0
import os, socket

receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind("\0datagram-" + os.environ["ATTACK_TOKEN"])
receiver.settimeout(0.05)
print("ready", flush=True)
while True:
    try:
        print("BREACH: it got", receiver.recv(100), flush=True)
    except TimeoutError:
        print("well", flush=True)
