# SPDX-License-Identifier: Apache-2.0
"""What a sandbox can see and touch: the interpreter's files, its own, and nothing else of the host or the daemon."""
import hashlib
import json
import os
import pathlib
import secrets
import socket

import pytest


@pytest.mark.quick
def test_status_of_the_process(adder):
    result = adder.run("print(open('/proc/self/status').read())")
    status = dict(line.split(":\t", 1) for line in result.stdout.splitlines() if ":\t" in line)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert status[name] == "0000000000000000", name
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    assert status["Groups"].split() in ([], ["65534"]) or set(status["Groups"].split()) == {"65534"}


@pytest.mark.quick
@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/etc/gshadow",
        "/root/.bashrc",
        "/proc/1/environ",
        "/proc/kcore",
        "/dev/mem",
        "/dev/kmsg",
        "/dev/sda",
        "/var/lib/dpkg/status",
        "/run/utmp",
        "/boot/vmlinuz",
        "/etc/ssh/sshd_config",
        "/etc/hosts.equiv",
    ],
)
def test_file_of_the_host(adder, path):
    result = adder.run(f"print(open({path!r}, 'rb').read(10))")
    assert (result.outcome, result.exit_status) == ("error", 1)
    assert result.error["type"] in ("FileNotFoundError", "PermissionError")


def test_home_runtime_directory_and_socket_of_the_caller(adder):
    (adder.home / "private").write_text("private")
    (adder.home / "private").chmod(0o666)
    paths = [
        adder.home,
        adder.home / "private",
        adder.runtime,
        adder.socket,
        adder.config,
        adder.scratch,
        adder.directory,
        "/root",
        "/home",
        os.getcwd(),
    ]
    result = adder.run(
        "import os\n"
        f"print([p for p in {[str(path) for path in paths]} if os.path.exists(p) and (os.path.isfile(p) or os.listdir(p))])"
    )
    assert result.stdout == "[]\n"
    result = adder.run(
        "import socket\n" "s = socket.socket(socket.AF_UNIX)\n" f"s.connect({str(adder.socket)!r})"
    )
    assert result.outcome == "error"


def test_root_directory(adder):
    result = adder.run("import os\nprint(*sorted(os.listdir('/')))")
    allowed = {
        "adder",
        "bin",
        "dev",
        "etc",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "opt",
        "proc",
        "sbin",
        "tmp",
        "usr",
        "var",
        "work",
        "workspace",
    }
    environments = {pathlib.Path(os.environ.get("ADDER_ENVIRONMENTS_DIR", "/var")).parts[1]}
    assert set(result.stdout.split()) <= allowed | environments


def test_etc_has_copies_of_little(adder):
    result = adder.run("import os\nprint(*sorted(os.listdir('/etc')))")
    assert not set(result.stdout.split()) & {
        "shadow",
        "gshadow",
        "sudoers",
        "ssh",
        "machine-id",
        "fstab",
        "crontab",
        "hostname",
        "resolv.conf",
    }


def test_device_nodes(adder):
    result = adder.run(
        "import json, os, stat\n"
        "found = {}\n"
        "for base, dirs, files in os.walk('/dev'):\n"
        "    for name in files:\n"
        "        p = os.path.join(base, name)\n"
        "        s = os.lstat(p)\n"
        "        if not stat.S_ISLNK(s.st_mode): found[p] = [stat.S_ISCHR(s.st_mode), os.major(s.st_rdev), os.minor(s.st_rdev)]\n"
        "print(json.dumps(found))"
    )
    known = {
        "/dev/null": [True, 1, 3],
        "/dev/zero": [True, 1, 5],
        "/dev/full": [True, 1, 7],
        "/dev/random": [True, 1, 8],
        "/dev/urandom": [True, 1, 9],
    }
    found = result.told()
    assert {"/dev/null", "/dev/urandom"} <= set(found) and all(
        known.get(path) == facts for path, facts in found.items()
    )


