# SPDX-License-Identifier: Apache-2.0
"""What to do about an exception that comes from the sandbox rather than from the code: one table, asked in order."""

import errno
import os

from adder_runner import places

NAME_LENGTH = 100
NO_NETWORK = "There is no network in this sandbox. Pass data in as files instead."
# By the profile's network. A host's answer, such as 404, is not the sandbox's.
NETWORKS = {
    None: NO_NETWORK,
    "allow": "Only the hosts that the profile names are reached, through the proxy that http_proxy and https_proxy name.",
    "full": None,
}
NO_MEMORY = "The run needs more memory than the limit memory_bytes; work on a part of the data at a time."
READ_ONLY = "Only {writable} can be written to."
NO_INSTALL = "Nothing can be installed from inside a run: the environment is read-only, and pip reaches no network."
INSTALLERS = ("pip", "pip3", "conda", "mamba", "micromamba", "uv", "pipx", "poetry")
USE = "Use what is there, or ask the user for an environment that has it."
SHELL_LINE = "A line that begins with ! or % is for IPython, and this is plain Python; for programs there is the module subprocess. "
KERNEL_PLACES = ("/proc/", "/dev/", "/sys/")
KERNEL = "What the kernel tells in /proc, /dev and /sys is there for the sandbox's own processes only, and no file that is passed with the run can stand in for it: do without it."
BIND_MOUNTED = "{path} is the caller's own file, bind-mounted and not copied because of its size: it can be read, not changed, moved or removed. Write to another name."

# (exception type names, errno values or None, words of the message or None, hint; None: missing_file says it)
TABLE = (
    (("PermissionError",), None, "refused by the rules of this profile", "The profile forbids this in whatever way it is reached: use what the code is given."),
    (("ModuleNotFoundError",), None, None, "This package is not in the environment, and none can be installed from inside a run. {packages}"),
    (("CalledProcessError",), None, "install", NO_INSTALL + " {packages}"),
    (("gaierror", "herror"), None, None, NO_NETWORK),
    (("ConnectionError", "URLError", "NewConnectionError", "ConnectTimeout", "ConnectError"), None, None, NO_NETWORK),
    (None, (errno.EAFNOSUPPORT, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL), None, NO_NETWORK),
    (None, (errno.EROFS,), None, READ_ONLY),
    (("PermissionError",), (errno.EACCES, errno.EPERM), None, READ_ONLY + " Files of the host can be read only if they are passed with the run, and system calls that leave the sandbox are refused."),
    (None, (errno.ENOSPC, errno.EDQUOT), None, "The workspace is full (limits workspace_bytes and workspace_files)."),
    (None, (errno.EFBIG,), None, "The file is larger than the limit file_bytes."),
    (None, (errno.EMFILE,), None, "Too many open files (limit open_files)."),
    (("RuntimeError",), None, "can't start new thread", "Too many processes and threads (limit pids)."),
    (("BlockingIOError", "OSError"), (errno.EAGAIN,), "temporarily unavailable", "Too many processes and threads (limit pids)."),
    (("MemoryError",), None, None, NO_MEMORY),
    (None, (errno.ENOMEM,), None, NO_MEMORY),
    (("EOFError",), None, "EOF when reading a line", "Standard input is empty; pass it with the run, or do not call input()."),
    (("FileNotFoundError",), None, None, None),
)


connected = {"by": None}  # what denials.py is told of the network
passed = {"with": "`files`"}  # what the caller passes files with
packages = {"advice": USE}  # how a run is given packages that its environment lacks, where its caller may


def quoted(names):
    """NAMES, which the code chose, as Python writes them, so that they are not taken for words of ours."""
    return ", ".join(repr(name[:NAME_LENGTH]) for name in names)


def path_of(error):
    path = getattr(error, "filename", None)
    return path if isinstance(path, str) else ""


def missing_file(error):
    """Where the file of a FileNotFoundError might be instead."""
    path = path_of(error)
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        return f"There is no directory {quoted([folder])} in the sandbox. Files that are passed with the run lie in {places.work}, the current directory."
    try:
        names = sorted(os.listdir(places.work))[:10]
    except PermissionError:  # of a guard
        return None
    return f"The current directory is {places.work}, which holds {quoted(names) if names else 'no files'}: pass the file with the run ({passed['with']})."


def bind_mounted_file(error):
    """The file that is bind-mounted, which ERROR is about, or None: a mount in the workspace."""
    for path in (error.filename, error.filename2):
        if not isinstance(path, str):
            continue
        real = os.path.realpath(path)
        if real.startswith((places.work + "/", places.temporary + "/")) and os.path.isfile(real) and os.path.ismount(real):
            return real
    return None


def no_install():
    return f"{NO_INSTALL} {packages['advice']}"


def find(error, message):
    """The hint for ERROR with MESSAGE, or None."""
    names = {kind.__name__ for kind in type(error).__mro__}
    line = str(getattr(error, "text", None) or "").strip() if isinstance(error, SyntaxError) else ""
    if line.startswith(("!", "%")):
        return f"{SHELL_LINE}{no_install()}" if "install" in line else SHELL_LINE.strip()
    number = getattr(error, "errno", None)
    path = bind_mounted_file(error) if isinstance(error, OSError) and number in (errno.EROFS, errno.EBUSY) else None
    if path:
        return BIND_MOUNTED.replace("{path}", quoted([path]))
    if number in (errno.ENOENT, errno.EACCES, errno.EPERM) and path_of(error).startswith(KERNEL_PLACES):
        return KERNEL
    if number == errno.ENOENT and os.path.basename(path_of(error)) in INSTALLERS:
        return no_install()
    for types, numbers, words, hint in TABLE:
        if types is not None and names.isdisjoint(types):
            continue
        if numbers is not None and number not in numbers:
            continue
        if words is not None and words not in message:
            continue
        if hint is NO_NETWORK and connected["by"]:
            return NETWORKS[connected["by"]] if "HTTPError" not in names else None
        return hint.replace("{writable}", places.writable()).replace("{packages}", packages["advice"]) if hint else missing_file(error)
    return None
