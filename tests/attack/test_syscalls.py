# SPDX-License-Identifier: Apache-2.0
"""Calls that lead out of a sandbox, or into corners of the kernel where no analysis has business.

Each is made raw, with arguments under which it would do something. It must be refused: by an errno that means refusal
(and not by EFAULT or EINVAL, which would mean that the kernel took it up), or by the death of the caller."""
import platform

import pytest

from harness import quick

MACHINE = platform.machine()
COLUMN = {"x86_64": 0, "aarch64": 1}.get(MACHINE)
pytestmark = pytest.mark.skipif(COLUMN is None, reason=f"no table of system calls for {MACHINE}")

REFUSALS = {"EPERM", "EACCES", "ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "SIGSYS"}

# name: (x86-64, aarch64, arguments as Python expressions)
CALLS = {
    "ptrace": (101, 117, "0, 0, 0, 0"),
    "ptrace attach": (101, 117, "16, os.getppid(), 0, 0"),
    "process_vm_readv": (310, 270, "os.getppid(), vec, 1, vec, 1, 0"),
    "process_vm_writev": (311, 271, "os.getppid(), vec, 1, vec, 1, 0"),
    "kcmp": (312, 272, "os.getpid(), os.getppid(), 0, 1, 1"),
    "pidfd_getfd": (438, 438, "0, 0, 0"),
    "process_madvise": (440, 440, "0, vec, 1, 4, 0"),
    "mount": (165, 40, "b'none', b'/tmp', b'tmpfs', 0, 0"),
    "bind mount": (165, 40, "b'/', b'/tmp', 0, 4096, 0"),
    "umount2": (166, 39, "b'/proc', 2"),
    "umount of the workspace": (166, 39, "b'/work', 2"),
    "pivot_root": (155, 41, "b'/work', b'/work'"),
    "chroot": (161, 51, "b'/work'"),
    "open_tree": (428, 428, "-100, b'/', 1"),
    "move_mount": (429, 429, "-100, b'/work', -100, b'/tmp', 0"),
    "fsopen": (430, 430, "b'tmpfs', 0"),
    "fspick": (433, 433, "-100, b'/', 0"),
    "fsmount": (432, 432, "0, 0, 0"),
    "mount_setattr": (442, 442, "-100, b'/', 0, vec, 32"),
    "unshare user": (272, 97, "0x10000000"),
    "unshare mount": (272, 97, "0x00020000"),
    "unshare pid": (272, 97, "0x20000000"),
    "unshare net": (272, 97, "0x40000000"),
    "unshare time": (272, 97, "0x00000080"),
    "setns": (308, 268, "os.open('/proc/self/ns/user', 0), 0"),
    "clone3": (435, 435, "clone_args(0x10000000), 88"),
    "clone3 that looks harmless": (435, 435, "clone_args(0), 88"),
    "clone user": (56, 220, "0x10000000 | 17, 0, 0, 0, 0"),
    "clone mount": (56, 220, "0x00020000 | 17, 0, 0, 0, 0"),
    "userfaultfd": (323, 282, "1"),
    "bpf": (321, 280, "0, vec, 48"),
    "perf_event_open": (298, 241, "vec, 0, -1, -1, 0"),
    "io_uring_setup": (425, 425, "4, vec"),
    "io_uring_enter": (426, 426, "0, 0, 0, 0, 0, 0"),
    "io_uring_register": (427, 427, "0, 0, 0, 0"),
    "keyctl": (250, 219, "0, -3, 1, 0, 0"),
    "add_key": (248, 217, "b'user', b'x', b'y', 1, -3"),
    "request_key": (249, 218, "b'user', b'x', 0, -3"),
    "fanotify_init": (300, 262, "0, 0"),
    "open_by_handle_at": (304, 265, "-100, vec, 0"),
    "name_to_handle_at": (303, 264, "-100, b'/', vec, vec, 0"),
    "init_module": (175, 105, "vec, 1, b''"),
    "finit_module": (313, 273, "0, b'', 0"),
    "delete_module": (176, 106, "b'x', 0"),
    "kexec_load": (246, 104, "0, 0, 0, 0"),
    "kexec_file_load": (320, 294, "0, 0, 0, 0, 0"),
    "reboot": (169, 142, "0xfee1dead, 672274793, 0, 0"),
    "swapon": (167, 224, "b'/x', 0"),
    "swapoff": (168, 225, "b'/x'"),
    "acct": (163, 89, "0"),
    "quotactl": (179, 60, "0, 0, 0, 0"),
    "syslog": (103, 116, "3, vec, 8"),
    "sethostname": (170, 161, "b'x', 1"),
    "setdomainname": (171, 162, "b'x', 1"),
    "settimeofday": (164, 170, "vec, 0"),
    "clock_settime": (227, 112, "0, vec"),
    "adjtimex": (159, 171, "vec"),
    "clock_adjtime": (305, 266, "0, vec"),
    "setuid to root": (105, 146, "0"),
    "setgid to root": (106, 144, "0"),
    "setgroups": (116, 159, "0, 0"),
    "capset": (126, 91, "caps_header, vec"),
    "personality": (135, 92, "0x0400000"),
    "personality of another ABI": (135, 92, "8"),
    "lookup_dcookie": (212, 18, "0, vec, 8"),
    "memfd_secret": (447, 447, "0"),
    "move_pages": (279, 239, "os.getppid(), 0, 0, 0, 0, 0"),
    "migrate_pages": (256, 238, "os.getppid(), 0, 0, 0"),
    "vhangup": (153, 58, ""),
    "nfsservctl": (180, 42, "0, 0, 0"),
    "listmount": (458, 458, "vec, vec, 8, 0"),
    "statmount": (457, 457, "vec, vec, 8, 0"),
    "a call that does not exist yet": (900, 900, "0, 0, 0"),
    "iopl": (172, None, "3"),
    "ioperm": (173, None, "0, 8, 1"),
    "modify_ldt": (154, None, "0, vec, 8"),
    "uselib": (134, None, "b'/lib'"),
    "sysfs": (139, None, "1, b'proc'"),
}

PRELUDE = """
import ctypes, errno, json, mmap, os, signal, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
vec = ctypes.addressof(buffer)
caps_header = ctypes.create_string_buffer(struct.pack("=Ii", 0x20080522, 0))

def clone_args(flags):
    return ctypes.create_string_buffer(struct.pack("=QQQQQQQQQQQ", flags, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))

def raw(number, *arguments):
    given = [argument if isinstance(argument, (bytes, ctypes.Array)) else ctypes.c_long(argument) for argument in arguments]
    ctypes.set_errno(0)
    me = os.getpid()
    libc.syscall.restype = ctypes.c_long
    back = libc.syscall(ctypes.c_long(number), *given)
    if os.getpid() != me:
        os._exit(77)  # a child that should not have come to be
    return back, errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno()))

def attempt(function):
    "What FUNCTION comes to, tried in a child: an errno's name, a signal's name, or what it returned."
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            back, code = function()
            os.write(writer, (code if back == -1 else f"returned {back}").encode())
        except BaseException as error:
            os.write(writer, repr(error).encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 4096).decode()
    status = os.waitpid(pid, 0)[1]
    os.close(reader)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else told
"""


def attempted(adder, expression):
    result = adder.run(PRELUDE + f"print(attempt(lambda: {expression}))")
    assert result.outcome == "ok"
    return result.stdout.strip()


@pytest.mark.parametrize(
    "name", quick(CALLS, "ptrace", "mount", "unshare user", "clone3", "bpf", "io_uring_setup")
)
def test_call_is_refused(adder, name):
    number = CALLS[name][COLUMN]
    if number is None:
        pytest.skip(f"{MACHINE} has no such call")
    assert attempted(adder, f"raw({number}, {CALLS[name][2]})") in REFUSALS


FAMILIES = {
    "AF_INET": "2, 1, 0",
    "AF_INET datagrams": "2, 2, 0",
    "AF_INET raw": "2, 3, 1",
    "AF_INET6": "10, 1, 0",
    "AF_NETLINK": "16, 3, 0",
    "AF_PACKET": "17, 3, 0",
    "AF_VSOCK": "40, 1, 0",
    "AF_ALG": "38, 5, 0",
    "AF_BLUETOOTH": "31, 3, 0",
    "AF_CAN": "29, 3, 1",
    "AF_RDS": "21, 5, 0",
    "AF_TIPC": "30, 1, 0",
    "AF_KCM": "41, 2, 0",
    "AF_QIPCRTR": "42, 2, 0",
    "AF_XDP": "44, 3, 0",
    "AF_SMC": "43, 1, 0",
    "AF_AX25": "3, 5, 0",
    "AF_PPPOX": "24, 1, 0",
    "AF_KEY": "15, 3, 2",
    "AF_NFC": "39, 1, 0",
    "AF_PHONET": "35, 2, 0",
    "AF_IEEE802154": "36, 3, 0",
    "AF_LLC": "26, 1, 0",
}


@pytest.mark.parametrize("name", FAMILIES)
def test_socket_is_refused(adder, name):
    number = (41, 198)[COLUMN]
    assert attempted(adder, f"raw({number}, {FAMILIES[name]})") in REFUSALS


def test_socket_family_with_upper_bits(adder):
    """The kernel looks at the lower half of the register only."""
    number = (41, 198)[COLUMN]
    assert attempted(adder, f"raw({number}, (1 << 32) | 2, 1, 0)") in REFUSALS


def test_pidfd_of_the_parent(adder):
    """It may be had, but not for stealing descriptors or signalling what is outside."""
    result = adder.run(
        PRELUDE
        + """
fd = raw(434, os.getppid() or 1, 0)[0]
print("none" if fd < 0 else raw(438, fd, 0, 0)[1])
"""
    )
    assert result.outcome == "ok" and result.stdout.strip() in REFUSALS | {"none"}


TERMINAL = {"TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSETD": 0x5423}


@pytest.mark.parametrize("name", TERMINAL)
@pytest.mark.parametrize("upper", [0, 1 << 32], ids=["plain", "with upper bits"])
def test_terminal_call_is_refused(adder, name, upper):
    """There is no terminal, and the filter does not count on it: not ENOTTY, but a refusal."""
    number = (16, 29)[COLUMN]
    assert attempted(adder, f"raw({number}, 1, {TERMINAL[name] | upper}, vec)") in REFUSALS


def test_no_terminal(adder):
    result = adder.run(
        "import os\n"
        "for path in ('/dev/tty', '/dev/ptmx', '/dev/pts/0', '/dev/console'):\n"
        "    try: os.open(path, os.O_RDWR); print('open', path)\n"
        "    except OSError: pass\nprint([os.isatty(n) for n in range(3)])"
    )
    assert result.stdout == "[False, False, False]\n"


PRCTL = {
    "PR_SET_PTRACER": "0x59616d61, -1, 0, 0, 0",
    "PR_SET_MM": "35, 1, 4096, 0, 0",
    "PR_SET_SECCOMP strict": "22, 1, 0, 0, 0",
    "PR_CAP_AMBIENT raise": "47, 2, 21, 0, 0",
    "PR_SET_CHILD_SUBREAPER": "36, 1, 0, 0, 0",
    "PR_SET_SECUREBITS": "28, 0, 0, 0, 0",
}


@pytest.mark.parametrize("name", PRCTL)
def test_prctl(adder, name):
    """What it might still allow must not weaken anything: checked by what it leaves."""
    result = adder.run(
        PRELUDE
        + f"""
def tried():
    raw({(157, 167)[COLUMN]}, {PRCTL[name]})
    status = open("/proc/self/status").read()
    kept = "NoNewPrivs:\\t1" in status and "Seccomp:\\t2" in status and "CapEff:\\t0000000000000000" in status
    return (-1, "kept") if kept else (0, "")
print(attempt(tried))
"""
    )
    assert result.outcome == "ok" and result.stdout.strip() in ("kept", "SIGKILL", "SIGSYS")


def test_tracing_of_an_own_child_that_asked_for_it(adder):
    number = (101, 117)[COLUMN]
    result = adder.run(
        PRELUDE
        + f"""
pid = os.fork()
if pid == 0:
    libc.prctl(4, 1, 0, 0, 0)
    libc.prctl(0x59616d61, -1, 0, 0, 0)
    signal.pause()
print(attempt(lambda: raw({number}, 0x4206, pid, 0, 0)))
os.kill(pid, 9)
"""
    )
    assert result.outcome == "ok" and result.stdout.strip() in REFUSALS


# ---- other ways into the kernel ----


@pytest.mark.skipif(MACHINE != "x86_64", reason="x86-64 only")
@pytest.mark.parametrize("number", [39, 57, 101, 165, 520])
def test_x32_calls(adder, number):
    assert attempted(adder, f"raw({number} | 0x40000000, 0, 0, 0)") in REFUSALS


MACHINE_CODE = """
def run_code(code):
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    back = function()
    return (-1, errno.errorcode.get(-back, str(back))) if -4096 < back < 0 else (back, "")
"""


@pytest.mark.skipif(MACHINE != "x86_64", reason="x86-64 only")
@pytest.mark.parametrize(
    "number, name", [(20, "getpid"), (11, "execve"), (102, "socketcall"), (26, "ptrace"), (21, "mount")]
)
def test_calls_of_the_32_bit_gate(adder, number, name):
    """mov eax, NUMBER; xor ebx, ebx; xor ecx, ecx; xor edx, edx; int 0x80; ret, below other registers kept."""
    code = b"\x53\xb8" + number.to_bytes(4, "little") + b"\x31\xdb\x31\xc9\x31\xd2\xcd\x80\x5b\xc3"
    result = adder.run(PRELUDE + MACHINE_CODE + f"print(attempt(lambda: run_code({code!r})))")
    assert result.outcome == "ok"
    assert result.stdout.strip() in REFUSALS | {
        "SIGSEGV",
        "SIGKILL",
        "PermissionError(13, 'Permission denied')",
    }


@pytest.mark.skipif(MACHINE != "x86_64", reason="x86-64 only")
def test_machine_code_does_run(adder):
    """So that the test above means something: mov eax, 39 (getpid); syscall; ret."""
    result = adder.run(
        PRELUDE + MACHINE_CODE + "me = None\n"
        "print(attempt(lambda: run_code(b'\\xb8\\x27\\0\\0\\0\\x0f\\x05\\xc3')))"
    )
    assert result.stdout.startswith(("returned", "PermissionError"))


def test_program_in_memory(adder):
    """A file without a name may be executed or not; the one that is gets no more rights."""
    result = adder.run(
        PRELUDE
        + """
fd = os.memfd_create("x")
os.write(fd, open("/bin/sh", "rb").read())
pid = os.fork()
if pid == 0:
    try: os.execve(fd, ["sh", "-c", "grep -E '^(NoNewPrivs|Seccomp|CapEff):' /proc/self/status"], {})
    except OSError as error: os._exit(error.errno)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    )
    assert result.outcome in ("ok", "error")
    if "NoNewPrivs" in result.stdout:
        assert (
            "NoNewPrivs:\t1" in result.stdout
            and "Seccomp:\t2" in result.stdout
            and "CapEff:\t0000000000000000" in result.stdout
        )


def test_set_user_id_programs(adder):
    result = adder.run(
        """
import glob, os, stat, subprocess
odd = [path for folder in ("/usr/bin", "/usr/sbin", "/bin", "/usr/libexec") for path in glob.glob(folder + "/*")
       if os.path.isfile(path) and os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID)]
print(len(odd))
for path in odd:
    if path.endswith(("/su", "/mount", "/passwd")):
        print(subprocess.run([path, "--help"], capture_output=True).returncode)
print(open("/proc/self/status").read())
"""
    )
    assert result.outcome == "ok" and "NoNewPrivs:\t1" in result.stdout


def test_exec_keeps_the_filter(adder):
    result = adder.run(
        "import subprocess\n"
        "print(subprocess.run(['sh', '-c', 'cat /proc/self/status'], capture_output=True, text=True).stdout)"
    )
    for line in ("NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"):
        assert line in result.stdout


def test_own_filter_may_only_tighten(adder):
    """A program may add a filter of its own; it must not be able to listen in the kernel's name (user notification)."""
    result = adder.run(
        PRELUDE
        + f"""
program = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, 0x7FFF0000))
prog = ctypes.create_string_buffer(struct.pack("=H6xQ", 1, ctypes.addressof(program)))
print(attempt(lambda: raw({(317, 277)[COLUMN]}, 1, 8, prog)))
"""
    )
    assert result.outcome == "ok" and result.stdout.strip() in REFUSALS
