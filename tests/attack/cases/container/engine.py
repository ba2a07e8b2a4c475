# Must be refused: asking the engine, which can do anything on the host, by its socket.
# SPDX-License-Identifier: Apache-2.0
# stopped by: container
# levels: container
import os
import socket

PLACES = "/var/run/docker.sock /run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock /run/crio/crio.sock".split()
held = True
for path in [os.environ.get("BAIT_ENGINE") or PLACES[0], *PLACES]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("BREACH connected to", path)
        held = False
    except OSError:
        pass
if held:
    print("held")
