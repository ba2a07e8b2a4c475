# Must be refused: io_uring, which opens files and sockets past every filter of system calls.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

attempt.all_refused({"io_uring_setup": lambda: attempt.call("io_uring_setup", 4, attempt.room())})
