# Must be refused: gaining a user id by a program that the host's administrator marked so.
# SPDX-License-Identifier: Apache-2.0
# stopped by: readonly
# cannot succeed: every mount is nosuid, and the program's owner has no name in a sandbox
# levels: 3 2
import glob
import os
import stat

marked = []
for path in glob.glob("/usr/*bin/*") + glob.glob("/usr/libexec/*"):
    if os.path.isfile(path) and os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID):
        if not os.statvfs(path).f_flag & os.ST_NOSUID:
            marked.append(path)
print(f"BREACH {marked}" if marked else "held")