def test_device_nodes_cannot_be_made(adder):
    result = adder.run(
        "import os, stat\n"
        "for d in ('/work', '/tmp', '/dev/shm', '/dev'):\n"
        "    try:\n"
        "        os.mknod(d + '/m', 0o666 | stat.S_IFCHR, os.makedev(1, 1)); print('made', d)\n"
        "    except OSError: pass\nprint('tried')"
    )
    assert result.stdout == "tried\n"


PLACES = """
import errno, json, os, stat
writable, odd = [], []
for base, names, files in os.walk("/", followlinks=False):
    if base in ("/proc", "/work", "/tmp", "/dev/shm"):
        names[:] = []
        continue
    probe = os.path.join(base, ".probe")
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_EXCL))
        writable.append(base)
        os.unlink(probe)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT): odd.append([base, error.errno])
    try:
        os.mkdir(probe); writable.append(base)
    except OSError: pass
    for name in files:
        path = os.path.join(base, name)
        if os.access(path, os.W_OK) and stat.S_ISREG(os.stat(path).st_mode): writable.append(path)
print(json.dumps([writable, odd]))
"""


def test_no_place_to_write_but_three(adder):
    result = adder.run(PLACES, "--timeout", "100", "--limit", "cpu_ms=100000")
    assert result.outcome == "ok" and result.told() == [[], []]


@pytest.mark.parametrize(
    "attempt",
    [
        "os.chmod('/usr/bin/env', 0o777)",
        "os.chown('/usr/bin/env', 1, 1)",
        "os.utime('/usr/bin/env')",
        "os.rename('/usr/bin/env', '/usr/bin/x')",
        "os.unlink('/etc/passwd')",
        "os.link('/etc/passwd', '/work/passwd')",
        "os.symlink('x', '/usr/x')",
        "os.truncate('/etc/passwd', 0)",
        "os.rmdir('/work')",
        "os.rename('/work', '/elsewhere')",
        "os.rename('/tmp', '/work/x')",
        "open('/proc/self/exe', 'wb')",
        "open('/proc/1/exe', 'wb')",
        "open(os.path.realpath('/proc/self/exe'), 'wb')",
        "open('/proc/sysrq-trigger', 'w')",
        "open('/proc/sys/kernel/hostname', 'w').write('x')",
        "open('/proc/1/oom_score_adj', 'w').write('1000')",
        "open('/proc/1/mem', 'rb')",
        "open('/proc/1/environ', 'rb').read()",
        "os.setxattr('/usr/bin/env', 'user.x', b'')",
        "os.chroot('/work')",
        "os.sethostname('x') if hasattr(os, 'sethostname') else __import__('socket').sethostname('x')",
        "os.setuid(0)",
        "os.setgroups([0])",
        "os.nice(-5)",
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))",
        "__import__('time').clock_settime(0, 0)",
        "os.open('/', os.O_RDWR)",
        "os.open('/proc/self/root/etc/shadow', 0)",
        "os.listdir('/proc/1/root')",
        "os.listdir('/proc/1/cwd')",
        "os.listdir('/proc/1/fd')",
        "os.readlink('/proc/1/exe')",
        "os.listdir('/sys')",
        "open('/proc/self/uid_map', 'w').write('0 0 1')",
        "open('/proc/self/setgroups', 'w').write('allow')",
    ],
)
def test_attempt_is_refused(adder, attempt):
    result = adder.run(f"import os\n{attempt}")
    assert result.outcome == "error"
    assert result.error["type"] in (
        "PermissionError",
        "FileNotFoundError",
        "OSError",
        "NotADirectoryError",
        "IsADirectoryError",
        "ProcessLookupError",
    )


