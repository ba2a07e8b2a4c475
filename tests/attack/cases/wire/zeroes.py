# Must end as crashed: a hundred thousand zeroes on the sandbox's socket.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# levels: 3 2 1
import os

os.write(3, bytes(100_000))
