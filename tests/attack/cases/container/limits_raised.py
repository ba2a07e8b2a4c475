# Must be refused: lifting one's own resource limits, soft and hard, but that on processor time, which is counted from outside.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# levels: container
import resource

raised = []
for name in ("FSIZE", "NOFILE", "CORE", "STACK", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO", "SIGPENDING"):
    number = getattr(resource, "RLIMIT_" + name)
    soft, hard = resource.getrlimit(number)
    if hard == resource.RLIM_INFINITY:
        raised.append(name)
        continue
    try:
        resource.setrlimit(number, (hard + 1, hard + 1))
        raised.append(name)
    except (ValueError, OSError):
        pass
print("BREACH: " + " ".join(raised) if raised else "held")
