# Must end as cpu_limit: a loop that ignores the signal which warns of the limit.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cpu
# levels: 3 2 1
# limits: cpu_ms=100
import os, signal, time

signal.signal(signal.SIGXCPU, signal.SIG_IGN)
most = 0.6 * int(os.environ["ATTACK_PATIENCE"])  # until it is seen from outside
while time.process_time() < most:
    pass
print("BREACH: six times the processor time that was allowed")
