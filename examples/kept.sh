#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A table is put in once. A run gets it by its id, shows a summary and draws a picture; both are kept, and had again by
# name and number, long after the run. At the end the record says what ran, and that nothing of it was changed since.
#
# ADDER is the program, adder otherwise; DATA the table, examples/data/birdstrikes.csv otherwise; OUT a folder for what
# is had again, a new one below /tmp otherwise.
set -eu
adder=${ADDER:-adder}
data=${DATA:-examples/data/birdstrikes.csv}
out=${OUT:-$(mktemp -d)}

# field NAME: the value of a member of the JSON object on standard input.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

file=$("$adder" file put --json "$data" | field file_id)
echo "put in: $file"

run=$("$adder" run --env science --file "@$file=strikes.csv" --tables csv --json -c '
import matplotlib.pyplot as plt
import pandas as pd
strikes = pd.read_csv("strikes.csv", na_values=[""], keep_default_na=False)
by_size = strikes.groupby("Wildlife Size")["Cost Total $"].agg(["count", "sum"])
by_size["sum"].plot.bar()
plt.savefig("cost.png")
display(by_size)
strikes.nlargest(100, "Cost Total $")' | sed -n 's/.*"run_id":"\([^"]*\)","outcome":"ok".*/\1/p')
echo "run: $run"

echo
"$adder" history table "$run"
"$adder" history table "$run" --table 2 --format json --out "$out/dearest.json"
picture=$("$adder" file list --run "$run" --name cost.png --json | field file_id)
"$adder" file get "$picture" --out "$out/cost.png"

echo
"$adder" history show "$run" | head -n 12
"$adder" history verify
