# SPDX-License-Identifier: Apache-2.0
"""The benchmark Pollock (Vitagliano et al., VLDB 2023), scored by its own measures, which are loaded from a checkout of it: it
has no licence, so nothing of it is part of the project."""

import csv
import functools
import importlib
import json
import pathlib
import sys
import tempfile


class Benchmark:
    """EVERY: of the many files that differ in one row, only each so manieth is read, and counts for as many."""

    def __init__(self, place, every=1):
        self.place, self.every = place, every
        sys.path.insert(0, str(place))
        hidden = sys.modules.pop("pollock", None)
        try:
            self.measures = importlib.import_module("pollock.metrics")
        finally:
            sys.path.remove(str(place))
            sys.modules["pollock"] = hidden
        # Most cells are those of the one file that all others are made of.
        self.measures.normalize_cell = functools.lru_cache(1 << 18)(self.measures.normalize_cell)
        self.weights = json.loads((place / "pollock_weights.json").read_text())
        self.out = tempfile.TemporaryDirectory()

    def files(self, word=""):
        found = sorted(path for path in (self.place / "polluted_files" / "csv").glob("*csv") if word in path.name)
        rows = [path for path in found if path.name.startswith("row_")]
        return [path for path in found if path not in set(rows) - set(rows[:: self.every])]

    def times(self, name):
        return self.every if name.startswith("row_") else 1

    def score(self, path, read):
        """(success, then precision, recall and F1 of header, records and cells)"""
        if read.refused:
            return [0.0] * 10
        loaded = pathlib.Path(self.out.name) / "loaded.csv"
        with open(loaded, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([*([read.names] if read.names else []), *read.rows])
        clean = self.place / "polluted_files" / "clean" / path.name
        return [1.0, *map(float, self.measures.header_record_cell_measures_csv(str(clean), str(loaded)))]

    def simple(self, scores):
        return sum(sum(score) * self.times(name) for name, score in scores.items()) / sum(map(self.times, scores))

    def weighted(self, scores):
        weights = {name: self.weights.get(name, 0) * self.times(name) for name in scores}
        return sum(sum(score) * weights[name] for name, score in scores.items()) / sum(weights.values())
