# SPDX-License-Identifier: Apache-2.0
"""A tool for `adder agent`: its arguments come on standard input, its reply goes to standard output, and another exit code
than 0 is an error whose reason stands on standard error."""
import json
import sys

if json.load(sys.stdin)["value"] != "aQue9ScN":
    sys.exit("this is not the secret reversed")
print("accepted")
