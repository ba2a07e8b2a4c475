# SPDX-License-Identifier: Apache-2.0
"""A Debian root with systemd as its first process, in namespaces of its own: what a container manager would start."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

GROUPS = pathlib.Path("/sys/fs/cgroup")
START_S = 180  # of a busy machine

# systemd needs one hierarchy of control groups. Only its own group is in sight, and of version 1 only the hierarchy without
# controllers, so that it changes nothing of the host's.
BOOT = """
mount --bind "$1" "$1"
cd -- "$1"
ip link set lo up
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
if [ "$2" = 2 ]; then
  mount -t cgroup2 cgroup sys/fs/cgroup
else
  mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
fi
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
pivot_root . mnt
cd /
umount -l mnt
exec env -i container=tests PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
"""


def hierarchy():
    """(version, where a group for systemd is made), or None: the host has none that it could use."""
    if (GROUPS / "cgroup.controllers").exists():
        return 2, GROUPS
    return (1, GROUPS / "systemd") if (GROUPS / "systemd/cgroup.procs").exists() else None


def remove_groups(top):
    for directory, _, _ in os.walk(top, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(directory)


class Booted:
    """MACHINE (a debian_root.Root), running. Use it as a context manager: its end ends all processes."""

    def __init__(self, machine):
        version, groups = hierarchy()
        self.group = groups / f"adder-tests-{os.getpid()}"
        self.group.mkdir()
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--cgroup", "--uts", "--ipc", "--net", "--fork", "--kill-child", "sh", "-euc", BOOT, "sh",
             str(machine.path), str(version)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: (self.group / "cgroup.procs").write_text(str(os.getpid())),
        )

    def first(self):
        """systemd's pid as the host sees it."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def run(self, *command, user="root", check=True, variables=None, timeout=120):
        entered = ["nsenter", "--target", str(self.first()), "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"]
        home = "/root" if user == "root" else f"/home/{user}"
        setting = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", f"HOME={home}", "LANG=C.UTF-8", *(f"{k}={v}" for k, v in (variables or {}).items())]
        account = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
        ended = subprocess.run([*entered, *setting, *account, *command], cwd="/", capture_output=True, text=True, timeout=timeout)
        assert not check or ended.returncode == 0, f"{command} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
        return ended

    def shell(self, script, **options):
        return self.run("sh", "-euc", script, **options).stdout

    def wait_until_up(self):
        """Units that need a console or devices may have failed."""
        def is_up():
            assert self.process.poll() is None, self.process.stderr.read()
            return self.first() and self.run("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded")

        deadline = time.monotonic() + START_S
        while not is_up():
            assert time.monotonic() < deadline, "systemd does not start"
            time.sleep(0.05)  # it tells nobody outside

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        first = self.first() if self.process.poll() is None else None
        if first:
            os.kill(first, signal.SIGKILL)
        self.process.wait(timeout=60)
        remove_groups(self.group)
