# Must be refused: learning from its socket which process of the host the daemon is.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid
# cannot succeed: the daemon is in no namespace of the zygote's
# levels: 3 2
import os, socket, struct

peer = socket.socket(fileno=os.dup(3)).getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
print("held" if struct.unpack("3i", peer)[0] == 0 else f"BREACH: {struct.unpack('3i', peer)}")
