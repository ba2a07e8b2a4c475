# Must be refused: learning from a lock on a shared file which process of another sandbox holds it.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid
# levels: 3 2
import fcntl, os, struct

with open(os.path.realpath("/usr/bin/env"), "rb") as file:
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asked))
print(f"BREACH: process {pid}" if kind != fcntl.F_UNLCK and pid > 0 else "held")
