# SPDX-License-Identifier: Apache-2.0
"""Files in and out where the sandbox has a kernel of its own: the daemon cannot see its workspace, so they cross as messages
(WIRE_PUT and WIRE_FILE in wire.h). What goes out is the code's own to say; the daemon bounds it."""

import os
import stat

# By the names that code uses: gVisor mounts a file system of its own where the image has /tmp as a link.
PLACES = {"work": "/workspace", "tmp": "/tmp"}
OUTPUT = "/tmp/output"
PART_BYTES = 1 << 19  # with a path, less than WIRE_FILE_MAX
known = {}  # what was put in: path -> what tells that it is unchanged


def settle():
    """As places are everywhere."""
    os.makedirs(OUTPUT, exist_ok=True)


def state(st):
    return st.st_ino, st.st_size, st.st_mtime_ns


def copy(source, target):
    while part := os.read(source, PART_BYTES):
        while part:
            part = part[os.write(target, part) :]


def put(path, source):
    """The file behind the descriptor SOURCE, as PATH ("work/data.csv")."""
    place, _, name = path.partition("/")
    file = os.path.join(PLACES[place], name)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    copy(source, target)
    times = os.fstat(source)
    os.utime(target, ns=(times.st_mtime_ns, times.st_mtime_ns))
    known[path] = state(os.fstat(target))
    os.close(target)
    os.close(source)


def send_file(path, file, size, send):
    head = os.fsencode(path) + b"\0"
    while True:
        part = os.read(file, min(PART_BYTES, size))
        send(head + part)
        head, size = b"\0", size - len(part)
        if not part or size <= 0:
            return


def files():
    """Path and descriptor of each file that may be sent. Directories that begin with a dot are caches (docs/results.md)."""
    for place, root in PLACES.items():
        for directory, below, names in os.walk(root):
            below[:] = [name for name in below if not name.startswith(".")]
            for name in sorted(names):
                file = os.path.join(directory, name)
                try:
                    opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
                except OSError:
                    continue
                yield os.path.join(place, os.path.relpath(file, root)), opened
                os.close(opened)


def give_back(send):
    """Sends the regular files that are new or changed, as many as the workspace has room for: holes count as well."""
    info = os.statvfs(PLACES["work"])
    room = info.f_blocks * info.f_frsize
    for path, file in files():
        st = os.fstat(file)
        if stat.S_ISREG(st.st_mode) and known.get(path) != state(st) and st.st_size <= room:
            room -= st.st_size
            send_file(path, file, st.st_size, send)
