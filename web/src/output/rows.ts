// SPDX-License-Identifier: Apache-2.0
// Rows of tables: from the daemon, which sorts and filters all of them, or from the beginning of a table that a result has.
import type { TableRows } from "../../../clients/typescript/src/api.js";
import type { RowsPage } from "../../../clients/typescript/src/sessions.js";
import { ask, pathOf, queryOf } from "../app/api.js";

export type RowQuery = RowsPage & { offset: number; limit: number };

/** Some rows of a table, and how many there are. */
export type Rows = Omit<TableRows, "columns_left_out"> & Partial<TableRows>;

export type RowSource = (query: RowQuery) => Promise<Rows>;

/** The rows of table NUMBER that the run stored. */
export function storedRows(runId: string, number: number): RowSource {
  return (query) => ask<Rows>("GET", pathOf("v1", "runs", runId, "tables", number, "rows"), { query: queryOf(query), endless: true });
}

/** The rows of a variable of the session. */
export function variableRows(sessionId: string, name: string): RowSource {
  return (query) => ask<Rows>("GET", pathOf("v1", "sessions", sessionId, "rows"), { query: queryOf({ ...query, name }), endless: true });
}

/** A table as application/vnd.adder.table+json describes it. */
export interface TableData {
  kind: string;
  shape: number[];
  index: Array<{ name: string | null; dtype: string }>;
  columns: Array<{ name: unknown; dtype: string; nulls?: number; min?: unknown; max?: unknown; mean?: unknown; unique?: number }>;
  head: unknown[][];
  head_index: unknown[];
  columns_left_out: number;
}

/** The rows that the description of a table has: the first twenty. */
export function headRows(table: TableData): RowSource {
  const columns = table.columns.map((column) => ({ name: String(column.name), type: column.dtype }));
  return rowsHere(
    columns,
    table.head.map((values, at) => ({ values: Array.isArray(values) ? values : [values], index: table.head_index[at] ?? at })),
  );
}

/** Rows that are all in this page. */
export function rowsHere(columns: Rows["columns"], all: Array<{ values: unknown[]; index: unknown }>): RowSource {
  return async ({ offset, limit, sort, descending, filter }) => {
    const matching = filter ? all.filter(({ values }) => contains(values, filter.toLowerCase())) : [...all];
    const column = columns.findIndex(({ name }) => name === sort);
    if (column >= 0) matching.sort((a, b) => compared(a.values[column], b.values[column]) * (descending ? -1 : 1));
    const part = matching.slice(offset, offset + limit);
    return { columns, rows: part.map(({ values }) => values), index: part.map(({ index }) => index), total: all.length, matching: matching.length, offset };
  };
}

function contains(values: unknown[], text: string): boolean {
  return values.some((value) => String(value).toLowerCase().includes(text));
}

/** Missing values come last in ascending order. */
function compared(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
}
