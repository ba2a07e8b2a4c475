# Must be refused: userfaultfd, which holds the kernel up in the middle of a copy.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

USER_MODE_ONLY = 1
attempt.all_refused({"userfaultfd": lambda: attempt.call("userfaultfd", USER_MODE_ONLY)})
