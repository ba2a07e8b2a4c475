# SPDX-License-Identifier: Apache-2.0
import os, tempfile, time

paths = [os.path.join(directory, os.environ["ATTACK_TOKEN"]) for directory in (".", tempfile.gettempdir())]
for path in paths:
    with open(path, "w") as file:
        file.write("mine")
print("ready", flush=True)
while True:
    time.sleep(0.05)
    print("well" if all(open(path).read() == "mine" for path in paths) else "BREACH: it was changed", flush=True)
