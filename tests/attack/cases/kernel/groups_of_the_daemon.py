# Must be refused: having kept the groups of the one who runs the daemon.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest
# stopped by in a container: container
# users: root
# cannot succeed: a root daemon's launcher gives them up before there is anything that could be left out
import os

mine = {os.getgid()}
print("held" if set(os.getgroups()) <= mine else f"BREACH {os.getgroups()}")
