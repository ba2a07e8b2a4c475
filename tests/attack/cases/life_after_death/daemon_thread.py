# Must do no harm: a daemon thread that goes on while the interpreter is taken apart.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: a thread ends with its process in any case
# levels: 3 2 1
# result: result.outcome in ("ok", "crashed") and "done" in result.stdout
import threading


def go_on():
    while True:
        [*range(100)]


threading.Thread(target=go_on, daemon=True).start()
print("done")
