# Must end as memory_limit|error: messages in System V queues that nobody reads.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# stopped by at 2: seccomp
# levels: 3 2
# limits: memory_bytes=32M
# not in a container: it takes less than the least memory with which a container starts
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
message = ctypes.create_string_buffer(b"\1", 8192)  # of type 1: none is 0
sent, queues = 0, []
try:
    while sent < 64 << 20:
        queues.append(libc.msgget(0, 0o1600))
        if queues[-1] < 0:
            raise OSError(ctypes.get_errno(), "msgget")
        while libc.msgsnd(queues[-1], message, 8000, 0o4000) == 0:
            sent += 8000
    print("BREACH: 64 MiB in message queues")
finally:
    for queue in queues:
        libc.msgctl(queue, 0, None)
