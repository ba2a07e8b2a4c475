# Must end as timeout: a frame of which one byte comes at a time, and never the last.
# SPDX-License-Identifier: Apache-2.0
# stopped by: deadline
# levels: 3 2 1
# limits: wall_ms=300
import os, struct, time

os.write(3, struct.pack("=II", 3, 16 << 20))
end = time.monotonic() + int(os.environ["ATTACK_PATIENCE"])
while time.monotonic() < end:
    os.write(3, b" ")
    time.sleep(0.01)
os.write(1, b"BREACH: it lives much longer than it may\n")
os._exit(0)
