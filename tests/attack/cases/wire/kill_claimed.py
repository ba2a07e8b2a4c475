# Must end as crashed: the signal by which the kernel ends what takes too much memory, from the code's own hand.
# SPDX-License-Identifier: Apache-2.0
# stopped by: memory
# cannot succeed: without the limit it is no less a lie
# levels: 3 2 1
# result: result.signal == "SIGKILL"
import os, signal

os.kill(os.getpid(), signal.SIGKILL)
