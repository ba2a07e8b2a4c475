# Must be refused: reading or changing what /sys and /proc tell of the host: its devices, modules, keys, memory, command line.
# SPDX-License-Identifier: Apache-2.0
# stopped by: container
# levels: container
import os

READ = """/proc/kcore /proc/keys /proc/key-users /proc/timer_list /proc/sched_debug /proc/kallsyms /proc/modules /proc/iomem
/proc/ioports /proc/kmsg /proc/config.gz /proc/cmdline /proc/partitions /proc/diskstats /proc/locks /proc/interrupts
/proc/sysvipc/shm /proc/sys/kernel/core_pattern /proc/sys/kernel/random/boot_id /proc/bus/pci/devices
/sys/kernel/uevent_seqnum /sys/class/net/lo/address /sys/devices/system/cpu/online /sys/firmware/acpi/tables/DSDT
/sys/class/dmi/id/product_name /etc/resolv.conf""".split()
LISTED = "/sys /sys/fs/cgroup /proc/sys /proc/fs /proc/bus /proc/irq /proc/tty /proc/driver /proc/acpi /proc/scsi /run/secrets".split()
WRITTEN = """/proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/drop_caches
/proc/sys/fs/binfmt_misc/register /sys/kernel/uevent_helper /sys/power/state""".split()


def read(path):
    try:
        with open(path, "rb") as file:
            return bool(file.read(64).strip())
    except OSError:
        return False


def listed(path):
    try:
        return bool(os.listdir(path))
    except OSError:
        return False


def opened(path):
    try:
        os.close(os.open(path, os.O_WRONLY))
        return True
    except OSError:
        return False


found = [path for path in READ if read(path)] + [path for path in LISTED if listed(path)] + [path for path in WRITTEN if opened(path)]
print(f"BREACH {found}" if found else "held")
