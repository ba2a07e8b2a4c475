# Must do no harm: a good result of the code's own making, after which it goes on.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2 1
# result: result.outcome == "ok" and result.value["text/plain"] == "forged"
import ctypes, json, os, struct, time

ctypes.CDLL(None).prctl(15, os.environ["ATTACK_TOKEN"].encode())
if os.fork() == 0:
    time.sleep(60)
    os._exit(0)
text = json.dumps({"exit_code": 0, "value": {"text/plain": "forged"}, "error": None, "warnings": []}).encode()
os.write(3, struct.pack("=II", 4, len(text)) + text)
while True:
    pass
