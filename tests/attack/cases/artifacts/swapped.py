# Must do no harm: a file and a link to the host that change places without end while results are collected.
# SPDX-License-Identifier: Apache-2.0
# stopped by: links
# levels: 3 2 1
# result: {file["bytes"] for file in result.files} <= {4}
import ctypes, os, time

libc = ctypes.CDLL(None)
with open("plain", "w") as file:
    file.write("mine")
os.symlink(os.environ["BAIT_FILE"], "link")
if os.fork() == 0:
    end = time.monotonic() + 5
    while time.monotonic() < end:
        libc.renameat2(-100, b"plain", -100, b"link", 2)  # RENAME_EXCHANGE
    os._exit(0)
