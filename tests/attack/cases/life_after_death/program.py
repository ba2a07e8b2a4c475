# Must do no harm: another program, started in the background by a shell that ends.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2
# result: result.outcome == "ok"
import os, shutil, subprocess, time

name = os.environ["ATTACK_TOKEN"][:15]
shutil.copy(os.path.realpath("/bin/sleep"), name)
said = subprocess.run(["sh", "-c", 'nohup setsid "./$0" 60 </dev/null >/dev/null 2>&1 & echo $!', name], capture_output=True)


def has_executed(pid):
    """Before that it does not go by its name. In a container nobody may look."""
    try:
        return open(f"/proc/{pid}/comm").read() == name + "\n"
    except OSError:
        return True


while not has_executed(int(said.stdout)):
    time.sleep(0.01)
