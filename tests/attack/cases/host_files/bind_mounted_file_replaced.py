# Must be refused: removing, renaming, replacing, linking and covering a file of the caller that is bind-mounted.
# SPDX-License-Identifier: Apache-2.0
# stopped by: bind
# levels: 3 2
# cannot succeed: the kernel removes and replaces no mount point, and links nothing across mounts
# files: attempt.py
# bind: bound.bin
# not in a container: large files are copied there
import ctypes
import os

import attempt

PATH = "/work/bound.bin"
RENAME_EXCHANGE, AT_SYMLINK_FOLLOW, AT_FDCWD = 2, 0x400, -100

assert os.stat(PATH).st_dev != os.stat("/work").st_dev, "it is not bind-mounted"
with open("/work/own.txt", "w") as file:
    file.write("own")


def exchanged():
    if attempt.libc.renameat2(AT_FDCWD, b"/work/own.txt", AT_FDCWD, PATH.encode(), RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), "renameat2")


attempt.all_refused(
    {
        "unlink": lambda: os.unlink(PATH),
        "rmdir": lambda: os.rmdir(PATH),
        "rename": lambda: os.rename(PATH, "/work/moved.bin"),
        "rename to another place": lambda: os.rename(PATH, "/tmp/moved.bin"),
        "replace": lambda: os.replace("/work/own.txt", PATH),
        "exchange": exchanged,
        "link": lambda: os.link(PATH, "/work/link.bin"),
        "link of its descriptor": lambda: os.link(
            f"/proc/self/fd/{os.open(PATH, os.O_RDONLY)}", "/work/link.bin", follow_symlinks=True
        ),
        "symbolic link in its place": lambda: os.symlink("/work/own.txt", PATH),
        "directory in its place": lambda: os.mkdir(PATH),
    },
    attempt.REFUSALS | {"EBUSY", "EROFS", "EXDEV", "ENOTDIR", "EEXIST"},
)
