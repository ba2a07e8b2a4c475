# Must be refused: changing the host name and the domain name, which other sandboxes would see.
# SPDX-License-Identifier: Apache-2.0
# stopped by: nest + capabilities + seccomp
# stopped by at 1: seccomp
# files: attempt.py
# cannot succeed at 1: the sandbox's user has no such right on the host
import attempt

attempt.all_refused(
    {
        "host name": lambda: attempt.call("sethostname", b"adder", 5),
        "domain name": lambda: attempt.call("setdomainname", b"adder", 5),
    }
)
