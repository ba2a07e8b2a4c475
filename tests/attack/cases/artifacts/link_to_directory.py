# Must do no harm: a link to a directory of the host, left where the daemon looks for results.
# SPDX-License-Identifier: Apache-2.0
# stopped by: links
# levels: 3 2 1
# result: result.files == []
import os

os.symlink(os.path.dirname(os.environ["BAIT_FILE"]), "directory")
