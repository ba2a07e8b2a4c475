# Must end as crashed: the signal that the kernel sends for too much processor time, from the code's own hand.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cpu
# cannot succeed: without the limit it is no less a lie
# levels: 3 2 1
# result: result.signal == "SIGXCPU"
import os, signal

os.kill(os.getpid(), signal.SIGXCPU)
