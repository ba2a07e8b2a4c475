# Must be refused: more threads than the limit of processes and threads allows.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pids
# levels: 3 2 1
# limits: pids=30
import os, threading

threads = 0
try:
    while threads < 200:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        threads += 1
except RuntimeError:
    pass
print("held" if threads < 100 else f"BREACH: {threads} threads", flush=True)
os._exit(0)
