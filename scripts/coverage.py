# SPDX-License-Identifier: Apache-2.0
"""What was covered, by module: the table of scripts/coverage.

    python3 coverage.py LCOV-FILE UNCOVERED

LCOV-FILE is what `llvm-cov export -format=lcov` wrote. A module is a folder of src/; those of
engine/, interfaces/ and apps/ are modules of their own. To the file UNCOVERED goes what was not reached: functions, the largest first, then lines and branches of each
file.
"""
import collections
import sys


class File:
    def __init__(self, path):
        self.path = path
        self.lines, self.functions = {}, {}  # number: times reached; number of the first line: [name, times reached]
        self.branches = collections.Counter()  # number of the line: branches that were never taken
        self.branch_counts = [0, 0]  # all, taken

    @property
    def module(self):
        folders = self.path.split("/")[1:-1]
        return "/".join(folders[: 2 if folders[:1] in (["engine"], ["interfaces"], ["apps"]) else 1]) or "main"

    def missed(self, first=0, end=sys.maxsize):
        return [line for line, count in sorted(self.lines.items()) if first <= line < end and not count]


def read(path):
    """The files below src/. A static function of a header is there once for each file that includes it."""
    files, names = [], {}
    with open(path, encoding="utf-8") as text:
        for row in text:
            key, _, rest = row.rstrip("\n").partition(":")
            values = rest.split(",")
            if key == "SF":
                before, found, inside = rest.rpartition("/src/")
                file, names = File("src/" + inside if found else rest), {}
                if found:
                    files.append(file)
            elif key == "FN":
                names[values[1]] = int(values[0])
            elif key == "FNDA":
                name, start = values[1].rpartition(":")[2], names[values[1]]
                file.functions[start] = [name, file.functions.get(start, [name, 0])[1] + int(values[0])]
            elif key == "DA":
                file.lines[int(values[0])] = int(values[1])
            elif key == "BRDA":
                taken = values[3] not in ("-", "0")
                file.branch_counts[0] += 1
                file.branch_counts[1] += taken
                if not taken:
                    file.branches[int(values[0])] += 1
    return files


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def row(title, files):
    lines = [count for file in files for count in file.lines.values()]
    branches, taken = (sum(file.branch_counts[i] for file in files) for i in range(2))
    reached = sum(map(bool, lines))
    return f"{title:24}{len(lines):>8}{percent(reached, len(lines)):>8}{branches:>10}{percent(taken, branches):>8}"


def print_table(files):
    modules = collections.defaultdict(list)
    for file in files:
        modules[file.module].append(file)
    print(f"{'module':24}{'lines':>8}{'%':>8}{'branches':>10}{'%':>8}")
    for module, of_module in sorted(modules.items()):
        print(row("src/" + module, of_module))
    print(row("all", files))


def ranges(numbers):
    """As people write them: 3 to 5, 9."""
    spans = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def unreached_functions(file):
    starts = sorted(file.functions) + [sys.maxsize]
    for start, end in zip(starts, starts[1:]):
        name, count = file.functions[start]
        if not count:
            yield len(file.missed(start, end)), f"{file.path}:{start}", name


def write_uncovered(files, path):
    with open(path, "w", encoding="utf-8") as out:
        print("Functions that were never reached: lines, place, name\n", file=out)
        for size, place, name in sorted((function for file in files for function in unreached_functions(file)), key=lambda f: (-f[0], f)):
            print(f"{size:6}  {place}  {name}", file=out)
        for file in sorted(files, key=lambda file: file.path):
            if file.missed() or file.branches:
                print(f"\n{file.path}: {len(file.missed())} of {len(file.lines)} lines, {sum(file.branches.values())} of {file.branch_counts[0]} branches", file=out)
                print(f"  lines: {ranges(file.missed()) or 'all reached'}", file=out)
                reached = sorted(line for line in file.branches if file.lines.get(line))
                print(f"  branches in lines that were reached: {ranges(reached) or 'all taken'}", file=out)


if __name__ == "__main__":
    found = read(sys.argv[1])
    print_table(found)
    write_uncovered(found, sys.argv[2])
