# Must be refused: shedding filters and rights' absence by executing a program that has no name.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# levels: 3
import os

program = os.memfd_create("attack")
os.write(program, open("/bin/sh", "rb").read())
reader, writer = os.pipe()
if os.fork() == 0:
    os.dup2(writer, 1)
    os.execve(program, ["sh", "-c", "while read -r line; do echo $line; done </proc/self/status"], {})
os.close(writer)
status = b""
while part := os.read(reader, 4096):
    status += part
os.wait()
kept = {b"NoNewPrivs: 1", b"Seccomp: 2", b"CapEff: 0000000000000000", b"CapBnd: 0000000000000000"}
lost = kept - set(status.splitlines())
print(f"BREACH {lost}" if lost else "held")
