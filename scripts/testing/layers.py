# SPDX-License-Identifier: Apache-2.0
"""Checks by their includes that the modules of src/ depend on each other in one order.

    python3 -I layers.py [--counts]

A file includes from its own module and from those before it in MODULES, never from those after it: so modules have no cycles.
Within a module, headers have none either. --counts prints how many includes lead from which module to which."""

import collections
import os
import re
import sys

# From the bottom up: what each module consists of, folders and files below src/. The longest that fits a file is its own.
MODULES = (
    ("base",),
    ("sandbox",),
    ("runner",),
    ("common",),
    ("containers",),
    ("engine/engine_parts.h", "engine/totals.c", "engine/totals.h"),
    ("engine/host",),
    ("engine/files",),
    ("engine/network",),
    ("engine/pool",),
    ("engine/request",),
    ("engine/session",),
    ("engine/run",),
    ("engine",),
    ("store",),
    ("policy",),
    ("cluster",),
    ("library",),
    ("models",),
    ("operations",),
    ("analysis",),
    ("materials",),
    ("tools",),
    ("interfaces/cli/view",),
    ("interfaces/service",),
    ("interfaces/http",),
    ("interfaces/mcp",),
    ("interfaces/remote",),
    ("interfaces/socket",),
    ("interfaces/cli",),
    ("apps/agent",),
    ("apps/ask",),
    ("apps/lines",),
    ("apps/chat",),
    ("apps/repl",),
    ("apps/telegram",),
    ("bench",),
    ("main.c",),
)
# Headers of include/, and the module from which on they may be included; what the public headers themselves may include.
PUBLIC = {"adder.h": "library", "adder_types.h": "common"}
PUBLIC_INCLUDES = {"adder.h": {"adder_types.h"}, "adder_types.h": set()}
LIBC_ALONE = ("base", "sandbox", "runner")
MADE = {"build-config.h"}  # in the build directory
SHARED = "runner/wire.h"  # by both sides of the boundary; all else of runner/ is the sandbox's side

RANKS = {part: rank for rank, parts in enumerate(MODULES) for part in parts}
INCLUDE = re.compile(r'^#include (?:"([^"]+)"|<((?:glib|jansson)[^>]*)>)', re.M)


def sources():
    for folder, folders, files in os.walk("src"):
        folders.sort()
        for file in sorted(files):
            if file.endswith((".c", ".h")):
                yield os.path.join(folder, file)[len("src/") :]


def module(path):
    """The name in RANKS of what PATH belongs to, or None."""
    while path and path not in RANKS:
        path = os.path.dirname(path)
    return path or None


def problem(source, target):
    """What is wrong with SOURCE including TARGET, or None."""
    own = module(source)
    if target == SHARED or target in MADE:
        return None
    needed = PUBLIC.get(target) or (module(target) if os.path.exists(os.path.join("src", target)) else None)
    if not needed:
        return "is no header of the source"
    if RANKS[needed] > RANKS[own]:
        return f"is above {own}"
    if needed == "runner" and own != "runner":
        return "is the sandbox's side of the boundary"
    return None


def cycle(graph):
    """Nodes of GRAPH, each of which leads to the next and the last to the first; or an empty list."""
    done = set()

    def visit(node, way):
        if node in way:
            return way[way.index(node) :]
        if node in done:
            return []
        done.add(node)
        return next(filter(None, (visit(to, way + [node]) for to in graph.get(node, ()))), [])

    return next(filter(None, (visit(node, []) for node in graph)), [])


def main():
    problems, counts, headers = [], collections.Counter(), {}
    for source in sources():
        own = module(source)
        if not own:
            problems.append(f"src/{source}: is in no module of scripts/testing/layers.py")
            continue
        with open(os.path.join("src", source), encoding="utf-8") as file:
            found = INCLUDE.findall(file.read())
        for target, system in found:
            if system and own in LIBC_ALONE:
                problems.append(f"src/{source}: includes <{system}>, but uses libc alone")
            wrong = problem(source, target) if target else None
            if wrong:
                problems.append(f"src/{source}: includes {target}, which {wrong}")
            elif target and module(target):
                counts[own, module(target)] += 1
        if source.endswith(".h"):
            headers[source] = [target for target, _ in found if target and os.path.exists(os.path.join("src", target))]
    for header, allowed in PUBLIC_INCLUDES.items():
        with open(os.path.join("include", header), encoding="utf-8") as file:
            for target, _ in INCLUDE.findall(file.read()):
                if target and target not in allowed:
                    problems.append(f"include/{header}: includes {target}, which is not installed")
    circle = cycle(headers)
    if circle:
        problems.append("headers include each other: " + " -> ".join([*circle, circle[0]]))
    if "--counts" in sys.argv[1:]:
        for (own, other), count in sorted(counts.items(), key=lambda item: [RANKS[name] for name in item[0]]):
            if own != other:
                print(f"{own} -> {other}: {count}")
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


sys.exit(main())
