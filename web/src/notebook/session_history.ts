// SPDX-License-Identifier: Apache-2.0
// Cells that ran in the session but are not in the notebook: those of agents, and of other windows.
import type { HistoryCell } from "adder-client";
import { Cell } from "./cell.js";
import type { Notebook } from "./notebook.js";
import type { Runner } from "./runner.js";

// What the page, and the client, run to place, list and read files.
const HELPER = /^\s*$|^\s*def _adder_(?:list|read)\(/;

/**
 * Adds what is new to NOTEBOOK, before a last cell that has not run yet. false: a cell of the page began meanwhile. It may be in the answer
 * before the page knows its number, so nothing was added.
 */
export async function takeHistory(notebook: Notebook, runner: Runner): Promise<boolean> {
  const begun = runner.begun;
  const { cells } = await notebook.session().history({ results: true });
  if (runner.begun !== begun) return false;
  const fresh = cells.filter(({ cell }) => !notebook.seen.has(cell));
  if (fresh.length === 0) return true;
  for (const { cell } of fresh) notebook.seen.add(cell);
  const before = notebook.cells.peek();
  const shown = new Set(before.map((cell) => cell.run.peek()?.run_id));
  const added = fresh.filter(({ code, result }) => !HELPER.test(code) && !(result && shown.has(result.run_id))).map(cellOf);
  const last = before.at(-1);
  const isOpen = last?.type.peek() === "code" && last.run.peek() === null && last.outputs.peek().length === 0;
  notebook.cells.value = isOpen ? [...before.slice(0, -1), ...added, last] : [...before, ...added];
  notebook.changed();
  return true;
}

function cellOf({ cell: number, code, outcome, wall_ms, result }: HistoryCell): Cell {
  const cell = new Cell("code", code.replace(/\n$/, ""));
  if (result) cell.finish(result);
  else cell.run.value = { ...noNotes, outcome, wall_ms };
  cell.count.value = number;
  return cell;
}

const noNotes = {
  run_id: "",
  files: [],
  warnings: [],
  denials: [],
  violations: [],
  truncated: false,
  result_id: null,
  stdout_bytes: 0,
  stderr_bytes: 0,
  approval_id: null,
};
