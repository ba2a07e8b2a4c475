# Must be refused: a core dump, written to wherever the host's pattern says.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits + dumpable
# stopped by at 1: rlimits
# stopped by in a container: container + rlimits + dumpable
# levels: 3 2 1
import os, resource

child = os.fork()
if child == 0:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    os.abort()
status = os.waitpid(child, 0)[1]
print("BREACH: a core was dumped" if os.WCOREDUMP(status) else "held")
