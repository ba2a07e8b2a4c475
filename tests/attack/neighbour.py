# SPDX-License-Identifier: Apache-2.0
# One of the hundred: it watches over memory, a file, a process and a socket of its own. A line "well" each second, or a line
# that begins with BREACH.
import os
import secrets
import signal
import socket
import sys
import time

word = secrets.token_bytes(64)
memory = bytearray(word * 256)
with open("mine", "wb") as file:
    file.write(word)
child = os.fork()
if child == 0:
    signal.pause()
    os._exit(1)
listener = None
try:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0adder-neighbour")
    listener.listen()
    listener.setblocking(False)
except OSError:
    listener = None  # there are no sockets at this level, or another has the name: then that one listens


def breaches():
    if memory != word * 256:
        yield "memory is not what it was"
    if open("mine", "rb").read() != word or os.listdir(".") != ["mine"]:
        yield "files are not what they were"
    if os.waitpid(child, os.WNOHANG | os.WUNTRACED) != (0, 0):
        yield "the child is not alive"
    if listener:
        try:
            listener.accept()
            yield "a stranger connected"
        except OSError:
            pass


while True:
    found = list(breaches())
    print(*[f"BREACH {what}" for what in found] or ["well"], sep="\n", flush=True)
    if found:
        sys.exit()
    time.sleep(1)
