# Must do no harm: another program, started in the background by a shell that ends.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# levels: 3 2
# result: result.outcome == "ok"
import os, shutil, subprocess

shutil.copy(os.path.realpath("/bin/sleep"), os.environ["ATTACK_TOKEN"][:15])
subprocess.run(["sh", "-c", 'nohup setsid "./$0" 60 </dev/null >/dev/null 2>&1 &', os.environ["ATTACK_TOKEN"][:15]])
