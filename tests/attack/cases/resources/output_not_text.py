# Must do no harm: output that is no UTF-8, with NUL, lone surrogates, terminal escapes and text that turns around.
# SPDX-License-Identifier: Apache-2.0
# stopped by: output
# cannot succeed: it breaks nothing that a layer holds; the reply must stay one line of JSON
# levels: 3 2 1
# result: result.stdout_bytes == 35 and "\ufffd" in result.stdout
import os

os.write(1, b"\xff\xfe\xc0\x80\xed\xa0\x80\x00\x1b[2J\x1b]0;x\x07\xe2\x80\xae\r\x08\xf4\x90\x80\x80\xe2\x82\n\x85\x9b31m")
