# Must do no harm: descriptors of every kind sent to the daemon beside frames, thousands of them.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# cannot succeed: nobody asks for descriptors there, so that the kernel closes them
# levels: 3 2 1
# result: result.outcome == "ok"
import array, errno, os, socket, struct

daemon = socket.socket(fileno=os.dup(3))
os.mkfifo("pipe")
one, other = socket.socketpair()
kinds = [os.open("/dev/zero", os.O_RDONLY), os.open("pipe", os.O_RDWR), one.fileno(), daemon.fileno(), *os.pipe()]
try:
    kinds.append(os.memfd_create("unsealed"))
    os.truncate(kinds[-1], 1 << 30)
except OSError:
    pass
text = b'{"text/plain": "x"}'
for number in range(40):
    batch = array.array("i", [kinds[number % len(kinds)]] * 200)
    frame = struct.pack("=II", 3, len(text)) + text
    try:
        assert daemon.sendmsg([frame], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, batch)]) == len(frame)
    except OSError as error:
        assert error.errno == errno.ETOOMANYREFS  # as many are under way as a user may have
os.unlink("pipe")
