# Must be refused: reading what hosts have in /etc, /var, /run, /boot, /root, /home and /sys.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# stopped by at 1: landlock
# not in a container: an image has files of the same names, which are its own; container/files_of_the_kernel asks for the host's
import os

READABLE = """/etc/shadow /etc/gshadow /etc/sudoers /etc/fstab /etc/machine-id /etc/hostname /etc/resolv.conf
/etc/ssh/sshd_config /etc/debian_version /etc/hosts.equiv /etc/crontab /var/lib/dpkg/status /var/log/dpkg.log
/run/utmp /root/.bashrc /boot/vmlinuz /sys/kernel/uevent_seqnum /sys/devices/system/cpu/online""".split()
LISTED = ["/sys", "/root", "/home", "/run", "/boot", "/mnt", "/srv", "/media", "/var/log", "/var/spool"]


def read(path):
    try:
        return open(path, "rb").read(10)
    except OSError:
        return b""


def listed(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


found = [path for path in READABLE if read(path)] + [path for path in LISTED if listed(path)]
print(f"BREACH {found}" if found else "held")
