# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a tier: python3 -I scripts/testing TIER, from the top of a checkout that is built.

Prints a line as each stage ends and "N passed, N failed, N skipped" at the end; fails when something failed. Below
build/test-results: each stage's log and results, stages.tsv (what each cost), slowest.tsv (the slowest tests),
failed and skipped.

A test that fails and then passes when it is run again, by itself, has failed all the same, unless tests/flaky lists it.
"""
import run

run.main()
