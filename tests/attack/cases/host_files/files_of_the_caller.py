# Must be refused: learning of the home, configuration and runtime directories of the one who runs the daemon.
# SPDX-License-Identifier: Apache-2.0
# stopped by: tree
# levels: 3 2
import os

base = os.path.dirname(os.path.dirname(os.environ["BAIT_DAEMON_SOCKET"]))
names = [name for name in ("", "home", "config", "run", "scratch") if os.path.exists(os.path.join(base, name))]
print(f"BREACH there is {base}: {names}" if names else "held")
