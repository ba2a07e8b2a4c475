# Must be refused: learning the path of the daemon's control groups on the host.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cgroup-namespace
# levels: 3 2

# Of a sandbox's own path, only what lies below the daemon's group may be seen.
paths = [line.rstrip("\n").split(":", 2)[2] for line in open("/proc/self/cgroup")]
above = [path for path in paths if path.split("/")[1] and not path.startswith(("/adder-", "/../"))]
print(f"BREACH {above}" if above else "held")
