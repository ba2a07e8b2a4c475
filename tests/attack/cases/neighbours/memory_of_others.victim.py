# SPDX-License-Identifier: Apache-2.0
import ctypes, os, time

secret = ctypes.create_string_buffer(b"secret-" + os.environ["ATTACK_TOKEN"].encode(), 4096)
mine = secret.raw
print("ready", flush=True)
while True:
    print("well" if secret.raw == mine else "BREACH: it was changed", flush=True)
    time.sleep(0.05)
