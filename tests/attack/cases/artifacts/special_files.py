# Must do no harm: pipes and sockets instead of files, which would block a process that opens them.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: they are opened without waiting, and only regular files are read
# levels: 3 2 1
# result: [file["name"] for file in result.files] == ["plain"] and result.warnings
import os, socket

os.mkfifo("pipe")
os.mkdir("sub")
os.mkfifo("sub/pipe")
try:
    socket.socket(socket.AF_UNIX).bind("socket")
except OSError:
    pass
with open("plain", "w") as file:
    file.write("mine")
