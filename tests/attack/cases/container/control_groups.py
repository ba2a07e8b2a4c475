# Must be refused: changing the container's control groups, or having the host run a program when one of them is empty.
# SPDX-License-Identifier: Apache-2.0
# stopped by: container + landlock
# levels: container
import os

WORTH = """memory.max memory.high memory.limit_in_bytes memory.memsw.limit_in_bytes memory.oom_control pids.max cpu.max
cpu.cfs_quota_us cgroup.procs tasks cgroup.kill cgroup.subtree_control cgroup.clone_children notify_on_release release_agent
devices.allow devices.deny freezer.state cpuset.cpus""".split()
found, looked = [], 0
for base, _, names in os.walk("/sys/fs/cgroup"):
    looked += len(names)
    for name in set(names) & set(WORTH):
        try:
            os.close(os.open(os.path.join(base, name), os.O_WRONLY))
            found.append(os.path.join(base, name))
        except OSError:
            pass
    try:
        os.mkdir(os.path.join(base, "attack"))
        os.rmdir(os.path.join(base, "attack"))
        found.append(base)
    except OSError:
        pass
print(f"BREACH {found[:5]}" if found else "held")
