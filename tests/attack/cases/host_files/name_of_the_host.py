# Must be refused: learning the name of the host.
# SPDX-License-Identifier: Apache-2.0
# stopped by: uts
# levels: 3 2
import socket

# A sandbox's own is always this.
print("held" if socket.gethostname() == "adder" else "BREACH")
