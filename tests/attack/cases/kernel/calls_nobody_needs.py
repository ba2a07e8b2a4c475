# Must be refused: system calls that are new, old or of no use to Python, and one that does not exist yet.
# SPDX-License-Identifier: Apache-2.0
# stopped by: seccomp
# files: attempt.py
# cannot succeed in a container: the engine's own filter refuses some of it
import attempt

NUMBERS = {
    "listmount": (458, 458),
    "statmount": (457, 457),
    "landlock_create_ruleset": (444, 444),
    "adjtimex": (159, 171),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "sysfs": (139, None),
    "uselib": (134, None),
    "ioperm": (173, None),
    "a number of tomorrow": (900, 900),
}
attempts = {}
for name, numbers in NUMBERS.items():
    if numbers[attempt.COLUMN] is not None:
        attempts[name] = lambda number=numbers[attempt.COLUMN]: attempt.raw(number, 0, 0, 0, 0)
attempt.all_refused(attempts)
