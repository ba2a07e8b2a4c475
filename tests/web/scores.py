# SPDX-License-Identifier: Apache-2.0
"""Prints the scores that Lighthouse gives each view of a daemon, to somebody who is signed in: scripts/web-lighthouse [VIEW...]

Ends with 1 unless accessibility and best practices have 100 and performance at least 95. What cost points is printed too."""
import sys

import place  # first: the others are found by it
import lighthouse
import world

LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100}
VIEWS = "notebook branches approvals runs daemon tools tokens ask chat".split()


def main(views):
    if any(view.startswith("-") for view in views):
        sys.exit(__doc__)
    low = []
    with place.served() as daemon:
        world.make(daemon.adder)
        print("view".ljust(12), *(name.rjust(15) for name in LEAST), flush=True)
        for view in views or VIEWS:
            report = lighthouse.report(f"http://127.0.0.1:{daemon.port}/#/{view}", daemon.secret)
            reached = lighthouse.scores(report)
            print(view.ljust(12), *(str(reached[name]).rjust(15) for name in LEAST), flush=True)
            for name, least in LEAST.items():
                if reached[name] < least:
                    low += [f"{view}, {name}: {line}" for line in lighthouse.faults(report, name)] or [f"{view}, {name}"]
    print("\n".join(low))
    sys.exit(bool(low))


main(sys.argv[1:])
