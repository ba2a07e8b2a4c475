// SPDX-License-Identifier: Apache-2.0
// A DataFrame or Series that code displayed: the whole table if the run stored it, otherwise its first rows.
import { useMemo } from "preact/hooks";
import { numberText, shapeText } from "../parts/format.js";
import { headRows, storedRows, type TableData } from "./rows.js";
import { TableGrid } from "./table_grid.js";

interface TableViewProps {
  data: TableData;
  runId?: string | undefined;
  /** Its number among the stored tables of the run. */
  table?: number | undefined;
}

export function TableView({ data, runId, table }: TableViewProps) {
  const whole = runId !== undefined && table !== undefined;
  const source = useMemo(() => (whole ? storedRows(runId, table) : headRows(data)), [data, runId, table]);
  const [rows = 0, columns = 1] = data.shape;
  const cut = !whole && rows > data.head.length ? `, first ${numberText(data.head.length)} rows` : "";
  const title = `${data.kind === "series" ? "Series" : "DataFrame"}, ${shapeText([rows, columns])}${cut}`;
  return <TableGrid source={source} label={title} title={title} pageRows={whole ? 50 : 20} />;
}

/** Whether VALUE describes a table as docs/results.md has it. */
export function isTable(value: unknown): value is TableData {
  const data = value as Partial<TableData> | null;
  return typeof data === "object" && data !== null && Array.isArray(data.shape) && Array.isArray(data.columns) && Array.isArray(data.head) && Array.isArray(data.head_index);
}
