# Must do no harm: threads whose stacks are half a gigabyte each.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# cannot succeed: a stack takes no memory before it is used
# levels: 3 2 1
# limits: memory_bytes=64M
# result: result.outcome in ("ok", "error", "memory_limit")
import resource, threading

hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))
threading.stack_size(512 << 20)
for _ in range(10):
    threading.Thread(target=print).start()
