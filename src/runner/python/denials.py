# SPDX-License-Identifier: Apache-2.0
"""What the sandbox refused, told so that a model can act on it: {"kind": ..., "detail": ...}, and the names of limits.

Two sources. Audit events announce an operation before it happens, also where the code catches the exception that follows.
What is noted then must be certain to fail, and to fail because of the sandbox: so the same is tried without effect (a socket
of that family, a nameless file in that directory), and a missing file counts only where the sandbox hides the host's files.
And the exception that ended the run, whose errno tells of limits and of system calls.

Whose attempt it was decides whether it counts. Libraries probe: they look for configuration in /etc, for processors in /sys,
for an IPv6 socket while they are imported, and go on without. A model that reads of these would chase what is no problem. So
- what is done while a module is imported, and not by the user's own file, never counts;
- network: counts from anywhere else, for no library opens a connection that nobody asked for;
- files: what the user's own code opens, itself or through Python's file tools, counts wherever it lies; what a library opens
  counts outside of the system's directories alone. pandas reads /home/me/data.csv only if it was told to.
"""

import contextlib
import errno
import linecache
import os
import stat
import sys
import threading

import _socket
import _thread

from adder_runner import hints, places, tracebacks

MOST, LENGTH = 16, 200

# Names of the C library that seccomp refuses; looking one up means that a call is next.
CALLS = frozenset(
    "acct adjtimex bpf chroot clock_settime delete_module fanotify_init init_module ioperm iopl kexec_load keyctl mount"
    " open_by_handle_at perf_event_open pivot_root process_vm_readv process_vm_writev ptrace quotactl reboot setdomainname"
    " setgid setgroups sethostname setns setresgid setresuid settimeofday setuid swapoff swapon umount umount2 unshare"
    " userfaultfd vhangup".split()
)
# What stands in these was not put there by the user.
SYSTEM = frozenset("adder bin boot dev etc lib lib32 lib64 libx32 opt proc run sbin sys usr var".split())
# Bound whole from the host: what is missing there is missing there as well. Elsewhere it may be hidden.
WHOLE = tuple({path + "/" for path in ("/bin", "/sbin", "/lib", "/lib64", "/usr", sys.prefix, sys.base_prefix)})
# Modules that open only what they are asked to.
FILE_TOOLS = frozenset(
    "bz2 codecs ctypes fileinput genericpath glob gzip io linecache lzma os pathlib posixpath runpy shutil sqlite3 subprocess"
    " tarfile tempfile tokenize zipfile".split()
)
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
NO_NETWORK = (errno.EAFNOSUPPORT, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL)
NETWORK_ERRORS = ("gaierror", "herror", "URLError", "NewConnectionError", "ConnectTimeout", "ConnectError")
LIMITS = {errno.EFBIG: "file_bytes", errno.EMFILE: "open_files"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

noted = []
met = set()
main = {"name": None, "work": None, "own": (), "network": None}
addresses = {}  # what a thread resolved last, of numbers and local names: the socket that follows is refused


def kernel_limits(threads):
    """The names of limits that were met, caught or not, or None; the zygote puts the extension's in its place. THREADS: how many
    there are beside the first."""


def start(name):
    """From here on it is the code of file NAME in the workspace that is watched, and nothing is noted yet."""
    # The zygote has said so already, for most: what is not written to stays shared, and a page costs microseconds.
    if noted or met or addresses or main["name"] != name or main["work"] != places.work:
        main.update(name=name, work=places.work, own=(places.work + "/", places.temporary + "/", "/dev/shm/", *places.parts))
        for left in (noted, met, addresses):
            left.clear()


def connect_by(network):
    """NETWORK is what the profile gives: "allow" (a proxy, and no way around it), "full" or None."""
    main["network"] = hints.connected["by"] = network


def note(kind, detail):
    entry = {"kind": kind, "detail": tracebacks.clean(detail)[:LENGTH]}
    if len(noted) < MOST and entry not in noted:
        noted.append(entry)


def look_at_limits():
    """To be called before the code's files are closed, for it is they that fill what is full."""
    try:
        names = kernel_limits(_thread._count())
        if names is not None:
            met.update(names)
    except Exception:  # whatever the code left of the interpreter, there will be a result
        pass


def is_full(path):
    try:
        return os.statvfs(path).f_bfree == 0
    except OSError:
        return False


def collect():
    """What the result message says of denials."""
    return {"denials": noted, "limits_met": sorted(met) if met else []}


# ---- audit events ----


def audit(event, arguments):
    """Notes EVENT, which is about to happen, where it is certain to be refused."""
    known = EVENTS.get(event)
    if known is None:
        return
    try:
        known(*arguments)
    except (OSError, ValueError, TypeError):
        pass  # arguments that the operation will not like any better


USER, LIBRARY, IMPORT = "user", "library", "import"


def caller():
    """Who does what is being announced."""
    frame, found = sys._getframe(), USER
    while frame is not None:
        file = frame.f_code.co_filename
        if tracebacks.is_user_file(file, main["name"]):
            return found
        if file.startswith("<frozen importlib"):
            return IMPORT
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module not in FILE_TOOLS and not file.startswith(tracebacks.RUNNER):
            found = LIBRARY
        frame = frame.f_back
    return LIBRARY


def on_call(library, name):
    if name in CALLS and calls_are_filtered() and caller() == USER:
        note("call", name)


def calls_are_filtered():
    with open("/proc/self/status") as status:
        return any(line.split() == ["Seccomp:", "2"] for line in status)


# ---- network ----


def is_refused(family, kind=_socket.SOCK_STREAM, protocol=0):
    """Whether no such socket can be had. A namespace without a way out refuses later, but then the filter comes first."""
    try:
        _socket.socket(family, kind, protocol).close()
        return False
    except OSError as error:
        return error.errno in (*REFUSED, *NO_NETWORK)


def on_socket(socket, family, kind, protocol):
    frame = sys._getframe(2)
    if frame.f_code.co_name == "__init__" and frame.f_locals.get("fileno") is not None:
        return  # around a descriptor that is there already
    address = addresses.pop(threading.get_ident(), None)
    if is_refused(family, kind, protocol) and caller() != IMPORT:
        note("network", f"connect {address}" if address else f"socket {family_name(family)}")


def family_name(family):
    return next((name for name in ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET") if getattr(_socket, name, None) == family), str(int(family)))


def leads_nowhere():
    """No name can be looked up, be it that there are no sockets for it or nobody to ask."""
    return main["network"] == "allow" or is_refused(_socket.AF_INET)


def on_resolve(host, port=None, *options):
    if isinstance(host, (bytes, bytearray)):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or not host or not leads_nowhere() or caller() == IMPORT:
        return
    if isinstance(port, bytes):
        port = port.decode("ascii", "replace")
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if is_numeric(host) or is_local(host):
        if port and main["network"] is None:
            addresses[threading.get_ident()] = address
    else:
        note("network", f"connect {address}" if port else f"resolve {host}")


def is_local(host):
    return host in ("localhost", "127.0.0.1", "::1", _socket.gethostname())


def is_numeric(host):
    for family in (_socket.AF_INET, _socket.AF_INET6):
        try:
            _socket.inet_pton(family, host.partition("%")[0])
            return True
        except OSError:
            pass
    return False


def on_reverse(address):
    """A name will do as well, and that of this host is asked for by socket.getfqdn()."""
    if not is_local(address) and leads_nowhere() and caller() != IMPORT:
        note("network", f"resolve {address}")


def on_connect(socket, address):
    """A local socket, for the host's are not to be seen; or one that leads past the proxy, and so nowhere."""
    if isinstance(address, tuple) and main["network"] == "allow":
        host, port = str(address[0]), address[1]
        if not (is_local(host) or host.startswith("127.") or host in ("", "0.0.0.0", "::")) and caller() != IMPORT:
            note("network", f"connect [{host}]:{port}" if ":" in host else f"connect {host}:{port}")
    if isinstance(address, str) and address.startswith("/") and is_hidden(address) and caller() != IMPORT:
        note("network", f"connect {address}")


def on_host_name(name):
    note("call", "sethostname")


# ---- files ----


def plain(path):
    return os.path.normpath(os.fsdecode(path))


def is_own(path):
    return (path + "/").startswith(main["own"])


def is_hidden(path):
    """PATH is missing, and it is the sandbox that lacks it: a missing file of the run's own is the run's own matter."""
    if is_own(path) or may_read(path):
        return False
    return os.path.lexists(path) or not path.startswith(WHOLE)


def may_read(path):
    """Landlock, which stands alone where the sandbox has no mounts of its own, does not answer access(). Only what nobody
    could notice is opened for the trial."""
    if not os.access(path, os.R_OK):
        return False
    if main["work"] == "/work" or not stat.S_IFMT(os.stat(path).st_mode) in (stat.S_IFREG, stat.S_IFDIR):
        return True
    return may_open(path, os.O_RDONLY)


def counts(path):
    who = caller()
    return who == USER or (who == LIBRARY and not is_system(path))


def is_system(path):
    return path.split("/", 2)[1] in SYSTEM or path.startswith(WHOLE)


def may_make(path):
    """Whether a file could be made where PATH lies, or in the nearest directory above it that exists."""
    directory = os.path.dirname(path)
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    return may_open(directory, os.O_TMPFILE | os.O_WRONLY)


def may_open(path, flags):
    try:
        os.close(os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK))
        return True
    except OSError as error:
        return error.errno not in REFUSED


def may_write(path):
    """Whether PATH could be opened for writing. Only what is a plain file is opened for the trial."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return may_make(path)
    return os.access(path, os.W_OK) and (not stat.S_ISREG(mode) or may_open(path, os.O_WRONLY))


def on_open(path, mode=None, flags=0, *rest):
    path = plain(path)
    if not flags & WRITING:
        on_read(path)
    elif not is_own(path) and not may_write(path) and counts(path):
        note("write", f"write {path}")


def on_read(path, *rest):
    path = plain(path)
    if is_hidden(path) and counts(path):
        note("file", f"read {path}")


def on_execute(path, *rest):
    path = plain(path)
    if path.startswith("/") and is_hidden(path) and counts(path):
        note("file", f"execute {path}")


def on_command(path, arguments=None, *rest):
    """PATH is a program with ARGUMENTS, or a command line."""
    if arguments is None:
        look_for_installer(path)
        return
    on_execute(path)
    look_for_installer(arguments)


def look_for_installer(command):
    """Without a network a package that is not there stays away, whatever installs it."""
    if main["network"] is not None:
        return
    words = [command] if isinstance(command, (str, bytes)) else command
    text = " ".join(os.fsdecode(word) for word in words)
    if "install" in text or " add " in text:
        from adder_runner import installs  # few runs need it

        missing = installs.missing(text)
        if missing:
            note("install", missing)


def on_truncate(path, *rest):
    on_open(path, None, os.O_WRONLY)


def on_make(path, *rest):
    path = plain(path)
    if path.startswith("/") and not is_own(path) and not os.path.lexists(path) and not may_make(path) and counts(path):
        note("write", f"write {path}")


def on_change(path, *rest):
    """What is there is removed, moved or given other attributes."""
    path = plain(path)
    if path.startswith("/") and not is_own(path) and os.path.lexists(path) and not may_make(path) and counts(path):
        note("write", f"write {path}")


def on_rename(source, target, *rest):
    on_change(source)
    on_make(target)


def on_link(source, target, *rest):
    on_make(target)


EVENTS = {
    "open": on_open,
    "os.chdir": on_read,
    "os.chmod": on_change,
    "os.chown": on_change,
    "os.exec": on_command,
    "os.link": on_link,
    "os.listdir": on_read,
    "os.mkdir": on_make,
    "os.posix_spawn": on_command,
    "os.remove": on_change,
    "os.rename": on_rename,
    "os.rmdir": on_change,
    "os.scandir": on_read,
    "os.symlink": on_link,
    "os.system": on_command,
    "os.truncate": on_truncate,
    "os.utime": on_change,
    "shutil.rmtree": on_change,
    "sqlite3.connect": on_read,
    "socket.__new__": on_socket,
    "socket.connect": on_connect,
    "socket.getaddrinfo": on_resolve,
    "socket.gethostbyaddr": on_reverse,
    "socket.gethostbyname": on_resolve,
    "socket.sendto": on_connect,
    "socket.sethostname": on_host_name,
    "subprocess.Popen": on_command,
    "ctypes.dlsym": on_call,
}


# ---- the exception that ended the run ----


def explain(error):
    """Notes what the uncaught exception ERROR, and those that led to it, tell of the sandbox."""
    seen = []
    while error is not None and len(seen) < 10 and not any(error is known for known in seen):
        seen.append(error)
        with contextlib.suppress(Exception):  # attributes of an exception may be anything
            explain_one(error, first=len(seen) == 1)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def explain_one(error, first):
    names = {kind.__name__ for kind in type(error).__mro__}
    number = getattr(error, "errno", None)
    path = getattr(error, "filename", None) if isinstance(error, OSError) else None
    if number in LIMITS:
        met.add(LIMITS[number])
    elif number in (errno.ENOSPC, errno.EDQUOT):
        met.add(full_place(path))
    elif isinstance(error, RuntimeError) and "can't start new thread" in tracebacks.message_of(error):
        met.add("pids")
    elif number in NO_NETWORK or not names.isdisjoint(NETWORK_ERRORS):
        # Where there is a network, what fails past the proxy was noted before, and the rest is between code and host.
        if main["network"] is None and all(entry["kind"] != "network" for entry in noted):
            note("network", tracebacks.message_of(error))
    elif isinstance(error, OSError) and isinstance(path, (str, bytes)) and path:
        explain_path(error, plain(os.path.join(os.getcwd(), os.fsdecode(path))), first)
    elif isinstance(error, OSError) and number in (errno.EPERM, errno.ENOSYS):
        explain_call(error)


def full_place(path):
    """Which limit it is that has no room left: PATH is often not known."""
    if is_full("/dev/shm") or str(path).startswith("/dev/shm/"):
        return "shm_bytes"
    free = os.statvfs(main["own"][0]).f_ffree
    return "workspace_files" if free == 0 else "workspace_bytes"


def explain_path(error, path, first):
    """What led to the error, and was caught, may have been a probe like any other."""
    if any(entry["detail"].partition(" ")[2] == path for entry in noted) or (not first and is_system(path)):
        return
    if error.errno == errno.EROFS:
        note("write", f"write {path}")
    elif error.errno in (errno.ENOENT, errno.ENOTDIR) and not os.path.lexists(path):
        if path.startswith("/") and is_hidden(path):
            note("file", f"read {path}")
    elif error.errno in (errno.EACCES, errno.EPERM):
        if is_hidden(path):
            note("file", f"read {path}")
        elif not is_own(path):
            note("write", f"write {path}")
        elif error.errno == errno.EPERM:
            explain_call(error)


def explain_call(error):
    """The line of the user's that asked for it: the exception does not say what it was."""
    step, place = error.__traceback__, None
    while step is not None:
        if tracebacks.is_user_file(step.tb_frame.f_code.co_filename, main["name"]):
            place = step.tb_frame.f_code.co_filename, step.tb_lineno
        step = step.tb_next
    line = linecache.getline(*place).strip() if place else ""
    if all(entry["kind"] != "call" for entry in noted):
        note("call", line or tracebacks.message_of(error))
