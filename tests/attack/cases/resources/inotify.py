# Must be refused: inotify instances, whose number is shared with every other process of the user.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# levels: 3 2 1
import ctypes

print("held" if ctypes.CDLL(None).inotify_init1(0) < 0 else "BREACH: an inotify instance")
