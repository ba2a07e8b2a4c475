# Must be refused: memory that no limit counts: secret memory and queues of asynchronous requests.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
# cannot succeed in a container: the engine's own filter refuses some of it
import attempt

context = attempt.room(8)
attempt.all_refused(
    {
        "memfd_secret": lambda: attempt.call("memfd_secret", 0),
        "io_setup": lambda: attempt.call("io_setup", 16, context),
        "mq_open": lambda: attempt.call("mq_open", b"attack", 0o102, 0o600, 0),
    }
)
