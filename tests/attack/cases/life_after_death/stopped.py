# Must do no harm: a child that has stopped itself.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2 1
# result: result.outcome == "ok" and "done" in result.stdout
import ctypes, os, signal

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
os.waitpid(child, os.WUNTRACED)
print("done")
