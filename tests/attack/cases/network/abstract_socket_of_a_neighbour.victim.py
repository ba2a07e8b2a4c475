# It listens, and tells when somebody comes.
# SPDX-License-Identifier: Apache-2.0
import os
import socket

listener = socket.socket(socket.AF_UNIX)
listener.bind("\0adder-victim-" + os.environ["ATTACK_TOKEN"])
listener.listen()
listener.settimeout(0.1)
while True:
    print("well", flush=True)
    try:
        listener.accept()
        print("BREACH somebody connected", flush=True)
    except TimeoutError:
        pass
