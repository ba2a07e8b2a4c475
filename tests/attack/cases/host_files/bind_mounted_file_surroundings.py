# Must be refused: finding what lies beside a file of the caller that is bind-mounted, where it lies, and what its mount hangs on.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# levels: 3 2
# cannot succeed: the mount is of that one file, and no path leads from it to the directory
# files: attempt.py
# bind: bound.bin
# not in a container: large files are copied there
import os

import attempt

PATH = "/work/bound.bin"
MS_REMOUNT, MS_BIND, MNT_DETACH = 32, 4096, 2
OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH, AT_EMPTY_PATH, AT_FDCWD = 1, 4, 0x1000, -100
HANDLE = 128

assert os.stat(PATH).st_dev != os.stat("/work").st_dev, "it is not bind-mounted"
fd = os.open(PATH, os.O_RDONLY)
where = os.environ["BAIT_BIND"]


def told():
    """Names of the host, in what the kernel tells of mounts and of the descriptor."""
    words = [os.readlink(f"/proc/self/fd/{fd}")] + [line for name in ("mountinfo", "mounts") for line in open(f"/proc/self/{name}")]
    if not any(os.path.dirname(where) in word or os.path.basename(os.path.dirname(where)) in word for word in words):
        raise PermissionError(1, "nothing is told")


def handle():
    room = attempt.block(HANDLE, 0, form="II120x")
    attempt.call("name_to_handle_at", AT_FDCWD, PATH.encode(), room, attempt.room(8), 0)
    return attempt.call("open_by_handle_at", fd, room, os.O_RDWR)


attempt.all_refused(
    {
        "its path on the host": lambda: os.stat(where),
        "its directory on the host": lambda: os.listdir(os.path.dirname(where)),
        "above it": lambda: os.listdir(PATH + "/.."),
        "above its descriptor": lambda: os.open("..", os.O_RDONLY, dir_fd=fd),
        "beside its descriptor": lambda: os.stat("secret", dir_fd=fd),
        "changing to it": lambda: os.chdir(fd),
        "names of the host": told,
        "a handle of it": handle,
        "unmount": lambda: attempt.call("umount2", PATH.encode(), MNT_DETACH),
        "remount for writing": lambda: attempt.call("mount", b"none", PATH.encode(), 0, MS_REMOUNT | MS_BIND, 0),
        "bind": lambda: attempt.call("mount", PATH.encode(), b"/work/attempt.py", 0, MS_BIND, 0),
        "attributes of the mount": lambda: attempt.call(
            "mount_setattr", AT_FDCWD, PATH.encode(), 0, attempt.block(0, 1, 0, 0, form="QQQQ"), 32
        ),
        "clone of the mount": lambda: attempt.call("open_tree", AT_FDCWD, PATH.encode(), OPEN_TREE_CLONE),
        "move of the mount": lambda: attempt.call(
            "move_mount", fd, b"", AT_FDCWD, b"/work/attempt.py", MOVE_MOUNT_F_EMPTY_PATH
        ),
        "file system of the mount": lambda: attempt.call("fspick", AT_FDCWD, PATH.encode(), 0),
    },
    attempt.REFUSALS | {"ENOENT", "ENOTDIR"},
)
