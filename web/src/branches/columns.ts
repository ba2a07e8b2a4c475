// SPDX-License-Identifier: Apache-2.0
// The columns of a tree: one for each cell number. Where a tree is long, stretches in which nothing begins or ends are folded.
import type { Lane } from "./model.js";

export interface Fold {
  /** The first and the last cell of it. */
  from: number;
  to: number;
}

export interface Columns {
  first: number;
  /** Pixels of one column. */
  width: number;
  folds: Fold[];
  x: (cell: number) => number;
}

export const PAD = 26;
const MIN_COLUMN = 28;
const MAX_COLUMN = 132;
const ROOMY_COLUMN = 44;
const MIN_FOLD = 8;
const FOLD_COLUMNS = 2;

/** OPENED has the first cells of folds that the reader opened. WIDTH is what the view has. */
export function columnsOf(lanes: Lane[], width: number, opened: ReadonlySet<number>): Columns {
  const root = lanes[0];
  const first = (root?.cells[0]?.cell ?? (root?.start ?? 0) + 1) - 1;
  const last = Math.max(first + 1, ...lanes.map(endColumn));
  const roomy = (width - 2 * PAD) / (last - first) >= ROOMY_COLUMN;
  const folds = roomy ? [] : foldsOf(lanes, first, last).filter((fold) => !opened.has(fold.from));
  const position = (cell: number) => cell - first - folds.reduce((sum, fold) => sum + hidden(fold, cell), 0);
  const column = Math.max(MIN_COLUMN, Math.min(MAX_COLUMN, (width - 2 * PAD) / position(last)));
  return { first, width: column, folds, x: (cell) => PAD + position(cell) * column };
}

export function lastCell(lane: Lane): number {
  return lane.cells.at(-1)?.cell ?? lane.start;
}

/** The end of a lane is one column after its last cell, then come checkpoints that were rolled back. */
function endColumn(lane: Lane): number {
  return lastCell(lane) + 1 + lane.lost.length * 0.7;
}

/** How many columns FOLD saves to the left of CELL. One that is in it stands in its middle. */
function hidden({ from, to }: Fold, cell: number): number {
  if (cell < from) return 0;
  if (cell > to) return to - from + 1 - FOLD_COLUMNS;
  return cell - from + 1 - (FOLD_COLUMNS + 1) / 2;
}

function foldsOf(lanes: Lane[], first: number, last: number): Fold[] {
  const kept = keptColumns(lanes, first);
  const folds: Fold[] = [];
  let from = first + 1;
  for (let cell = first + 1; cell <= last + 1; cell++) {
    if (cell <= last && !kept.has(cell)) continue;
    if (cell - from >= MIN_FOLD) folds.push({ from, to: cell - 1 });
    from = cell + 1;
  }
  return folds;
}

/** Columns at which something begins, ends or was kept, with a neighbour. */
function keptColumns(lanes: Lane[], first: number): Set<number> {
  const kept = new Set([first + 1, first + 2]);
  for (const lane of lanes) {
    const last = lastCell(lane);
    for (const cell of [lane.start, lane.start + 1, last - 1, last, last + 1]) kept.add(cell);
    for (const mark of lane.marks) kept.add(mark.cell).add(mark.cell + 1);
  }
  return kept;
}
