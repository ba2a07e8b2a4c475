# Must be refused: writing to a file of the caller that is bind-mounted, opening it anew for that, and changing its mode, times and attributes.
# SPDX-License-Identifier: Apache-2.0
# stopped by: bind
# levels: 3 2
# files: attempt.py
# bind: bound.bin
# not in a container: large files are copied there
import mmap
import os

import attempt

PATH = "/work/bound.bin"

assert os.stat(PATH).st_dev != os.stat("/work").st_dev, "it is not bind-mounted"
with open(PATH) as file:
    assert file.read(32) == os.environ["BAIT_WORD"]
fd, opaque, inside = os.open(PATH, os.O_RDONLY), os.open(PATH, os.O_PATH), os.open("/work", os.O_PATH)


def again(path, flags, **others):
    return lambda: os.write(os.open(path, flags, **others), b"changed")


def mapped():
    with mmap.mmap(os.open(PATH, os.O_RDWR), 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as memory:
        memory[:7] = b"changed"


attempt.all_refused(
    {
        "write": again(PATH, os.O_WRONLY),
        "append": again(PATH, os.O_WRONLY | os.O_APPEND),
        "truncating open": again(PATH, os.O_RDWR | os.O_TRUNC),
        "through a descriptor for reading": again(f"/proc/self/fd/{fd}", os.O_RDWR),
        "through the descriptors of a thread": again(f"/proc/thread-self/fd/{fd}", os.O_WRONLY),
        "through a descriptor for nothing": again(f"/proc/self/fd/{opaque}", os.O_RDWR),
        "beneath a descriptor of the directory": again("bound.bin", os.O_RDWR, dir_fd=inside),
        "mapping": mapped,
        "truncate": lambda: os.truncate(PATH, 0),
        "truncate through its descriptor": lambda: os.truncate(f"/proc/self/fd/{fd}", 0),
        "chmod": lambda: os.chmod(PATH, 0o777),
        "fchmod": lambda: os.chmod(fd, 0o777),
        "chmod through its descriptor": lambda: os.chmod(f"/proc/self/fd/{fd}", 0o777),
        "chown": lambda: os.chown(PATH, os.getuid(), os.getgid()),
        "utime": lambda: os.utime(PATH),
        "futimens": lambda: os.utime(fd, (0, 0)),
        "setxattr": lambda: os.setxattr(PATH, "user.attack", b"x"),
        "fsetxattr": lambda: os.setxattr(fd, "user.attack", b"x"),
    },
    {"EROFS"},
)
