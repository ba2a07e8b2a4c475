// SPDX-License-Identifier: Apache-2.0
// A chart of an answer that is a small table: one column of names or times, and columns of numbers.
import type { ChartData } from "../output/outputs.js";
import type { ResultTable } from "./types.js";

const MOST_ROWS = 50;
const MOST_SERIES = 6;

const isNumber = (cell: unknown) => typeof cell === "number" || cell === null;
const isTime = (cell: unknown) => typeof cell === "string" && /^\d{4}(-\d{2}|Q[1-4]|$)/.test(cell);

/** The chart, if the whole table is here and says something as one. */
export function resultChart(table: ResultTable): ChartData | undefined {
  const { columns, rows } = table;
  if (table.hidden_rows > 0 || rows.length < 2 || rows.length > MOST_ROWS || columns.length < 2) return undefined;
  const cells = columns.map((_, at) => rows.map((row) => row[at]));
  const numeric = cells.map((column) => column.every(isNumber) && column.some((cell) => cell !== null));
  const names = numeric[0] ? 0 : numeric.indexOf(false);
  const shown = columns.map((_, at) => at).filter((at) => at !== names && numeric[at]);
  const first = cells[names];
  if (!first || shown.length === 0 || shown.length > MOST_SERIES || new Set(first).size !== first.length) return undefined;
  const labels = first.map((cell) => String(cell));
  const overTime = first.every(isTime) || (numeric[names] === true && rows.length > 12);
  const series = shown.map((at) =>
    overTime
      ? { label: columns[at]?.name ?? null, x: labels, y: cells[at] ?? [] }
      : { label: columns[at]?.name ?? null, categories: labels, values: cells[at] ?? [], orientation: "vertical" },
  );
  return {
    kind: overTime ? "line" : "bar",
    title: null,
    x_label: columns[names]?.name ?? null,
    y_label: shown.length === 1 ? (columns[shown[0] ?? 0]?.name ?? null) : null,
    x_ticks: null,
    series,
  };
}
