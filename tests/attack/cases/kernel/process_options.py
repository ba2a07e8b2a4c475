# Must be refused: prctl options that make a process open to others, adopt orphans, or change what it is.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
import attempt

OPTIONS = {
    "PR_SET_DUMPABLE": (4, 1),
    "PR_SET_PTRACER": (0x59616D61, -1),
    "PR_SET_MM": (35, 15, 0),
    "PR_SET_CHILD_SUBREAPER": (36, 1),
    "PR_SET_SECCOMP": (22, 1),
    "PR_SET_MCE_KILL": (33, 1, 1),
    "PR_SET_UNALIGN": (6, 1),
    "PR_SPECULATION": (53, 0, 2),
    "PR_SCHED_CORE": (62, 1, 0, 1),
}
attempt.all_refused(
    {
        name: lambda numbers=numbers: attempt.call("prctl", *numbers, *[0] * (5 - len(numbers)))
        for name, numbers in OPTIONS.items()
    }
)
