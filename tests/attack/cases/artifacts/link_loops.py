# Must do no harm: links that go round in circles, and a directory that is reached by a thousand of them.
# SPDX-License-Identifier: Apache-2.0
# stopped by: links
# cannot succeed: the kernel follows no more than forty links
# levels: 3 2 1
# result: result.files == [] and result.warnings
import os

os.symlink("self", "self")
os.symlink("two", "one")
os.symlink("one", "two")
os.mkdir("directory")
for number in range(1000):
    os.symlink("..", f"directory/{number}")
