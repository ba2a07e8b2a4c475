// SPDX-License-Identifier: Apache-2.0
// The rows of an answer that is a table: the reply has the first of them, and the daemon all.
import { rowsHere, type RowQuery, type RowSource, storedRows } from "../output/rows.js";
import type { Reply, ResultTable } from "./types.js";

/** Where all rows are: the run, and the number of the table that it stored. */
interface StoredTable {
  runId: string;
  number: number;
}

/** undefined: the reply's rows are all that there is to see. */
export function storedTable({ table, table_file: file, run_id: runId }: Reply): StoredTable | undefined {
  const number = /\btable-(\d+)\b/.exec(file?.name ?? "")?.[1];
  const isWhole = table?.hidden_rows === 0 && table.hidden_columns === 0;
  return runId && file?.file_id && number && !isWhole ? { runId, number: Number(number) } : undefined;
}

/** The first page is the reply's, so that a conversation with many answers asks the daemon for none of them. */
export function resultRows(table: ResultTable, stored: StoredTable | undefined): RowSource {
  const columns = table.columns.map(({ name, dtype }) => ({ name, type: dtype }));
  const here = rowsHere(
    columns,
    table.rows.map((values, index) => ({ values, index })),
  );
  if (!stored) return here;
  const all = storedRows(stored.runId, stored.number);
  const total = table.rows.length + table.hidden_rows;
  const isHere = ({ offset, limit, sort, filter }: RowQuery) => offset === 0 && limit <= table.rows.length && !sort && !filter;
  return async (query) => {
    if (isHere(query)) return { ...(await here(query)), total, matching: total, columns_left_out: table.hidden_columns };
    const page = await all(query);
    return { ...page, columns: page.columns.map(({ name, type }, at) => ({ name, type: columns[at]?.type ?? type })) };
  };
}
