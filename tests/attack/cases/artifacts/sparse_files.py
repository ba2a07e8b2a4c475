# Must do no harm: sixty sparse files, each as large as all together may be.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: it is not the layers that bound how many bytes come back
# levels: 3 2 1
# limits: files_bytes=20M
# result: sum(file["bytes"] for file in result.files) <= 20 << 20 and result.warnings
import os

for name in range(60):
    os.close(os.open(str(name), os.O_CREAT | os.O_WRONLY))
    os.truncate(str(name), 20 << 20)
