# Must end as error: an exit code whose low byte alone is left, so that it must not become 0.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# cannot succeed: the kernel cuts it, nobody else
# levels: 3 2 1
# result: result.exit_code == 255
import os

os._exit(-1)