def test_proc_shows_the_run_only(adder):
    result = adder.run(
        "import json, os\n"
        "print(json.dumps([sorted(n for n in os.listdir('/proc') if n.isdigit()), sorted(n for n in os.listdir('/proc') if not n.isdigit())]))"
    )
    numbers, names = result.told()
    assert len(numbers) <= 3
    assert not set(names) & {
        "sys",
        "kcore",
        "kallsyms",
        "modules",
        "sysrq-trigger",
        "kmsg",
        "keys",
        "config.gz",
        "acpi",
        "timer_list",
    }


def test_mounts_tell_nothing_of_the_host(adder):
    result = adder.run("print(open('/proc/self/mountinfo').read())")
    for path in (adder.home, adder.runtime, adder.scratch):
        assert str(path) not in result.stdout
    points = [line.split()[4] for line in result.stdout.splitlines() if line]
    assert len(points) < 40
    for line in result.stdout.splitlines():
        if (
            line
            and line.split()[4] not in ("/work", "/tmp", "/dev/shm", "/workspace")
            and not line.split()[4].startswith(("/proc", "/dev/"))
        ):
            assert line.split()[5].split(",")[0] == "ro", line


def test_set_user_id_bits_are_void(adder):
    result = adder.run(
        "print([l for l in open('/proc/self/mountinfo').read().splitlines() if 'nosuid' not in l.split()[5].split(',') and l])"
    )
    assert result.stdout == "[]\n"


def test_descriptors(adder):
    result = adder.run(
        "import json, os\n"
        "d = os.open('/proc/self/fd', os.O_RDONLY)\n"
        "print(json.dumps(sorted({int(n) for n in os.listdir(d)})))\n"
        "print(json.dumps([os.readlink(f'/proc/self/fd/{n}') for n in range(4)]))"
    )
    numbers, links = map(json.loads, result.stdout.splitlines())
    assert numbers[:4] == [0, 1, 2, 3] and len(numbers) <= 6, "0 to 3 and those with which it is looked"
    assert all(link.startswith(("pipe:", "socket:", "/memfd:", "/dev/null")) for link in links)


def test_descriptors_of_a_child(adder):
    """The control socket is the runner's, not every program's."""
    result = adder.run(
        "import subprocess\n"
        "print(subprocess.run(['ls', '/proc/self/fd'], capture_output=True, text=True).stdout.split())"
    )
    assert result.stdout in ("['0', '1', '2', '3']\n", "['0', '1', '2']\n")


def test_descriptors_cannot_be_opened_again(adder):
    """Through /proc/self/fd a pipe could be opened the other way round; what matters is that it leads nowhere."""
    result = adder.run(
        "import os\n"
        "for n in range(3):\n"
        "    for mode in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):\n"
        "        try: os.close(os.open(f'/proc/self/fd/{n}', mode | os.O_NONBLOCK))\n"
        "        except OSError: pass\nprint('tried')"
    )
    assert result.outcome == "ok" and result.stdout == "tried\n"


def test_host_name(adder):
    result = adder.run("import socket\nprint(socket.gethostname())")
    assert result.stdout.strip() != socket.gethostname(), "it is the host's own affair"


def test_no_network_devices(adder):
    result = adder.run(
        "import os, socket\n" "print(socket.if_nameindex() if hasattr(socket, 'if_nameindex') else [])"
    )
    assert result.outcome == "error" or result.stdout in ("[]\n", "[(1, 'lo')]\n")


def test_environment_variables(adder):
    """Those of the daemon stay its own."""
    result = adder.run("import json, os\nprint(json.dumps(dict(os.environ)))", "--set-env", "GIVEN=1")
    variables = result.told()
    assert variables.pop("GIVEN") == "1"
    for name in (
        "ADDER_RUNTIME_DIR",
        "ADDER_CONFIG_DIR",
        "SUDO_USER",
        "SSH_AUTH_SOCK",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "XDG_RUNTIME_DIR",
    ):
        assert name not in variables
    for value in variables.values():
        for path in (adder.home, adder.runtime, adder.scratch, adder.config):
            assert str(path) not in value
    assert len(variables) < 25


