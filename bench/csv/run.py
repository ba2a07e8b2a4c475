#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares readers of CSV files: README.md."""

import argparse
import collections
import json
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import damage  # noqa: E402
import pollock  # noqa: E402
import readers  # noqa: E402
from damage import RIGHT, SAID, SILENT, outcome, squeezed  # noqa: E402


LARGEST = 1 << 18  # bytes of a file that all readers get: CleverCSV takes minutes for a large one


def arguments(words):
    parser = argparse.ArgumentParser(description="Compares how CSV files are read.")
    parser.add_argument("what", choices=("damage", "pollock", "spectrum", "agree"))
    parser.add_argument("place", nargs="?", type=pathlib.Path, help="the folder of the files, which the project does not hold")
    parser.add_argument("--reader", action="append", choices=readers.READERS, help="this one alone; may be repeated")
    parser.add_argument("--seed", type=int, default=1, help="of the damaged tables (1)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of Pollock's files that differ in one row, each Nth stands for N")
    parser.add_argument("--only", default="", metavar="WORD", help="files whose names have it")
    parser.add_argument("--verbose", action="store_true", help="say what became of each file")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the scores of each file there")
    given = parser.parse_args(words)
    if given.what != "damage" and not given.place:
        parser.error(f"{given.what} needs the folder of the files")
    given.reader = given.reader or list(readers.READERS)
    return given


def main(words):
    given = arguments(words)
    return {"damage": on_damage, "pollock": on_pollock, "spectrum": on_spectrum, "agree": on_agreement}[given.what](given)


# ---- generated tables ----


def on_damage(given):
    """Prints how many of the generated tables are read right, otherwise with a word of it, and otherwise silently."""
    said_of_none = {}
    counts = {name: collections.Counter() for name in given.reader}
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "table.csv"
        for what, case in damage.all_cases(given.seed):
            if given.only not in what:
                continue
            path.write_bytes(case.data)
            for name in given.reader:
                read = readers.READERS[name](path)
                came = outcome(read, case, said_of_none.get(name, ()))
                counts[name][came] += 1
                if given.verbose:
                    print(f"{name}: {what}: {came}{'' if came == RIGHT else ': ' + (read.refused or '; '.join(read.said))[:300]}")
    print(f"{'reader':16} right  said  silent")
    for name, count in counts.items():
        print(f"{name:16} {count[RIGHT]:5} {count[SAID]:5} {count[SILENT]:7}")
    return 0 if not counts.get("adder", {}).get(SILENT) else 1


# ---- Pollock ----


def on_pollock(given):
    """Prints the scores of the benchmark whose checkout is at PLACE."""
    bench = pollock.Benchmark(given.place, given.every)
    kept = {}
    for name in given.reader:
        began, scores = time.monotonic(), {}
        for path in bench.files(given.only):
            scores[path.name] = bench.score(path, readers.READERS[name](path))
            if given.verbose and sum(scores[path.name]) < 9.99:
                print(name, path.name, [round(each, 3) for each in scores[path.name]])
        kept[name] = scores
        simple, weighted = bench.simple(scores), bench.weighted(scores)
        print(f"{name:16} simple {simple:.3f}  weighted {weighted:.3f}  {len(scores)} files in {time.monotonic() - began:.0f} s", flush=True)
    if given.json:
        given.json.write_text(json.dumps(kept))
    return 0


# ---- csv-spectrum ----


def on_spectrum(given):
    """Prints how many of csv-spectrum's files each reads as its JSON says."""
    for name in given.reader:
        right = []
        for path in sorted(given.place.glob("csvs/*.csv")):
            wanted = json.loads((given.place / "json" / f"{path.stem}.json").read_text())
            read = readers.READERS[name](path)
            found = [dict(zip(read.names, row)) for row in read.rows]
            right.append(not read.refused and [as_lines(row) for row in found] == [as_lines(row) for row in wanted])
            if given.verbose and not right[-1]:
                print(name, path.name, read.refused or found)
        print(f"{name:16} {sum(right)} of {len(right)}")
    return 0


def as_lines(row):
    return {name: value.replace("\r\n", "\n") for name, value in row.items()}


# ---- files that nobody has read by hand ----


def on_agreement(given):
    """Prints how many files each refuses, and how many it reads as most of the others do."""
    refused, agreed, alone, times = (collections.Counter() for _ in range(4))
    files = sorted(path for path in given.place.rglob("*") if path.suffix.lower() in (".csv", ".tsv") and given.only in path.name and path.is_file())
    files = [path for path in files if path.stat().st_size <= LARGEST]
    for path in files:
        read = {}
        for name in given.reader:
            began = time.monotonic()
            try:
                read[name] = readers.READERS[name](path)
            except Exception as error:
                read[name] = readers.Table(refused=f"{type(error).__name__}: {error}")
            times[name] += time.monotonic() - began
        keys = {name: json.dumps(squeezed([table.names, *table.rows])) for name, table in read.items() if not table.refused}
        most = collections.Counter(keys.values()).most_common(1)
        common = most[0][0] if most and most[0][1] * 2 > len(given.reader) else None
        for name, table in read.items():
            refused[name] += bool(table.refused)
            agreed[name] += common is not None and keys.get(name) == common
            alone[name] += common is not None and name in keys and keys[name] != common
            if given.verbose and name == "adder" and keys.get(name) != common:
                print(path.relative_to(given.place), table.refused or ("otherwise than most" if common else "all differ"), table.said)
    print(f"{len(files)} files\n{'reader':16} refused  as most  otherwise  seconds")
    for name in given.reader:
        print(f"{name:16} {refused[name]:7} {agreed[name]:8} {alone[name]:10} {times[name]:8.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
