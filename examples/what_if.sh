#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One table is read once; then three questions are asked of it, each in a branch of the session that read it. What one
# branch does to its table, the others and the session do not see.
#
# ADDER is the program, adder otherwise; DATA the table, examples/data/birdstrikes.csv otherwise.
# shellcheck disable=SC2016 # dollars in single quotes are Python's
set -eu
adder=${ADDER:-adder}
data=${DATA:-examples/data/birdstrikes.csv}

session=$("$adder" session new --env science --file "$data:strikes.csv")
branches=
# shellcheck disable=SC2086 # ids
trap '"$adder" session rm "$session" $branches' EXIT

cell() { "$adder" run --session "$@"; }

cell "$session" -c '
import pandas as pd
strikes = pd.read_csv("strikes.csv", na_values=[""], keep_default_na=False)
cost = "Cost Total $"
print(f"{len(strikes):,} rows cost ${strikes[cost].sum():,}")'

branches=$("$adder" session branch "$session" -n 3)
# shellcheck disable=SC2086 # ids, one for each question
set -- $branches

cell "$1" -c '
strikes = strikes[~strikes["Wildlife Species"].str.startswith("Unknown")]
print(f"of them, of a known species: {len(strikes):,} rows, ${strikes[cost].sum():,}")'
cell "$2" -c '
strikes = strikes.drop_duplicates()
print(f"each row counted once: {len(strikes):,} rows, ${strikes[cost].sum():,}")'
cell "$3" -c '
strikes = strikes.nlargest(10, cost)
print(f"the ten dearest alone: ${strikes[cost].sum():,}")'

cell "$session" -c 'print(f"and the session has all {len(strikes):,} still")'
