# Must end as crashed: SIGKILL to its own process group.
# SPDX-License-Identifier: Apache-2.0
# stopped by: pid
# cannot succeed: it hits only itself, with or without layers
# result: result.signal == "SIGKILL"
import os

os.kill(0, 9)
