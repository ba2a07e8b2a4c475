# Must do no harm: the streams and the socket put in each other's places.
# SPDX-License-Identifier: Apache-2.0
# stopped by: frames
# cannot succeed: each leads to its own peer only
# levels: 3 2 1
# result: result.outcome != "failed"
import os

saved = os.dup(3)
os.dup2(1, 3)
os.dup2(saved, 1)
os.dup2(saved, 2)
print("this goes where frames are read", flush=True)
