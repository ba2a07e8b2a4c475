# Must do no harm: the socket to the daemon shut down in both directions.
# SPDX-License-Identifier: Apache-2.0
# stopped by: deadline
# cannot succeed: it only takes the code's own voice
# levels: 3 2 1
# result: result.outcome in ("ok", "error", "crashed") and result.stdout == "here\n"
import os, socket

print("here")
socket.socket(fileno=os.dup(3)).shutdown(socket.SHUT_RDWR)
