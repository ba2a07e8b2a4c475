# Must do no harm: a run that opens its own output again and takes back what the daemon is about to read.
# SPDX-License-Identifier: Apache-2.0
# stopped by: proc
# cannot succeed: one's own descriptors are in one's own /proc, and a pipe that is opened again is still the run's own
# levels: 3 2 1
# limits: output_bytes=8M
import fcntl, json, os, struct, time

try:
    thief = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(1, 1031, 1 << 20)  # F_SETPIPE_SZ
except OSError:
    os._exit(0)  # it is not the sandbox's user that the pipe belongs to
os.set_blocking(1, False)
# While the daemon is busy with a long result, the pipe is filled; while it empties the pipe, some of that is taken away.
text = json.dumps({"exit_code": 0, "value": {"text/plain": "x" * (4 << 20)}, "error": None, "warnings": []}).encode()
os.write(3, struct.pack("=II", 4, len(text)) + text)
try:
    while True:
        os.write(1, bytes(65536))
except BlockingIOError:
    pass
end = time.monotonic() + 5
while time.monotonic() < end:
    time.sleep(0.0003)
    try:
        os.read(thief, 64)
    except BlockingIOError:
        pass
