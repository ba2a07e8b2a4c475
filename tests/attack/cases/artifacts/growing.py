# Must do no harm: a file that grows without end while it is collected.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: without it, how much is read before the limit is looked at is a race
# levels: 3 2 1
# limits: files_bytes=2M
# result: sum(file["bytes"] for file in result.files) <= 2 << 20
import os, time

read, write = os.pipe()
if os.fork() == 0:
    os.write(write, b"x")
    end = time.monotonic() + 5
    with open("growing", "ab", buffering=0) as file:
        while time.monotonic() < end and file.tell() < 100 << 20:
            file.write(bytes(4096))
    os._exit(0)
os.read(read, 1)
