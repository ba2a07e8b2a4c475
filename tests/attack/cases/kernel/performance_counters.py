# Must be refused: performance counters, of its own process as well.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# stopped by in a container: container + seccomp
# files: attempt.py
import attempt

# A software counter of the own process, the kernel left out: what an ordinary user may have by default.
EXCLUDE = 1 << 5 | 1 << 6
counter = attempt.block(1, 112, 0, 0, 0, 0, EXCLUDE, form="=IIQQQQQ72x")
attempt.all_refused({"perf_event_open": lambda: attempt.call("perf_event_open", counter, 0, -1, -1, 0)})
