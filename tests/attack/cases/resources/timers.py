# Must be refused: thousands of timers in the kernel.
# SPDX-License-Identifier: Apache-2.0
# stopped by: rlimits
# levels: 3 2 1
import ctypes

libc, timer, made = ctypes.CDLL(None), ctypes.c_void_p(), 0
while made < 2000 and libc.timer_create(0, None, ctypes.byref(timer)) == 0:
    made += 1
print("held" if made < 2000 else f"BREACH: {made} timers")
