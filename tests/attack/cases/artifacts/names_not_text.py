# Must do no harm: file names with line breaks, escapes, text that turns around, and bytes that are no text at all.
# SPDX-License-Identifier: Apache-2.0
# stopped by: cleanup
# cannot succeed: names are cleaned, which no switch leaves out
# levels: 3 2 1
# result: len(result.files) == 9 and not any(c < " " or c == "\x7f" for file in result.files for c in file["name"])
NAMES = (b"a\nb", b"\x1b[31mred", b"a\\b", b" ", b"-rf", b"...", b"\xe2\x80\xaegnp.exe", b"\xff\xfe", b"\x7f\x01\t")
for name in NAMES:
    with open(name, "w") as file:
        file.write("mine")
