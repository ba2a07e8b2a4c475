# SPDX-License-Identifier: Apache-2.0
import ctypes, os, time

ctypes.CDLL(None).prctl(15, b"V" + os.environ["ATTACK_TOKEN"].encode())
print("ready", flush=True)
while True:
    time.sleep(0.05)
    print("well", flush=True)
