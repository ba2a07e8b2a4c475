# Must end as cpu_limit: a loop that ignores the signal which warns of the limit.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cpu
# levels: 3 2 1
# limits: cpu_ms=100
import signal, time

signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while time.process_time() < 0.6:
    pass
print("BREACH: six times the processor time that was allowed")