# ---- secrets ----


def test_secrets_of_the_daemon_are_not_in_memory(make_adder, shared_adder):
    """A secret in the daemon's environment and configuration, another in a run before: none is in what a sandbox can read."""
    secret = {
        name: f"QZ{secrets.token_hex(16)}ZQ"
        for name in ("environment", "configuration", "code", "variable", "stdin", "argument")
    }
    adder = make_adder(
        f"# {secret['configuration']}\n", variables={"ADDER_TEST_SECRET": secret["environment"]}
    )
    adder.environment = shared_adder.environment
    adder.run(
        f"x = '{secret['code']}'\n" "import os, sys\n" "sys.stdin.read()",
        "--set-env",
        f"SECRET={secret['variable']}",
        "--stdin",
        adder.file("in", secret["stdin"]),
    )
    adder.json("--env", adder.environment, adder.file("x.py", "1"), "--", secret["argument"])
    script = """
import ctypes, hashlib, json, os, re, sys
wanted = set(sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
pattern = re.compile(rb"Q[Z][0-9a-f]{32}Z[Q]")
found, looked = [], 0
def look(data):
    for match in pattern.finditer(data):
        if hashlib.sha256(match.group()).hexdigest() in wanted: found.append(match.group().decode())
# Through a file: write(2) answers EFAULT where reading directly would be a fault.
for line in open("/proc/self/maps").read().splitlines():
    span, mode = line.split()[:2]
    if "r" not in mode or line.endswith(("[vvar]", "[vsyscall]", "[vvar_vclock]")): continue
    start, end = (int(x, 16) for x in span.split("-"))
    for at in range(start, end, 4 << 20):
        fd = os.open("/work/chunk", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        written = libc.write(fd, at, min(4 << 20, end - at) + (64 if at + (4 << 20) < end else 0))
        if written > 0:
            looked += written
            with open("/work/chunk", "rb") as file: look(file.read())
        os.close(fd)
for base in ("/proc/self", "/proc/1"):
    for name in ("environ", "cmdline", "auxv", "comm", "cgroup", "mountinfo", "status", "limits", "stat"):
        try: look(open(f"{base}/{name}", "rb").read())
        except OSError: pass
os.unlink("/work/chunk")
print(json.dumps([found, looked]))
"""
    hashes = [hashlib.sha256(value.encode()).hexdigest() for value in secret.values()]
    result = adder.json(
        "--env",
        adder.environment,
        "--timeout",
        "100",
        "--limit",
        "cpu_ms=100000",
        adder.file("look.py", script),
        "--",
        *hashes,
    )
    assert result.outcome == "ok"
    found, looked = result.told()
    assert looked > 1 << 20, "it did look"
    assert found == [], [name for name in secret if secret[name] in found]

    # And the search does find what is there.
    planted = adder.file(
        "planted.py", script.replace("found, looked", f"planted = {secret['code']!r}\n" "found, looked", 1)
    )
    assert adder.json(
        "--env", adder.environment, "--timeout", "100", "--limit", "cpu_ms=100000", planted, "--", *hashes
    ).told()[0]
    adder.stop()


def test_process_list_of_the_host_shows_no_secret(make_adder):
    """Code, variables and arguments of a run do not stand in any command line that other users of the host can read."""
    adder = make_adder()
    word = secrets.token_hex(8)
    script = adder.file("x.py", f"# {word}\nprint('started', flush=True)\nimport time\ntime.sleep(1000)")
    process = adder.popen("run", "--env", "system", "--set-env", f"X={word}", script)
    assert process.stdout.readline() == b"started\n"
    shown = []
    for entry in os.listdir("/proc"):
        try:
            line = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        if entry.isdigit() and word.encode() in line and b"--set-env" not in line:
            shown.append(line)
    process.terminate()
    process.communicate(timeout=60)
    assert shown == []
    adder.stop()
