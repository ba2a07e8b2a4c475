# Must be refused: changing a file of the caller that is bind-mounted through a descriptor for reading, and locking it for others.
# SPDX-License-Identifier: Apache-2.0
# stopped by: bind
# levels: 3 2
# cannot succeed: who can only read a file changes it by none of these anywhere
# files: attempt.py
# bind: bound.bin
# not in a container: large files are copied there
import ctypes
import fcntl
import mmap
import os

import attempt

PATH = "/work/bound.bin"
FICLONE, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY = 0x40049409, 0x40086602, 0x401C5820, 0x40806685

assert os.stat(PATH).st_dev != os.stat("/work").st_dev, "it is not bind-mounted"
fd = os.open(PATH, os.O_RDONLY)
own = os.open("/work/own.txt", os.O_RDWR | os.O_CREAT)
os.write(own, b"changed!" * 512)
os.lseek(own, 0, os.SEEK_SET)


def protected():
    """A mapping for reading that is made one for writing."""
    memory = mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
    (address,) = (int(line.split("-")[0], 16) for line in open("/proc/self/maps") if line.rstrip().endswith("bound.bin"))
    failed = attempt.libc.mprotect(ctypes.c_void_p(address), 4096, mmap.PROT_READ | mmap.PROT_WRITE)
    memory.close()
    if failed:
        raise OSError(ctypes.get_errno(), "mprotect")


attempt.all_refused(
    {
        "write": lambda: os.write(fd, b"changed"),
        "pwrite": lambda: os.pwrite(fd, b"changed", 0),
        "sendfile": lambda: os.sendfile(fd, own, 0, 7),
        "copy_file_range": lambda: os.copy_file_range(own, fd, 7),
        "fallocate": lambda: os.posix_fallocate(fd, 0, 32 << 20),
        "mapping": lambda: mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE),
        "mapping made writable": protected,
        "clone of another file": lambda: fcntl.ioctl(fd, FICLONE, own),
        "flags": lambda: fcntl.ioctl(fd, FS_IOC_SETFLAGS, (16).to_bytes(8, "little")),
        "extended flags": lambda: fcntl.ioctl(fd, FS_IOC_FSSETXATTR, bytes(28)),
        "verity": lambda: fcntl.ioctl(fd, FS_IOC_ENABLE_VERITY, bytes(128)),
        "lock for writing": lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
        "lease": lambda: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    },
    attempt.REFUSALS | {"EROFS", "EBADF", "EXDEV", "EOPNOTSUPP"},
)
