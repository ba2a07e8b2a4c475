# SPDX-License-Identifier: Apache-2.0
"""For the cases: tables of attempts, each made in a process of its own, and system calls by name.

An attempt is a function that returns when it succeeded and raises OSError when not. all_refused() prints "refused NAME ERRNO"
for each that was met by an error that means no, and BREACH for all others: EFAULT or EINVAL says that the kernel took it up."""
import ctypes
import errno
import os
import platform
import signal
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

COLUMN = {"x86_64": 0, "aarch64": 1}[platform.machine()]
REFUSALS = {"EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "SIGSYS"}

CALLS = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "capget": (125, 90),
    "capset": (126, 91),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setattr": (314, 274),
    "sched_setscheduler": (144, 119),
    "seccomp": (317, 277),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "setns": (308, 268),
    "setresuid": (117, 147),
    "settimeofday": (164, 170),
    "setuid": (105, 146),
    "socket": (41, 198),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}


def is_there(name):
    """Whether this architecture has the call at all."""
    return CALLS[name][COLUMN] is not None


def raw(number, *arguments):
    ctypes.set_errno(0)
    given = [
        argument if isinstance(argument, (bytes, ctypes.Array)) else ctypes.c_long(argument) for argument in arguments
    ]
    me = os.getpid()
    back = libc.syscall(ctypes.c_long(number), *given)
    if os.getpid() != me:
        os._exit(0)  # a child that should not have come to be; its parent tells of it
    if back == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return back


def call(name, *arguments):
    return raw(CALLS[name][COLUMN], *arguments)


def block(*fields, form):
    """A structure for the kernel."""
    return ctypes.create_string_buffer(struct.pack(form, *fields))


def room(size=4096):
    return ctypes.create_string_buffer(size)


def tried(function):
    """What FUNCTION came to, in a child: an errno's name, a signal's name, or "done" and what it returned."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            told = f"done: {function()}"
        except OSError as error:
            told = errno.errorcode.get(error.errno, str(error.errno))
        except BaseException as error:  # what it is, stands in the output
            told = repr(error)
        os.write(writer, told.encode()[:4000])
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 4096).decode()
    os.close(reader)
    status = os.waitpid(pid, 0)[1]
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else told


def all_refused(attempts, refusals=frozenset(REFUSALS)):
    """ATTEMPTS: name -> function. Prints what becomes of each, and "held" when all were refused."""
    held = True
    for name, function in attempts.items():
        told = tried(function)
        if told in refusals:
            print("refused", name, told)
        else:
            print("BREACH", name, told)
            held = False
    if held:
        print("held")
