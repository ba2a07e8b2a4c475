// SPDX-License-Identifier: Apache-2.0
// The example for newcomers: real sessions, made through the API, in which two ways of filling gaps are tried from one checkpoint.
import { ask, pathOf } from "../app/api.js";
import type { Mark, SessionRow } from "./model.js";

const LOAD = `# Sales of 60 days
import pandas as pd

days = pd.date_range("2026-01-01", periods=60, freq="D")
wave = [round(20 + 6 * ((day % 14) / 7 - 1) ** 2 + day / 10, 1) for day in range(60)]
sales = pd.DataFrame({"day": days, "shop": ["north", "south", "west"] * 20, "units": wave})
sales.loc[sales.index % 7 == 3, "units"] = None  # some days were not reported
sales.head(8)`;

const GAPS = `# Count the gaps
missing = int(sales["units"].isna().sum())
print(f"{missing} of {len(sales)} days have no number")`;

const SUMMARY = `# Units of each shop
sales.groupby("shop")["units"].agg(["count", "mean", "sum"]).round(1)`;

function chart(title: string): string {
  return `# Chart
import matplotlib.pyplot as plt

plt.figure(figsize=(6, 2.6))
plt.plot(sales.index, sales["units"], marker=".")
plt.title("${title}")
plt.xlabel("day")
plt.ylabel("units")
plt.tight_layout()
plt.show()`;
}

function filled(title: string, call: string): string {
  return `# ${title}\nsales["units"] = sales["units"].${call}\ntotal = round(sales["units"].sum())`;
}

interface Way {
  name: string;
  cells: string[];
}

const WAYS: Way[] = [
  {
    name: "zero",
    cells: [filled("Gaps count as zero", "fillna(0)"), SUMMARY, chart("Days without a number count as 0")],
  },
  {
    name: "interpolate",
    cells: [filled("Fill gaps by interpolation", "interpolate().round(1)"), SUMMARY, chart("Gaps are interpolated")],
  },
];

/** What is made, step by step, for a reader who waits. */
export type Step = (text: string) => void;

function call<T>(session: string | undefined, rest: string[], body: object): Promise<T> {
  const path = session ? pathOf("v1", "sessions", session, ...rest) : "/v1/sessions";
  return ask<T>("POST", path, { body, endless: true });
}

async function runAll(session: string, cells: string[]): Promise<void> {
  for (const code of cells) await call(session, ["cells"], { code });
}

/** Makes the example. The value is its first session. */
export async function createExample(step: Step): Promise<SessionRow> {
  const suffix = Math.random().toString(36).slice(2, 6);
  step("Starting an interpreter");
  const root = await call<SessionRow>(undefined, [], { name: `example-${suffix}` });
  step("Loading data");
  await runAll(root.session_id, [LOAD, GAPS]);
  step("Making a checkpoint");
  const mark = await call<Mark>(root.session_id, ["checkpoints"], { name: "with-gaps" });
  step("Branching twice");
  const { sessions } = await call<{ sessions: SessionRow[] }>(root.session_id, ["branches"], { count: WAYS.length, checkpoint: mark.checkpoint_id });
  for (const [index, way] of WAYS.entries()) {
    const branch = sessions[index] as SessionRow;
    step(`Trying “${way.name}”`);
    await call(branch.session_id, ["rename"], { name: `${way.name}-${suffix}` });
    await runAll(branch.session_id, way.cells);
  }
  return root;
}
