# Must be refused: being root, or of a group beside its own, in the container and so on the host.
# SPDX-License-Identifier: Apache-2.0
# stopped by: container
# levels: container
import os

ids = [*os.getresuid(), *os.getresgid(), *os.getgroups()]
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines())
rights = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status[name], 16)]
if status["NoNewPrivs"] != "1":
    rights.append("new privileges")
print(f"BREACH {ids} {rights}" if 0 in ids or rights else "held")
